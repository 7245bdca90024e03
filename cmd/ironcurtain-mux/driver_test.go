package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/term/pty"
)

// Patience is how long a driven multiplexer and its agent may take for what is not
// measured, on a busy machine: only a test that fails takes so long, and the first
// building of an image.
const patience = 5 * time.Minute

// driver runs the program in a pseudo-terminal and reads its screen with the
// program's own engine, as a person with a terminal would.
type driver struct {
	t      testing.TB
	home   string
	pty    *pty.Program
	screen *term.Screen
	read   chan struct{}                // closed when the program's output has ended
	down   *slowLink                    // the way to the person; nil: none in between
	up     *slowLink                    // the way to the program
	tap    atomic.Pointer[func([]byte)] // sees the output before the screen does; may be nil
}

// newHome makes a state directory short enough for sockets.
func newHome(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ic")
	if err != nil {
		t.Fatal(err)
	}
	// Nothing is learned of this machine's package registries, which would take each test some
	// seconds.
	writeState(t, dir, "registries.json", `{"sources":[]}`)
	// Nor is anything told or asked that only a first start tells.
	writeState(t, dir, "seen.json", `{"steps":5,"prefix":true,"phrase":true}`)
	if os.Getenv(wayVariable) != "" {
		configure(t, dir, "{}")
	}
	t.Cleanup(func() {
		if d := (&driver{t: t, home: dir}); d.daemon() != 0 {
			d.stop() // a start has started it
		}
		removeVolumes(t, dir)
		if t.Failed() {
			t.Logf("state is kept in %s", dir)
			return
		}
		_ = os.RemoveAll(dir)
	})
	return dir
}

// removeVolumes removes what sessions of a home have left in volumes of this machine's engine.
func removeVolumes(t testing.TB, home string) {
	t.Helper()
	sessions, _ := filepath.Glob(filepath.Join(home, "state", "sessions", "*", "volumes"))
	objects, _ := filepath.Glob(filepath.Join(home, "state", "objects", "*"))
	endpoint, err := docker.Choice{}.Resolve(os.Getenv, "/")
	if len(sessions)+len(objects) == 0 || err != nil {
		return
	}
	ctx := context.Background() // that of the test has ended
	c, err := docker.Connect(ctx, endpoint)
	if err != nil {
		t.Errorf("remove volumes: %v", err)
		return
	}
	defer c.Close(ctx)
	all, err := c.Volumes(ctx, nil)
	if err != nil {
		t.Errorf("remove volumes: %v", err)
	}
	for _, v := range all {
		if strings.HasPrefix(v.Labels[docker.LabelLease], home+"/") || strings.HasPrefix(v.Labels[stored.LabelHome], home+"/") {
			if err := c.RemoveVolume(ctx, v.Name); err != nil {
				t.Logf("a volume is left: %v", err) // a container that was left has it
			}
		}
	}
}

// standardRecipe is what images contain unless config.json says otherwise.
var standardRecipe = wiring.RecipeOf(config.Default().Images)

// wayVariable names the variable by which the suite is run with another way to containers than
// the engine's own (engine.way of config.json), or, by copiedFiles, as on an engine that does not
// see this machine's files (engine.files).
const wayVariable = "IRONCURTAIN_TEST_WAY"

// copiedFiles is what wayVariable says for that.
const copiedFiles = "copied"

// copied reports whether this run is one with copied files.
func copied() bool { return os.Getenv(wayVariable) == copiedFiles }

// configure writes the config.json of a home.
func configure(t testing.TB, home, text string) {
	t.Helper()
	writeState(t, home, "config.json", withWay(text))
}

// withWay adds the way of this run to a config.json that says nothing of the engine.
func withWay(text string) string {
	way := os.Getenv(wayVariable)
	c := map[string]any{}
	if way == "" || json.Unmarshal([]byte(text), &c) != nil || c["engine"] != nil {
		return text
	}
	c["engine"] = map[string]string{"way": way}
	if copied() {
		c["engine"] = map[string]string{"files": copiedFiles}
	}
	with, err := json.Marshal(c)
	if err != nil {
		return text
	}
	return string(with)
}

