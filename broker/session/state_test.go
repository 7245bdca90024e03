package session

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
)

// While the engine does not answer, the state of an agent without requests or calls is
// unknown.
func TestAnAgentOutOfReachIsNotIdle(t *testing.T) {
	s := stateSession(t)
	for _, c := range []struct {
		trouble string
		calls   int
		want    stored.State
	}{{"", 0, stored.StateIdle}, {"the engine is away", 0, stored.StateUnknown}, {"the engine is away", 1, stored.StateWorking}, {"", 0, stored.StateIdle}} {
		s.count(func(t *tally) { t.running, t.connected, t.calls = true, true, c.calls })
		s.SetTrouble(c.trouble)
		if got := s.Info(); got.State != c.want || got.Trouble != c.trouble {
			t.Errorf("with %q and %d calls: %+v", c.trouble, c.calls, got)
		}
	}
}

// The person is told once that a workspace is gone, the tab says so until it is back, and
// the person is told of its return.
func TestAWorkspaceThatIsGoneIsTold(t *testing.T) {
	s, outside := stateSession(t), t.TempDir()
	above := filepath.Join(outside, "above")
	work := filepath.Join(above, "work")
	s.fixed.Workspace, s.fixed.Notice = work, "scripted model"
	s.CheckWorkspace() // the session still starts, and its workspace is being made
	s.count(func(t *tally) { t.running, t.connected = true, true })
	create := func() {
		t.Helper()
		if err := os.MkdirAll(work, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	create()
	away := filepath.Join(outside, "away")
	for _, step := range []struct {
		do     func() error
		notice string
		told   string
	}{
		{func() error { return nil }, "scripted model", ""},
		{func() error { return os.Rename(work, away) }, workspaceGone + " · scripted model", "was deleted, moved or replaced"},
		{func() error { create(); return nil }, workspaceGone + " · scripted model", ""},
		{func() error { return errors.Join(os.Remove(work), os.Rename(away, work)) }, "scripted model", "is back"},
		{func() error { return errors.Join(os.Rename(above, away), os.WriteFile(above, nil, 0o600)) }, workspaceGone + " · scripted model", "was deleted, moved or replaced"},
		{func() error { return errors.Join(os.Remove(above), os.Rename(away, above)) }, "scripted model", "is back"},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		s.CheckWorkspace()
		if got := s.Info().Notice; got != step.notice {
			t.Errorf("the tab says %q, not %q", got, step.notice)
		}
		if step.told != "" {
			if n := <-eventsOf(s).notices; !strings.Contains(n.Text, step.told) || n.Session != s.fixed.ID {
				t.Errorf("told %+v", n)
			}
		}
	}
	s.count(func(t *tally) { t.dead = true })
	if err := os.Remove(work); err != nil {
		t.Fatal(err)
	}
	s.CheckWorkspace()
	if got := s.Info().Notice; got != "scripted model" {
		t.Errorf("of a session that has ended: %q", got)
	}
}

// stateSession makes a session that is not started.
func stateSession(t *testing.T) *Session {
	t.Helper()
	s, err := New(testDeps(t, Config{Home: t.TempDir(), Agents: agent.Builtin(), DefaultAgent: "shell"}), Request{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
