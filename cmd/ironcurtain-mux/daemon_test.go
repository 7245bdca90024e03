package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/demo/scripted"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
)

// attach shows the daemon of a home in another terminal, whose shells show the prompt here>.
func attach(t *testing.T, home string, cols, rows int) *driver {
	t.Helper()
	return driveArgv(t, home, cols, rows, "env", "SHELL=/bin/sh", "PS1=here> ", "ENV=", "ironcurtain-mux", "attach")
}

// serveDaemon starts a daemon from a terminal that is closed then.
func serveDaemon(t *testing.T, home string, argv ...string) *driver {
	t.Helper()
	d := driveArgv(t, home, 80, 24, append(argv, "ironcurtain-mux", "serve")...)
	d.until("the daemon", patience, func(string) bool {
		_, err := os.Stat(d.state("run", "daemon.sock"))
		return err == nil
	})
	d.signal(syscall.SIGHUP)
	return d
}

// A person leaves, loses the terminal, comes back in another one, and finds everything as it
// was; what several terminals show has the size of the one in which it is used.
func TestTheAgentOutlivesTheTerminal(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	configure(t, home, `{"localShell":true,"agent":"local-shell"}`)
	d := serveDaemon(t, home, "env", noEngine)
	if _, errs, code := d.command("serve"); code != cli.ExitFailure || !strings.Contains(errs, "a daemon runs already") {
		t.Errorf("a second daemon: %d, %s", code, errs)
	}
	a := attach(t, home, 120, 30)
	a.see(patience, "here>")
	a.send("echo $((40+2)); ironcurtain-mux attach\r")
	a.see(patience, "42", "one of the multiplexer's own tabs")
	a.send("\x01/rename worker\r")
	a.see(patience, "worker")
	a.send("\x01/detach\r")
	if code := a.exit(patience); code != 0 || !strings.Contains(a.text(), "detached") {
		t.Errorf("detached with %d: %s", code, a.text())
	}
	if _, errs, code := d.command("stop"); code != cli.ExitFailure || !strings.Contains(errs, "an agent runs") {
		t.Errorf("stop: %d, %s", code, errs)
	}

	a = attach(t, home, 120, 30)
	a.see(patience, "worker", "42", "here>")
	b := attach(t, home, 100, 26)
	b.see(patience, "worker", "42", "a part of 120x28")
	b.send("until test \"$(stty size)\" = '24 100'; do sleep .1; done; clear; stty size\r")
	b.until("its own size", patience, func(screen string) bool { return !strings.Contains(screen, "a part of") })
	b.see(patience, "24 100")
	a.see(patience, "24 100")

	out, errs, code := d.command("clients", "ls")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	front := string(d.onlySession().ID[:8])
	if code != 0 || len(lines) != 3 || !strings.HasPrefix(lines[0], "ID ") || !strings.Contains(lines[1], "120x30  "+front) || !strings.Contains(lines[2], "100x26  "+front) {
		t.Fatalf("clients: %d, %s\n%s", code, errs, out)
	}
	if _, errs, code := d.command("clients", "kick", "none"); code != cli.ExitFailure || !strings.Contains(errs, "no client has the id") {
		t.Errorf("kick nobody: %d, %s", code, errs)
	}
	guest := attach(t, home, 80, 24)
	guest.see(patience, "worker")
	out, _, _ = d.command("clients", "ls")
	lines = strings.Split(strings.TrimSpace(out), "\n")
	if _, errs, code := d.command("clients", "kick", lines[len(lines)-1][:8]); code != 0 || !strings.Contains(errs, "is detached") {
		t.Errorf("kick: %d, %s", code, errs)
	}
	if code := guest.exit(patience); code != 0 || !strings.Contains(guest.text(), "another terminal has detached this one") {
		t.Errorf("who was detached ends with %d: %s", code, guest.text())
	}

	a.signal(syscall.SIGKILL) // its terminal is there, and nobody reads it for us
	a.exit(patience)
	b.send("echo $((70+7))\r")
	b.see(patience, "77")
	_ = b.pty.Close() // the terminal is gone
	c := attach(t, home, 80, 24)
	c.see(patience, "worker", "77")
	c.send("\x01/quit\r")
	c.see(patience, "an agent runs: end all and quit?")
	c.send("y")
	if code := c.exit(patience); code != 0 {
		t.Errorf("/quit ends with %d: %s", code, c.text())
	}
	if code := d.exit(patience); code != 0 {
		t.Errorf("the daemon ends with %d: %s", code, d.text())
	}
	if _, errs, code := d.command("attach"); code != cli.ExitFailure || !strings.Contains(errs, "terminal") {
		t.Errorf("attach without a terminal: %d, %s", code, errs)
	}
	if _, errs, code := d.command("stop"); code != cli.ExitFailure || !strings.Contains(errs, "no daemon runs") {
		t.Errorf("stop without a daemon: %d, %s", code, errs)
	}
}