// writeState writes a file of the state directory of a home.
func writeState(t testing.TB, home, name, text string) {
	t.Helper()
	state := filepath.Join(home, "state")
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(state, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// atOnce has a program that looks for races end when it is done. Otherwise it waits a
// second for reports of what it has left running, which adds up to minutes.
const atOnce = "GORACE=atexit_sleep_ms=0"

// environment is what the program gets; no key, no real home.
func environment(home, cache string) []string {
	env := []string{
		atOnce,
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + filepath.Join(home, "user"),
		"IRONCURTAIN_HOME=" + filepath.Join(home, "state"),
		"IRONCURTAIN_CACHE=" + cache,
		"TERM=xterm-256color",
		"COLORTERM=truecolor",
		"LANG=C.UTF-8",
	}
	if host := os.Getenv("DOCKER_HOST"); host != "" {
		env = append(env, "DOCKER_HOST="+host)
	}
	return env
}

// drive starts the program with args on a screen of that size.
func drive(t testing.TB, home string, cols, rows int, args ...string) *driver {
	t.Helper()
	return driveArgv(t, home, cols, rows, append([]string{"ironcurtain-mux"}, args...)...)
}

// driveArgv is drive for any program.
func driveArgv(t testing.TB, home string, cols, rows int, argv ...string) *driver {
	t.Helper()
	return driveOver(t, func(*driver) {}, home, cols, rows, argv...)
}

// driveOver is driveArgv over what connect puts between the two.
func driveOver(t testing.TB, connect func(*driver), home string, cols, rows int, argv ...string) *driver {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(home, "user"), 0o700); err != nil {
		t.Fatal(err)
	}
	screen, err := term.NewScreen(term.Options{Cols: cols, Rows: rows})
	if err != nil {
		t.Fatal(err)
	}
	if argv[0], err = exec.LookPath(argv[0]); err != nil {
		t.Fatal(err)
	}
	pty, err := pty.Start(context.Background(), argv, environment(home, cacheDirectory(t)), home, cols, rows)
	if err != nil {
		t.Fatal(err)
	}
	d := &driver{t: t, home: home, pty: pty, screen: screen, read: make(chan struct{})}
	connect(d)
	go d.pump()
	t.Cleanup(func() {
		if _, err := os.Lstat(d.state("run", "daemon.sock")); err == nil && t.Failed() {
			d.stop() // by a signal its agents would stay
		}
		// A program that a failed test left running still takes its container down.
		if pty.Signal(syscall.SIGTERM) == nil {
			select {
			case <-pty.Done():
			case <-time.After(30 * time.Second):
			}
		}
		_ = pty.Close()
		<-d.read
		screen.Close()
		if _, err := os.Lstat(d.state("run", "daemon.sock")); err == nil {
			d.stop()
		}
	})
	return d
}

// daemon returns the process that serves the program's clients; 0: none does.
func (d *driver) daemon() (pid int) {
	d.t.Helper()
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: d.state("run", "daemon.sock"), Net: "unix"})
	if err != nil {
		return 0
	}
	defer c.Close()
	w := wire.NewConn(c)
	var welcome wire.Welcome
	err = w.Send(wire.KindHello, wire.Hello{Protocol: wire.Protocol, Kind: wire.ForView, Rights: wire.Operate})
	if err == nil {
		var f wire.Frame
		if f, err = w.Receive(); err == nil {
			err = f.Into(&welcome)
		}
	}
	if err != nil {
		return 0 // it ends at this moment
	}
	return welcome.PID
}

