package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// Tabs of the demo, with a policy of their own and without either are in one daemon. A tab keeps
// its profile when it is restarted, and when the daemon was killed; another client shows the
// demo that runs.
func TestTabsWithProfilesInOneDaemon(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	configure(t, home, `{"agent":"shell"}`)
	dir := filepath.Join(home, "strict")
	_, annotations := policy.Default()
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "compiled-policy.json"), []byte(`{"rules":[]}`), 0o600),
		os.WriteFile(filepath.Join(dir, "tool-annotations.json"), annotations.Encode(), 0o600)); err != nil {
		t.Fatal(err)
	}
	first := drive(t, home, 120, 24, "demo", "--agent", "shell")
	first.see(patience, "/workspace$", wiring.DemoNotice)
	demo := first.onlySession()
	second := drive(t, home, 120, 24, "demo")
	second.see(patience, "/workspace$", wiring.DemoNotice)
	strict := drive(t, home, 120, 24, "--policy", dir)
	strict.inTab(2, "/workspace$")
	plain := drive(t, home, 120, 24, "--agent", "shell")
	plain.inTab(3, "/workspace$")
	if strings.Contains(plain.text(), wiring.DemoNotice) || strings.Contains(strict.text(), wiring.DemoNotice) {
		t.Errorf("another tab says that its model is scripted:\n%s", plain.text())
	}
	second.send("\x01/new shell\r")
	second.inTab(4, "/workspace$", wiring.DemoNotice)
	profiles := func() string {
		all := map[int]string{}
		for _, s := range first.sessions() {
			if s.State != broker.StateClosed {
				all[s.Tab] = s.Profile.String()
			}
		}
		return fmt.Sprint(all)
	}
	const want = `map[1:demo 2:policy "%s" 3: 4:demo]`
	if got := profiles(); got != fmt.Sprintf(want, dir) {
		t.Errorf("profiles: %s", got)
	}
	// Only an agent whose container runs is taken back, and the prompt on the screen may still be
	// that of the tab which was in front.
	second.until("four agents that run", patience, func(string) bool {
		for _, s := range first.sessions() {
			if s.State == broker.StateStarting {
				return false
			}
		}
		return true
	})
	for _, view := range []*driver{second, strict, plain} {
		view.send("\x01/detach\r")
		view.exit(patience)
	}
	first.murder(t, demo.ID)
	first.until("all tabs", patience, func(string) bool {
		return strings.Count(profiles(), "demo") == 2 && strings.Contains(profiles(), "policy")
	})
	first.see(patience, "/workspace$")
	answer := first.write(demo.ID, first.state("demo", "outside", "notes.txt"), "text")
	if _, errs, code := first.command("deny", first.waits().ID); code != cli.ExitOK {
		t.Error(errs)
	}
	<-answer
	if out, errs, _ := first.command("sessions", "show", string(demo.ID[:8])); !strings.Contains(out, "demo") || !strings.Contains(out, "profile") {
		t.Errorf("show: %s%s", out, errs)
	}
	first.quit()
	first.traceless()
}