// The program starts a daemon when none runs, one however many are started at once, and says
// why when it cannot. A daemon without tabs and views ends after a while.
func TestTheDaemonStartsByItself(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	configure(t, home, `{"localShell":true,"agent":"local-shell","daemonIdleMinutes":1}`)
	argv := []string{"env", noEngine, "SHELL=/bin/sh", "PS1=here> ", "ENV=", "ironcurtain-mux"}
	d := driveArgv(t, home, 110, 24, append(slices.Clone(argv), "--policy", "missing")...)
	if code := d.exit(patience); code != cli.ExitFailure || !strings.Contains(d.text(), "missing") {
		t.Errorf("with a policy that is not there: %d, %s", code, d.text())
	}
	d = driveArgv(t, home, 110, 24, append(slices.Clone(argv), "--agent", "shell")...)
	if code := d.exit(patience); code != cli.ExitFailure || !strings.Contains(d.text(), "engine is not") {
		t.Errorf("without an engine: %d, %s", code, d.text())
	}

	var views []*driver
	for range 20 { // more than there may be views
		views = append(views, driveArgv(t, home, 110, 24, slices.Clone(argv)...))
	}
	for i, v := range views {
		v.until("a shell", patience, func(screen string) bool {
			return strings.Contains(screen, "here>") || strings.Contains(screen, "16 views are open")
		})
		if strings.Contains(v.text(), "here>") {
			views[0], views[i] = v, views[0]
		}
	}
	if n := daemonsOf(t, d.state()); n != 1 {
		t.Errorf("%d daemons run", n)
	}
	first := views[0].onlySession().ID
	for _, v := range views[1:] {
		_ = v.pty.Signal(syscall.SIGHUP) // it may have ended
	}
	for _, v := range views[1:] {
		v.exit(patience)
	}
	_ = views[0].pty.Close()
	d = driveArgv(t, home, 110, 24, append(slices.Clone(argv), "--agent", "local-shell")...)
	d.see(patience, "1 ", "2 ", "here>")
	d.send("echo second$((1+1))\r")
	d.see(patience, "second2")
	d.send("\x01/detach\r")
	d.exit(patience)
	d = drive(t, home, 110, 24, "attach", string(first[:8]))
	d.see(patience, "here>")
	if strings.Contains(d.text(), "second2") {
		t.Errorf("attach shows another session:\n%s", d.text())
	}
	d.send("\x01/close\r")
	d.see(patience, "y/n")
	d.send("y")
	d.see(patience, "second2")
	d.send("\x01/close\r")
	d.see(patience, "y/n")
	d.send("y")
	d.see(patience, "no tab is open")
	d.send("\x01/detach\r")
	d.exit(patience)
	// Asking it would be a client.
	if !eventually(3*time.Minute, func() bool { _, err := os.Lstat(d.state("run", "daemon.sock")); return err != nil }) {
		out, _, _ := d.command("sessions", "ls")
		t.Errorf("the daemon runs on without a tab and a view:\n%s", out)
	}
}