// stop ends a daemon that the program has started and a test has left running.
func (d *driver) stop() {
	cmd := exec.Command("ironcurtain-mux", "stop", "--now")
	cmd.Env = environment(d.home, cacheDirectory(d.t))
	if out, err := cmd.CombinedOutput(); err != nil && !strings.Contains(string(out), "no daemon runs") {
		d.t.Errorf("stop the daemon: %v: %s", err, out)
	}
}

func (d *driver) state(parts ...string) string {
	return filepath.Join(append([]string{d.home, "state"}, parts...)...)
}

// made reports whether an agent has made a file of that name in its own workspace.
func (d *driver) made(name string) bool {
	d.t.Helper()
	return slices.ContainsFunc(d.works(), func(w work) bool {
		_, there := w.read(name)
		return there
	})
}

// make makes an empty file of that name in every session's own workspace, and unmake removes them.
func (d *driver) make(name string) {
	d.t.Helper()
	for _, w := range d.works() {
		if w.engine == nil || w.runs() {
			w.add(name, "")
		}
	}
}

func (d *driver) unmake(name string) {
	d.t.Helper()
	for _, w := range d.works() {
		w.remove(name)
	}
}

// works are the sessions' own workspaces, once there is one.
func (d *driver) works() (all []work) {
	d.t.Helper()
	for _, dir := range d.sandboxes() {
		all = append(all, workOf(d.t, broker.Session{ID: broker.SessionID(filepath.Base(filepath.Dir(dir))), Workspace: dir}))
	}
	return all
}

// sandboxes are the sessions' own workspaces, once there is one.
func (d *driver) sandboxes() (all []string) {
	d.t.Helper()
	if !eventually(patience, func() bool {
		all, _ = filepath.Glob(d.state("sessions", "*", "sandbox")) // the pattern is ours
		return len(all) > 0
	}) {
		d.t.Fatal("no session has a workspace of its own")
	}
	return all
}

func (d *driver) pump() {
	defer close(d.read)
	buf := make([]byte, 32<<10)
	for {
		n, err := d.pty.Read(buf)
		if tap := d.tap.Load(); tap != nil {
			(*tap)(buf[:n])
		}
		switch {
		case n > 0 && d.down != nil:
			d.down.put(buf[:n])
		case n > 0:
			d.receive(buf[:n])
		}
		if err != nil {
			if d.down != nil {
				d.down.close()
				d.up.close()
			}
			return
		}
	}
}

// receive is what the person's terminal gets.
func (d *driver) receive(data []byte) {
	_, _ = d.screen.Write(data)
	if answers := d.screen.TakeReplies(); len(answers) > 0 {
		if d.up != nil {
			d.up.put(answers)
		} else {
			d.input(answers)
		}
	}
}

// input is what the program gets from it.
func (d *driver) input(data []byte) { _, _ = d.pty.Write(data) }

// text is what the screen shows.
func (d *driver) text() string {
	var f term.Frame
	d.screen.Snapshot(&f, 0)
	var b strings.Builder
	for _, line := range f.Lines {
		var row strings.Builder
		for _, c := range line.Cells {
			switch {
			case c.Width == 0:
			case c.Rune == 0:
				row.WriteByte(' ')
			default:
				row.WriteRune(c.Rune)
				row.WriteString(c.Marks)
			}
		}
		b.WriteString(strings.TrimRight(row.String(), " "))
		b.WriteByte('\n')
	}
	return b.String()
}

// says reports whether the screen has all the texts, wherever their lines break.
func (d *driver) says(texts ...string) bool {
	blank := regexp.MustCompile(`[\s─-▟]+`) // and lines, which may be at the edge
	screen := blank.ReplaceAllString(d.text(), "")
	for _, text := range texts {
		if !strings.Contains(screen, blank.ReplaceAllString(text, "")) {
			return false
		}
	}
	return true
}

