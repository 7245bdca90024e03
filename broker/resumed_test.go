package broker

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/session"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
)

// resumeRig is a broker whose engine is never reached.
func resumeRig(t *testing.T, home string) *Broker {
	t.Helper()
	b := &Broker{ctx: t.Context(), config: Config{Home: home, UserHome: "/nowhere", Agents: agent.Builtin(), MaxSessions: 2}}
	b.settings.Store(&settings{config: &b.config})
	return b
}

func TestASessionIsResumedOnce(t *testing.T) {
	home := shortTemp(t)
	l := storeSession(t, home, "shell", time.Hour)
	id := filepath.Base(l.Dir)
	first, err := session.Resume(resumeRig(t, home).deps(), OpenRequest{Resume: id})
	if err != nil {
		t.Fatal(err)
	}
	if got := first.Info(); got.ID != id || got.Workspace != l.Sandbox() || got.Agent != "shell" {
		t.Errorf("resumed as %+v", got)
	}
	if _, err := session.Resume(resumeRig(t, home).deps(), OpenRequest{Resume: id}); err == nil || !strings.Contains(err.Error(), "open in another multiplexer") {
		t.Errorf("a second time: %v", err)
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	again, err := session.Resume(resumeRig(t, home).deps(), OpenRequest{Resume: id})
	if err != nil {
		t.Fatalf("after it was given up: %v", err)
	}
	if err := again.Release(); err != nil {
		t.Fatal(err)
	}
}

func TestWhatCannotBeResumed(t *testing.T) {
	home := shortTemp(t)
	host := storeSession(t, home, "local-shell", time.Hour)
	foreign := storeSession(t, home, "gone-agent", time.Hour)
	moved := storeSession(t, home, "shell", time.Hour)
	data, err := json.Marshal(stored.Record{Session: Session{ID: filepath.Base(moved.Dir), Agent: "shell", Workspace: home}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(moved.Record(), data, 0o600); err != nil {
		t.Fatal(err)
	}
	for what, id := range map[string]string{
		"a shell of this machine": filepath.Base(host.Dir),
		"an unknown agent":        filepath.Base(foreign.Dir),
		"a forbidden workspace":   filepath.Base(moved.Dir),
		"nothing":                 "00000000-0000-4000-8000-000000000000",
		"a path":                  "../../../../../../../../etc/passwdxxxx",
	} {
		if s, err := session.Resume(resumeRig(t, home).deps(), OpenRequest{Resume: id}); err == nil {
			t.Errorf("%s was resumed: %+v", what, s.Info())
		}
	}
}

// An agent whose workspace is above a session's can put a link in the place of that
// one's while it is closed.
func TestAWorkspaceBehindALinkIsNotResumed(t *testing.T) {
	home, project := shortTemp(t), stored.RealPath(t.TempDir())
	l := storeSession(t, home, "shell", time.Hour)
	id := filepath.Base(l.Dir)
	workspace, private := filepath.Join(project, "part"), stored.RealPath(t.TempDir())
	data, err := json.Marshal(stored.Record{Session: Session{ID: id, Agent: "shell", Workspace: workspace}})
	if err := errors.Join(err, os.WriteFile(l.Record(), data, 0o600), os.Mkdir(workspace, 0o700)); err != nil {
		t.Fatal(err)
	}
	s, err := session.Resume(resumeRig(t, home).deps(), OpenRequest{Resume: id})
	if err != nil || s.Info().Workspace != workspace {
		t.Fatalf("as it was: %v", err)
	}
	if err := errors.Join(s.Release(), os.Remove(workspace), os.Symlink(private, workspace)); err != nil {
		t.Fatal(err)
	}
	if s, err := session.Resume(resumeRig(t, home).deps(), OpenRequest{Resume: id}); err == nil {
		t.Errorf("the agent would get %s", s.Info().Workspace)
	}
}
