package grant

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/identity"
)

// What a killed process has kept of a session's grants goes on in the next one: the same calls, until
// the same time. What has ended does not come back.
func TestKeptGrantsGoOn(t *testing.T) {
	p, dir := newPlace(t), t.TempDir()
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	now := func() time.Time { return at }
	file := func(session string) string { return filepath.Join(dir, session) }
	store := func() *Store {
		s := New(now)
		s.KeepIn(file)
		return s
	}
	a := p.call("filesystem/read_file", `{"path":%q}`, p.outside+"/a.txt")
	b := p.call("filesystem/read_file", `{"path":%q}`, p.outside+"/b.txt")
	add := func(s *Store, session string, c Call, limit time.Duration) int {
		t.Helper()
		g, err := s.Add(session, p.offer(c, File), "tui", identity.Client{}, "e", limit)
		if err != nil {
			t.Fatal(err)
		}
		return g.Number
	}
	first := store()
	add(first, "s", a, time.Hour)
	revoked := add(first, "s", b, time.Hour)
	add(first, "s", b, time.Minute)
	add(first, "other", a, time.Hour)
	if _, err := first.Revoke(revoked); err != nil {
		t.Fatal(err)
	}
	at = at.Add(2 * time.Minute)

	next := store()
	mine := add(next, "new", a, time.Hour) // it has number 1, as the kept one
	restored, err := next.Restore("s")
	if err != nil || len(restored) != 1 || restored[0].Number == mine {
		t.Fatalf("%+v, %v", restored, err)
	}
	if _, ok := next.Match(a); !ok {
		t.Error("the grant is not in force")
	}
	if _, ok := next.Match(b); ok {
		t.Error("one that was revoked or has expired is in force")
	}
	if again, err := store().Restore("nobody"); err != nil || len(again) != 0 {
		t.Errorf("%+v, %v", again, err)
	}

	// The end of the session's life ends what is kept.
	if err := next.Close("s"); err != nil {
		t.Fatal(err)
	}
	if got, err := store().Restore("s"); err != nil || len(got) != 0 {
		t.Errorf("after the end: %+v, %v", got, err)
	}

	// A file that cannot be read gives nothing, and goes.
	if err := os.WriteFile(file("s"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := store().Restore("s"); err == nil || len(got) != 0 {
		t.Errorf("a damaged file: %+v, %v", got, err)
	}
	if _, err := os.Stat(file("s")); err == nil {
		t.Error("it is still there")
	}
}

// A grant that cannot be kept is in force, and leaves no older file that would bring back others.
func TestAGrantThatCannotBeKept(t *testing.T) {
	p, dir := newPlace(t), t.TempDir()
	s := New(nil)
	s.KeepIn(func(session string) string { return filepath.Join(dir, "gone", session) })
	c := p.call("filesystem/read_file", `{"path":%q}`, p.outside+"/a.txt")
	g, err := s.Add("s", p.offer(c, File), "tui", identity.Client{}, "e", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Match(c); !ok {
		t.Error("it is not in force")
	}
	if _, err := s.Revoke(g.Number); err != nil {
		t.Error(err)
	}
}
