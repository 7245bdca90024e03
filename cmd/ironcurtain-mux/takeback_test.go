package main

import (
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// containersOf lists the containers of a session.
func containersOf(t *testing.T, id broker.SessionID) []docker.Summary {
	t.Helper()
	list, err := engine(t).List(t.Context(), map[string]string{broker.LabelSession: id})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// murder kills the daemon, waits until the client has started another one, and checks that the
// agent lives on.
func (d *driver) murder(t *testing.T, id broker.SessionID) (container string) {
	t.Helper()
	pid := d.daemon()
	shown := d.takesTerminal()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case <-shown:
	case <-d.read:
		t.Fatalf("the client has ended with its daemon:\n%s", d.text())
	case <-time.After(patience):
		t.Fatalf("no other daemon was started:\n%s", d.text())
	}
	list := containersOf(t, id)
	if len(list) != 1 || !list[0].Running {
		t.Fatalf("containers after the kill: %+v", list)
	}
	return list[0].ID
}

// killAll kills the client, which would start the daemon again, and then the daemon. The next one
// takes the agents back, or, if calm is not set, leaves them to the person as after a second kill
// within a short time.
func (d *driver) killAll(calm bool) {
	d.t.Helper()
	pid := d.daemon()
	if pid == 0 {
		d.t.Fatal("no daemon runs")
	}
	if d.note("pid") != "" {
		d.kill(syscall.SIGKILL)
	} else {
		d.signal(syscall.SIGKILL)
	}
	d.exit(2 * time.Minute)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		d.t.Fatal(err)
	}
	if !eventually(time.Minute, func() bool { return d.daemon() == 0 }) {
		d.t.Fatal("the daemon was not killed")
	}
	taken := d.state("run", "taken-back")
	if calm {
		_ = os.Remove(taken)
	} else if err := os.WriteFile(taken, nil, 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// The daemon is killed under a real agent. The client starts another one, which takes it
// back: the same container, its screen as it was, and its next request and its
// next tool call are served, over the same sockets and with the same keys.
func TestTakeBack(t *testing.T) {
	t.Parallel()
	d := openDemo(t, newHome(t))
	session := d.onlySession()
	d.ask("say alpha-bravo")
	d.see(patience, "● alpha-bravo")
	container := d.murder(t, session.ID)
	next := d
	next.see(patience, "● alpha-bravo", "❯ list /workspace") // the screen of before
	next.until("the agent to be idle", patience, func(string) bool { return next.onlySession().State == broker.StateIdle })
	next.until("one prompt, drawn where it belongs", patience, func(screen string) bool {
		return strings.Count(screen, "bypass permissions") == 1
	})
	next.ask("read hello.txt")
	next.see(patience, "Done: read") // by way of the tools
	if list := containersOf(t, session.ID); len(list) != 1 || list[0].ID != container {
		t.Errorf("the agent is in another container: %+v", list)
	}
	next.quit()
	next.nothingLeft(session.ID)
	if record := next.audit(session.ID); !strings.Contains(record, "has taken the agent back") {
		t.Error("the audit does not tell that the agent was taken back")
	}
}

// What was left running can be ended instead, and resumed later.
func TestEndWhatWasLeftRunning(t *testing.T) {
	t.Parallel()
	d := drive(t, newHome(t), 100, 24, "demo", "--agent", "shell")
	d.see(patience, "/workspace$")
	session := d.onlySession()
	d.send("echo in-its-former-life\r")
	d.see(patience, "in-its-former-life\n")
	d.killAll(false)
	if s := d.stored(session.ID); !s.Detached || s.Owned || !s.Profile.Demo {
		t.Errorf("after the kill: %+v", s)
	}
	next := drive(t, d.home, 100, 24, "demo", "--agent", "shell")
	next.see(patience, "still run", string(session.ID[:8]))
	next.send("x")
	next.see(patience, "end shell of session")
	next.send("y")
	next.see(patience, "/workspace$") // the first tab, as was asked for
	if list := containersOf(t, session.ID); len(list) != 0 {
		t.Errorf("containers after the end: %+v", list)
	}
	if s := next.stored(session.ID); s.Detached || s.State != broker.StateClosed {
		t.Errorf("after the end: %+v", s)
	}
	next.quit()
	next.traceless()
}

// An agent that draws only what has changed has the screen of before when it is
// taken back, to the last cell.
func TestTakeBackDrawsAnew(t *testing.T) {
	t.Parallel()
	a := realAgentNamed(t, "opencode")
	d := a.open(t)
	session := d.onlySession()
	d.settled()
	before := inPane(d.text())
	d.murder(t, session.ID)
	next := d
	next.until("the screen of before:\n"+before, 60*time.Second, func(screen string) bool { return inPane(screen) == before })
	next.quit()
	next.nothingLeft(session.ID)
}

// inPane is a screen without the bar of tabs and the status line.
func inPane(screen string) string {
	lines := strings.Split(strings.TrimSuffix(screen, "\n"), "\n")
	return strings.Join(lines[1:len(lines)-1], "\n")
}

// An agent that is taken back keeps the size of its tab: a small terminal that attaches first sees a
// part of it, and the first one that uses it gives it another size.
func TestAnAgentThatIsTakenBackKeepsItsSize(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	configure(t, home, `{"agent":"shell"}`)
	d := drive(t, home, 200, 50)
	d.see(patience, "/workspace$")
	d.send("stty size\r")
	d.see(patience, "48 200")
	d.send("printf '%0190d\\n' 7\r")
	d.see(patience, "00007")
	d.killAll(true)
	small := drive(t, home, 60, 20)
	small.see(patience, "a part of 200x48")
	// Taking back makes the terminal narrower for a moment, so that the agent draws anew.
	small.send(`until [ "$(stty size)" = "48 200" ]; do sleep 0.1; done; echo ke""pt` + "\r")
	small.see(patience, "kept")
	large := attach(t, home, 120, 30)
	large.send(`until [ "$(stty size)" = "28 120" ]; do sleep 0.1; done; echo si""zed` + "\r")
	large.see(patience, "sized")
	large.send("\x01/quit!\r")
	large.exit(patience)
	small.exit(patience)
}

// Tabs that are taken back have their names, their order, their panes and the one in front, whether the daemon
// takes them back by itself or a person does.
func TestTabsThatAreTakenBackStayArranged(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	configure(t, home, `{"agent":"shell"}`)
	d := drive(t, home, 120, 30)
	d.inTab(1, "/workspace$")
	d.send("\x01/rename alpha\r\x01/new\r")
	d.inTab(2, "/workspace$")
	d.send("\x01/rename beta\r\x01/new\r")
	d.inTab(3, "/workspace$")
	d.send("\x01/rename gamma\r\x01/move 1\r")
	d.inTab(1)
	d.send("\x1b3")
	as := func(view *driver) {
		t.Helper()
		view.inTab(3, "/workspace$")
		view.until("the bar of before", patience, func(screen string) bool {
			return regexp.MustCompile(`^ 1 \S+ gamma +2 \S+ alpha +3 \S+ beta`).MatchString(screen) && strings.Contains(view.screen.Title(), " · 3 beta")
		})
	}
	d.send("\x01/split down 1\r\x01/resize up 4\r\x1b3")
	title := regexp.MustCompile(`(?m)^[─━] 1 \S+ gamma`)
	split := func(view *driver) {
		t.Helper()
		view.until("the panes of before", patience, func(screen string) bool {
			at := title.FindStringIndex(screen)
			return at != nil && strings.Count(screen[:at[0]], "\n") == 11 && strings.Count(screen, "/workspace$") >= 2
		})
	}
	as(d)
	split(d)
	beta := ""
	for _, s := range d.sessions() {
		if s.Name == "beta" {
			beta = string(s.ID)
		}
	}
	written := func() bool {
		data, _ := os.ReadFile(d.state("arrangements.json"))
		return beta != "" && strings.Contains(string(data), `"Front":"`+beta)
	}
	if !eventually(time.Minute, written) {
		t.Fatal("it is not written down what is in front")
	}
	d.murder(t, broker.SessionID(beta))
	as(d)
	split(d)
	d.killAll(false)
	next := drive(t, home, 120, 30)
	next.see(patience, "still run")
	next.send("a")
	as(next)
	split(next)
	next.quit()
}
