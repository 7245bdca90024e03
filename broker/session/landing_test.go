package session

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/copies"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
)

// copied makes a session that has a copy of a directory, with an audit at the returned path.
func copied(t *testing.T, script string) (s *Session, trail string) {
	t.Helper()
	s, log, trail := askingSession(t)
	s.log, s.finished = log, make(chan struct{})
	origin := filepath.Join(stored.RealPath(t.TempDir()), "project")
	if err := os.Mkdir(origin, 0o700); err != nil {
		t.Fatal(err)
	}
	shell(t, origin, script)
	s.fixed.ID, s.fixed.Origin, s.fixed.Workspace = "1a2b3c4d-0000-4000-8000-000000000000", origin, s.layout.Copy()
	if _, err := copies.Make(t.Context(), origin, s.layout.Copy(), s.layout.CopyNote()); err != nil {
		t.Fatal(err)
	}
	return s, trail
}

func TestLandingOfASession(t *testing.T) {
	s, trail := copied(t, "echo a > a")
	shell(t, s.fixed.Workspace, "echo b > a; echo x > .envrc")
	l, err := s.Landing(t.Context(), Which{})
	if err != nil || l.Files != 2 || l.Run != 1 || l.Origin != s.fixed.Origin || !strings.Contains(l.Lines[1].Text, ".envrc") {
		t.Fatalf("%+v, %v", l, err)
	}
	again, err := s.Landing(t.Context(), Which{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Land(t.Context(), l.ID); err == nil || !strings.Contains(err.Error(), "others were shown") {
		t.Errorf("landed what was not shown last: %v", err)
	}
	if said, err := s.Land(t.Context(), again.ID); err != nil || said.String() != "landed 2 changed files" {
		t.Errorf("%q, %v", said, err)
	}
	if _, err := s.Land(t.Context(), again.ID); err == nil {
		t.Error("landed twice")
	}
	if got, _ := os.ReadFile(filepath.Join(s.fixed.Origin, "a")); string(got) != "b\n" {
		t.Errorf("a is %q", got)
	}
	if log, _ := os.ReadFile(trail); !strings.Contains(string(log), "the person lands 2 changed files of the copy in "+s.fixed.Origin) {
		t.Errorf("recorded %s", log)
	}
}

func TestTheEndSaysWhatWasNotLanded(t *testing.T) {
	hurried, hurry := context.WithCancel(t.Context())
	hurry()
	for name, c := range map[string]struct {
		agent   string
		hurried context.Context
		most    time.Duration
		want    string
	}{
		"nothing":         {"true", t.Context(), stored.LookTime, ""},
		"changes":         {"echo b > a; echo c > c", t.Context(), stored.LookTime, "session 1a2b3c4d leaves 2 changed files in its copy of ORIGIN (ironcurtain-mux sessions land 1a2b3c4d)"},
		"told to end":     {"echo b > a", hurried, stored.LookTime, "session 1a2b3c4d leaves 1 changed file in its copy of ORIGIN (ironcurtain-mux sessions land 1a2b3c4d)"},
		"no time at all":  {"echo b > a", t.Context(), -1, "session 1a2b3c4d leaves unexamined changes in its copy of ORIGIN (ironcurtain-mux sessions land 1a2b3c4d)"},
		"files elsewhere": {"echo ssh://box > ../away", t.Context(), stored.LookTime, "session 1a2b3c4d leaves files of its agent in volumes of the engine at ssh://box, and this machine does not have them yet (ironcurtain-mux sessions resume 1a2b3c4d)"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := copied(t, "echo a > a")
			s.deps.Hurried = c.hurried
			shell(t, s.fixed.Workspace, c.agent)
			if err := s.noteUnexaminedCopy(); err != nil || !there(s.layout.Unlanded()) {
				t.Fatalf("nothing is expected: %v", err)
			}
			if err := s.reportCopy(t.Context(), c.most); err != nil {
				t.Fatal(err)
			}
			said := strings.ReplaceAll(strings.Join(eventsOf(s).endNotices(), "\n"), s.fixed.Origin, "ORIGIN")
			if c.want == "" && said != "" || !strings.HasPrefix(said, c.want) {
				t.Errorf("said %q, want %q", said, c.want)
			}
			if kept := there(s.layout.Unlanded()); kept != (c.want != "") {
				t.Errorf("kept in mind: %v", kept)
			}
		})
	}
}