// daemonsOf counts the daemons of a state directory that clients have started.
func daemonsOf(t *testing.T, state string) (n int) {
	t.Helper()
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range processes {
		argv, err := os.ReadFile(filepath.Join(p, "cmdline"))
		if err != nil || !strings.Contains(string(argv), "\x00serve\x00--started") {
			continue
		}
		environment, err := os.ReadFile(filepath.Join(p, "environ"))
		if err == nil && strings.Contains(string(environment), "IRONCURTAIN_HOME="+state+"\x00") {
			n++
		}
	}
	return n
}

// A tab has the keys, and a shell of this machine the environment, of the terminal in which it
// was opened, not of the one that happened to start the daemon.
func TestATabHasTheKeysOfItsTerminal(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	configure(t, home, `{"localShell":true,"agent":"local-shell"}`)
	model, err := scripted.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	flags := append([]string{"--agent", "local-shell"}, moved(t, home, model, "api.anthropic.com")...)
	first := driveArgv(t, home, 110, 40, append([]string{"env", "SHELL=/bin/sh", "PS1=first> ", "ENV=", "ironcurtain-mux"}, flags...)...)
	first.see(patience, "first>")
	flags[1] = "claude-code"
	second := driveArgv(t, home, 110, 40, append([]string{
		"env", "SHELL=/bin/sh", "PS1=second> ", "ENV=", "ANTHROPIC_API_KEY=" + model.Keys()["anthropic"],
		"ironcurtain-mux",
	}, flags...)...)
	second.until("Claude Code's prompt", patience, func(screen string) bool {
		return strings.Contains(screen, "bypass permissions") || strings.Contains(screen, "for shortcuts")
	})
	second.ask("say let-through")
	second.see(patience, "● let-through")
	second.send("\x01/new local-shell\r")
	second.see(patience, "second>")
	first.send("\x01/new claude-code\r")
	first.see(patience, "no key for anthropic")
	for _, r := range model.Requests() {
		if strings.HasPrefix(r.Path, "/v1/messages") && !r.KeyOK {
			t.Errorf("%s came with another key", r.Path)
		}
	}
	for _, path := range filesWith(t, second.state(), model.Keys()["anthropic"]) {
		t.Errorf("the key is in %s", path)
	}
}