// until waits until the screen shows what holds asks for. At least nine tenths of the
// time are left to those who are waited for.
func (d *driver) until(what string, limit time.Duration, holds func(screen string) bool) {
	d.t.Helper()
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	again := time.NewTicker(100 * time.Millisecond) // what holds asks for may not be on the screen
	defer again.Stop()
	for {
		began := time.Now()
		if holds(d.text()) {
			return
		}
		<-time.After(min(9*time.Since(began), time.Second))
		select {
		case <-d.screen.Changed():
		case <-again.C:
		case <-d.read:
			if holds(d.text()) {
				return
			}
			d.t.Fatalf("the program ended while %s was waited for; its screen:\n%s", what, d.text())
		case <-deadline.C:
			d.t.Fatalf("%s did not show within %v; the screen:\n%s", what, limit, d.text())
		}
	}
}

// see waits until the screen shows all the texts.
func (d *driver) see(limit time.Duration, texts ...string) {
	d.t.Helper()
	d.until(fmt.Sprintf("%q", texts), limit, func(screen string) bool {
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	})
}

// inTab waits until a tab is in front, as the title of the window says, and shows all the texts. A
// new tab is in the bar before what is typed goes to it.
func (d *driver) inTab(n int, texts ...string) {
	d.t.Helper()
	d.until(fmt.Sprintf("tab %d in front", n), patience, func(string) bool {
		return strings.Contains(d.screen.Title(), fmt.Sprintf(" · %d ", n))
	})
	d.see(patience, texts...)
}

// send types keys.
func (d *driver) send(keys string) {
	d.t.Helper()
	if d.up != nil {
		d.up.put([]byte(keys))
		return
	}
	if _, err := d.pty.Write([]byte(keys)); err != nil {
		d.t.Fatalf("type %q: %v", keys, err)
	}
}

// ask types a prompt into Claude Code and submits it once the agent shows it:
// text and Enter in one burst would be a paste.
func (d *driver) ask(prompt string) {
	d.t.Helper()
	d.send(prompt)
	tail := prompt[max(0, len(prompt)-12):]
	d.see(patience, tail)
	d.send("\r")
}

// exit waits until the program has ended and returns its code.
func (d *driver) exit(limit time.Duration) int {
	d.t.Helper()
	select {
	case <-d.read:
	case <-time.After(limit):
		d.t.Fatalf("the program did not end within %v; its screen:\n%s\nand what it was doing:\n%s", limit, d.text(), d.stacks())
	}
	return d.pty.Wait()
}

// stacks ends a program that hangs and returns where its goroutines stood, as
// far as it was framed or wrote on its screen.
func (d *driver) stacks() string {
	_ = d.pty.Signal(syscall.SIGQUIT)
	if pid, err := strconv.Atoi(d.note("pid")); err == nil {
		_ = syscall.Kill(pid, syscall.SIGQUIT)
	}
	select {
	case <-d.read:
	case <-time.After(10 * time.Second):
	}
	return d.note("stderr")
}

// takesTerminal returns a channel that is closed when a view takes the terminal the next time.
func (d *driver) takesTerminal() <-chan struct{} {
	const alternate = "\x1b[?1049h"
	taken := make(chan struct{})
	var tail []byte
	tap := func(data []byte) {
		tail = append(tail, data...)
		if bytes.Contains(tail, []byte(alternate)) {
			d.tap.Store(nil)
			close(taken)
		}
		tail = tail[max(0, len(tail)-len(alternate)):]
	}
	d.tap.Store(&tap)
	return taken
}

// signal sends the program a signal.
func (d *driver) signal(s syscall.Signal) {
	d.t.Helper()
	if err := d.pty.Signal(s); err != nil {
		d.t.Fatal(err)
	}
}

// command runs another command of the program on the same state.
func (d *driver) command(args ...string) (stdout, stderr string, code int) {
	d.t.Helper()
	cmd := exec.CommandContext(d.t.Context(), "ironcurtain-mux", args...)
	cmd.Env = environment(d.home, cacheDirectory(d.t))
	cmd.Dir = d.home
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if cmd.ProcessState == nil {
		d.t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}
