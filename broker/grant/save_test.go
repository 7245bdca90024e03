package grant

import (
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/identity"
)

// Grants that were saved and loaded let through the same calls, for as long, and no others.
func TestSavedGrantsGoOn(t *testing.T) {
	p := newPlace(t)
	p.git("remote", "add", "theirs", "https://github.com/them/theirs.git")
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	now := func() time.Time { return at }
	s := New(now)
	push := p.call("git/git_push", `{"path":%q,"remote":"origin"}`, p.sandbox)
	file := p.call("filesystem/read_file", `{"path":%q}`, p.outside+"/a.txt")
	first, err := s.Add("s", p.offer(push, Remote), "tui", identity.Client{}, "e", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Add("s", p.offer(file, File), "tui", identity.Client{}, "e", time.Minute); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Use(first.Number, push); err != nil {
		t.Fatal(err)
	}
	data, err := s.Save()
	if err != nil {
		t.Fatal(err)
	}
	next := New(now)
	if err := next.Load(data); err != nil {
		t.Fatal(err)
	}
	if g, ok := next.Match(push); !ok || g != s.List()[0] || g.Used != 1 {
		t.Errorf("%+v, %v", g, ok)
	}
	if _, ok := next.Match(file); !ok {
		t.Error("the file is not let through")
	}
	for _, other := range []Call{
		p.call("git/git_push", `{"path":%q,"remote":"theirs"}`, p.sandbox),
		p.call("git/git_push", `{"path":%q,"remote":"origin","force":true}`, p.sandbox),
		p.call("filesystem/read_file", `{"path":%q}`, p.outside+"/b.txt"),
	} {
		if g, ok := next.Match(other); ok {
			t.Errorf("%s is let through by %+v", other.Arguments, g)
		}
	}
	at = at.Add(2 * time.Minute)
	if _, ok := next.Match(file); ok {
		t.Error("it lasts longer than it said")
	}
	third, err := next.Add("s", p.offer(file, File), "tui", identity.Client{}, "e", 0)
	if err != nil || third.Number != first.Number+2 {
		t.Errorf("%+v, %v", third, err)
	}
}