// A service manager stops the daemon: the agent, its screen and the call that waits are there
// when the next one is started, and the answer reaches the agent.
func TestTheDaemonStandsDown(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	configure(t, home, `{"agent":"shell"}`)
	d := serveDaemon(t, home)
	a := attach(t, home, 120, 30)
	a.see(patience, "/workspace$")
	s := d.onlySession()
	c := a.tools(t, s)
	path := filepath.Join(home, "note.txt")
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"filesystem__write_file","arguments":{"path":%q,"content":"as approved"}}}`, path))
	asked := d.waiting(func(broker.Escalation) bool { return true })
	for range 2 { // the second time is as good as the first
		d.signal(syscall.SIGTERM)
		if code := a.exit(patience); code != 0 || !strings.Contains(a.text(), "its agents keep running") {
			t.Errorf("the view ends with %d: %s", code, a.text())
		}
		if code := d.exit(patience); code != 0 {
			t.Errorf("the daemon ends with %d: %s", code, d.text())
		}
		if list := containersOf(t, s.ID); len(list) != 1 || !list[0].Running {
			t.Fatalf("containers after the stop: %+v", list)
		}
		d = serveDaemon(t, home)
		a = attach(t, home, 120, 30)
		a.see(patience, "1 waiting", "/workspace$")
	}
	d.waiting(func(e broker.Escalation) bool { return e.ID == asked.ID && e.Restored && !e.Unclaimed })
	if out, errs, code := d.command("approve", asked.ID); code != 0 {
		t.Fatalf("approve: %s%s", out, errs)
	}
	a.until("the answer", patience, func(string) bool { return c.answer(1) != "" })
	if data, err := os.ReadFile(path); err != nil || string(data) != "as approved" {
		t.Errorf("%q, %v: %s", data, err, c.answer(1))
	}
	if out, errs, code := d.command("stop", "--now"); code != 0 {
		t.Errorf("stop --now: %d, %s%s", code, out, errs)
	}
	d.exit(patience)
	d.nothingLeft(s.ID)
}

// A call that waits is shown in every view, and a view that was added later; the decision in one
// of them is seen in the others. Losing a view loses nothing of it.
func TestACallWaitsInEveryView(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	configure(t, home, `{"agent":"shell"}`)
	d := serveDaemon(t, home)
	a := attach(t, home, 120, 30)
	a.see(patience, "/workspace$")
	s := d.onlySession()
	c := a.tools(t, s)
	path := filepath.Join(home, "note.txt")
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"filesystem__write_file","arguments":{"path":%q,"content":"as approved"}}}`, path))
	d.waiting(func(broker.Escalation) bool { return true })
	if _, errs, code := d.command("tokens", "create", "bot", string(s.ID)); code != 0 { // it has a socket of its own
		t.Errorf("tokens create: %d, %s", code, errs)
	}
	d.seals(t, s.ID)
	a.see(patience, "1 waiting")
	a.signal(syscall.SIGKILL)
	a.exit(patience)

	b := attach(t, home, 120, 30)
	b.see(patience, "1 waiting")
	e := attach(t, home, 120, 30)
	e.send("\x01")
	e.see(patience, "note.txt", "as approved")
	<-time.After(time.Second) // it has to be on the screen for a moment
	e.send("/approve\r")
	for _, view := range []*driver{b, e} {
		view.until("the decision", patience, func(screen string) bool { return !strings.Contains(screen, "1 waiting") })
	}
	b.until("the answer", patience, func(string) bool { return c.answer(1) != "" })
	if data, err := os.ReadFile(path); err != nil || string(data) != "as approved" {
		t.Errorf("%q, %v: %s", data, err, c.answer(1))
	}

	for _, view := range []*driver{b, e} {
		view.send("\x01/detach\r")
		view.exit(patience)
	}
	c.answeredOverSSH(d, 2)

	last := attach(t, home, 120, 30)
	last.see(patience, "/workspace$")
	out, errs, code := d.command("stop", "--now")
	if code != 0 {
		t.Errorf("stop --now: %d, %s%s", code, out, errs)
	}
	if code := last.exit(patience); code != 0 || !strings.Contains(last.text(), "the multiplexer was ended") {
		t.Errorf("a view ends with %d: %s", code, last.text())
	}
	if code := d.exit(patience); code != 0 {
		t.Errorf("the daemon ends with %d: %s", code, d.text())
	}
	d.nothingLeft(s.ID)
}

// answeredOverSSH makes a call while nobody is attached, and approves it over ssh with a key that
// may only answer.
func (c agentClient) answeredOverSSH(d *driver, id int) {
	c.t.Helper()
	path := filepath.Join(d.home, "over-ssh.txt")
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"filesystem__write_file","arguments":{"path":%q,"content":"from afar"}}}`, id, path))
	d.waiting(func(broker.Escalation) bool { return true })
	box := startSSHD(c.t, d.home, "/usr/bin:/bin")
	line, errs, code := box.authorize(box.newKey(filepath.Join(box.client, "..", "phone")), "phone")
	if code != 0 {
		c.t.Fatalf("authorize: %d, %s", code, errs)
	}
	box.write(box.authority, line)
	phone := box.drive("ssh", "-tt", "phone")
	phone.see(patience, "from afar", "[y/N]")
	<-time.After(time.Second) // it has to be on the screen for a moment
	phone.send("y\r")
	phone.until("the answer", patience, func(string) bool { return c.answer(id) != "" })
	if data, err := os.ReadFile(path); err != nil || string(data) != "from afar" {
		c.t.Errorf("%q, %v: %s", data, err, c.answer(id))
	}
	phone.send("\x03")
	if code := phone.exit(patience); code != 0 {
		c.t.Errorf("it ends with %d: %s", code, phone.text())
	}
}
