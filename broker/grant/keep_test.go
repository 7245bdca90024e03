package grant

import (
	"os"
	"path/filepath"
	"strings"
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

// What a file says is in force only when a person can have given it here: for this session, within the
// time that a grant lasts at most. Anything else of a file gives nothing.
func TestWhatAFileSaysIsChecked(t *testing.T) {
	p := newPlace(t)
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	c := p.call("filesystem/read_file", `{"path":%q}`, p.outside+"/a.txt")
	file := filepath.Join(t.TempDir(), "s")
	store := func(now time.Time) *Store {
		s := New(func() time.Time { return now })
		s.KeepIn(func(string) string { return file })
		return s
	}
	if _, err := store(at).Add("s", p.offer(c, File), "tui", identity.Client{}, "e", time.Hour); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, one := range map[string]struct {
		old, new string
		now      time.Time
		want     bool
	}{
		"as it was":                    {"", "", at.Add(59 * time.Minute), true},
		"its time passed meanwhile":    {"", "", at.Add(time.Hour), false},
		"the clock was set back":       {"", "", at.Add(-time.Hour), false},
		"another session's":            {`"Session":"s"`, `"Session":"t"`, at, false},
		"for longer than any":          {"2030-01-01T01", "2231-01-01T01", at, false},
		"without end":                  {"2030-01-01T01", "9999-12-31T23", at, false},
		"it ends before it begins":     {"2030-01-01T01", "2029-01-01T01", at, false},
		"a number that cannot go on":   {`"Number":1,"Session"`, `"Number":9223372036854775807,"Session"`, at, false},
		"a member that narrows it":     {`"Server":`, `"OnlyOnce":true,"Server":`, at, false},
		"a word behind it":             {"]}", "]}{}", at, false},
		"of every argument of a tool":  {`"Server":`, `"Any":true,"Server":`, at, false},
		"without its values":           {`"Slots":`, `"Rest":null,"Slots":[],"Slots":`, at, true},
		"cut off":                      {"]}", "", at, false},
		"of one who has given nothing": {string(kept), "null", at, false},
	} {
		t.Run(name, func(t *testing.T) {
			changed := strings.Replace(string(kept), one.old, one.new, 1)
			if one.old != "" && changed == string(kept) {
				t.Fatalf("nothing is changed of %s", kept)
			}
			if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
				t.Fatal(err)
			}
			s := store(one.now)
			restored, err := s.Restore("s")
			if _, ok := s.Match(c); ok != one.want {
				t.Errorf("in force: %v, %v", ok, err)
			}
			if _, err := os.Stat(file); (err == nil) != (len(restored) > 0) {
				t.Errorf("the file: %v", err)
			}
		})
	}
}

// No file has a grant in force that is another session's or has no end, or ends the program.
func FuzzRestore(f *testing.F) {
	f.Add([]byte(`{"Number":1,"Grants":[{"Number":1,"Session":"s","Server":"a","Tool":"b","At":"2030-01-01T00:00:00Z","ExpiresAt":"2030-01-01T01:00:00Z","Slots":[{"Argument":"p","Role":"read-path","Texts":["/a"]}]}]}`))
	f.Add([]byte(`{"Grants":[null,{"Session":"s"}]}`))
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, data []byte) {
		file := filepath.Join(t.TempDir(), "s")
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		s := New(func() time.Time { return at })
		s.KeepIn(func(string) string { return file })
		_, _ = s.Restore("s")
		for _, g := range s.List() {
			if g.Session != "s" || g.Number < 1 || g.ExpiresAt.Sub(g.At) > MaxTime || !g.ExpiresAt.After(at) {
				t.Errorf("in force: %+v", g)
			}
		}
		s.Match(Call{Session: "s", Server: "a", Tool: "b", Digest: "d", Arguments: []byte(`{}`)})
	})
}
