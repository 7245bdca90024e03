package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
)

// framed runs a command line as a person's shell would and notes what the
// terminal was like before and after.
const framed = `stty -g >before
bash -c 'echo $$ >pid; exec "$@"' bash "$@" 2>stderr
echo $? >code
stty -g >after`

// driveFramed starts a command line in a terminal that outlives it.
func driveFramed(t *testing.T, home string, cols, rows int, argv ...string) *driver {
	t.Helper()
	return driveArgv(t, home, cols, rows, append([]string{"bash", "-c", framed, "bash"}, argv...)...)
}

// note is what a framed command line left in a file, or an empty string.
func (d *driver) note(name string) string {
	text, err := os.ReadFile(filepath.Join(d.home, name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// kill sends a signal to the framed program alone.
func (d *driver) kill(s syscall.Signal) {
	d.t.Helper()
	pid, err := strconv.Atoi(d.note("pid"))
	if err != nil {
		d.t.Fatal(err)
	}
	if err := syscall.Kill(pid, s); err != nil {
		d.t.Fatal(err)
	}
}

// ended waits for the framed program, checks that the terminal is as it was
// before, and returns the program's exit code and what it complained about.
func (d *driver) ended(limit time.Duration) (code int, stderr string) {
	d.t.Helper()
	d.exit(limit)
	if before, after := d.note("before"), d.note("after"); before == "" || before != after {
		d.t.Errorf("the terminal's settings were %q and are %q", before, after)
	}
	fresh, err := term.NewScreen(term.Options{Cols: 80, Rows: 24})
	if err != nil {
		d.t.Fatal(err)
	}
	defer fresh.Close()
	if got, want := d.screen.Modes(), fresh.Modes(); got != want {
		d.t.Errorf("the terminal's modes are %+v, want %+v", got, want)
	}
	var f term.Frame
	if d.screen.Snapshot(&f, 0); !f.Cursor.Visible {
		d.t.Error("the cursor is hidden")
	}
	if code, err = strconv.Atoi(d.note("code")); err != nil {
		d.t.Fatalf("no exit code: %v", err)
	}
	return code, d.note("stderr")
}

// traceless checks that nothing runs or waits any more on this state directory:
// no container, no process, no socket and no directory of a running session.
func (d *driver) traceless() {
	d.t.Helper()
	all, err := engine(d.t).List(context.Background(), nil)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, c := range all {
		if strings.HasPrefix(c.Labels[docker.LabelLease], d.home+"/") {
			d.t.Errorf("a container is left: %s, %s", c.Name, c.State)
		}
	}
	// A daemon in which nothing runs waits for somebody.
	if _, errs, code := d.command("stop"); code != cli.ExitOK && !strings.Contains(errs, "no daemon runs") {
		d.t.Errorf("stop exits %d: %s", code, errs)
	}
	if !eventually(time.Minute, func() bool { return d.daemon() == 0 }) {
		d.t.Error("the daemon runs on")
	}
	// What a killed multiplexer had started sees its end and follows on its own.
	if !eventually(time.Minute, func() bool { return len(processesOf(d.home)) == 0 }) {
		d.t.Errorf("processes are left: %q", processesOf(d.home))
	}
	entries, _ := os.ReadDir(d.state("run"))
	for _, e := range entries {
		switch name := e.Name(); {
		case strings.HasSuffix(name, ".lock"), strings.HasSuffix(name, ".starting"), name == "taken-back", name == "stood-down":
		case name == "daemon.sock": // of one that was killed
		default:
			d.t.Errorf("left in run: %s", name)
		}
	}
}

// processesOf lists the command lines that name a directory.
func processesOf(dir string) []string {
	var found []string
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range all {
		text, err := os.ReadFile(path) // a process that has ended meanwhile has none
		if line := strings.ReplaceAll(string(text), "\x00", " "); err == nil && strings.Contains(line, dir+"/") {
			found = append(found, line)
		}
	}
	return found
}

// run is the directory of a session's sockets.
func (d *driver) run(id broker.SessionID) string {
	return d.state("run", strings.ReplaceAll(id, "-", "")[:12])
}

// scratch is the directory of a session's sandboxes, or an empty string while
// there is none.
func (d *driver) scratch(id broker.SessionID) string {
	dir, _ := os.Readlink(filepath.Join(d.run(id), "scratch"))
	return dir
}

// openShell starts the demo with a shell in its tab and waits for its prompt.
func openShell(t *testing.T, home string) *driver {
	t.Helper()
	d := driveFramed(t, home, 100, 24, "ironcurtain-mux", "demo", "--agent", "shell")
	d.see(patience, "/workspace$")
	return d
}

// Every way out gives the terminal back, takes down what ran and leaves a
// record that is whole.
func TestEnd(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*driver){
		"stop": (*driver).stop,
		"quit": func(d *driver) {
			d.send("\x01/quit\r")
			d.see(patience, "end all and quit?")
			d.send("y")
		},
		"quit without asking": func(d *driver) { d.send("\x01/quit!\r") },
		"the agent ended": func(d *driver) {
			d.send("exit 3\r")
			d.see(patience, "ended with code 3")
			d.send("\x01/quit\r")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := openShell(t, newHome(t))
			s := d.onlySession()
			end(d)
			code, complaint := d.ended(2 * time.Minute)
			want := "ended; 'ironcurtain-mux sessions resume " + broker.ShortID(broker.SessionID(s.ID)) + "' continues shell"
			if name == "stop" {
				want = "the multiplexer was ended"
			}
			if code != cli.ExitOK || complaint != want {
				t.Errorf("exit code %d, %s", code, complaint)
			}
			d.nothingLeft(s.ID)
			d.traceless()
			d.audit(s.ID)
		})
	}
}

// What is only half made when the end comes is taken down all the same.
func TestEndWhileStarting(t *testing.T) {
	t.Parallel()
	d := driveFramed(t, newHome(t), 100, 24, "ironcurtain-mux", "demo", "--agent", "shell")
	d.see(patience, "starting shell")
	d.stop()
	if code, complaint := d.ended(2 * time.Minute); code != cli.ExitOK || complaint != "the multiplexer was ended" {
		t.Errorf("exit code %d, %s", code, complaint)
	}
	d.traceless()
}

// The window is closed: there is no terminal left to give back. The client ends, and its agent
// runs on until somebody ends it.
func TestHangup(t *testing.T) {
	t.Parallel()
	d := &driver{t: t, home: newHome(t)}
	if err := os.Mkdir(filepath.Join(d.home, "user"), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("ironcurtain-mux", "demo", "--agent", "shell")
	cmd.Env, cmd.Dir = environment(d.home, cacheDirectory(t)), d.home
	master, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 100, Rows: 24})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	// The reading ends with the prompt: a reader would keep the terminal open.
	prompted := make(chan struct{})
	go func() {
		defer close(prompted)
		var seen strings.Builder
		buf := make([]byte, 32<<10)
		for !strings.Contains(seen.String(), "/workspace$") {
			n, err := master.Read(buf)
			if seen.Write(buf[:n]); err != nil {
				return
			}
		}
	}()
	within(t, patience, "the prompt", prompted)
	s := d.onlySession()
	if err := master.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(90 * time.Second):
		_ = cmd.Process.Kill()
		t.Fatal("the program did not end with its terminal")
	}
	if list := containersOf(t, s.ID); len(list) != 1 || !list[0].Running {
		t.Errorf("containers: %+v", list)
	}
	d.stop()
	d.nothingLeft(s.ID)
	d.traceless()
	d.audit(s.ID)
}

// eventually asks again and again until what holds is true.
func eventually(limit time.Duration, holds func() bool) bool {
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for !holds() {
		select {
		case <-again.C:
		case <-deadline.C:
			return false
		}
	}
	return true
}

// within waits for a channel to be closed.
func within(t *testing.T, limit time.Duration, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(limit):
		t.Fatalf("%s did not come within %v", what, limit)
	}
}

// Nobody can clean up after being killed. Whoever comes next does: gc, or
// the next multiplexer.
func TestKilled(t *testing.T) {
	t.Parallel()
	killed := func(t *testing.T) (*driver, broker.Session) {
		t.Helper()
		d := openShell(t, newHome(t))
		s := d.onlySession()
		if !eventually(time.Minute, func() bool { return d.scratch(s.ID) != "" }) {
			t.Fatal("the tool servers have no sandbox")
		}
		d.killAll(false)
		if list, err := engine(t).List(t.Context(), map[string]string{broker.LabelSession: s.ID}); err != nil || len(list) != 1 {
			t.Fatalf("containers of the session: %v, %v", list, err)
		}
		out, errs, code := d.command("pending", "--json")
		if code != cli.ExitOK || out != "{\"pending\":[]}\n" {
			t.Errorf("with a stale control socket: pending exits %d: %s%s", code, out, errs)
		}
		if _, errs, code := d.command("approve", "some-id"); code != cli.ExitFailure || !strings.Contains(errs, "no multiplexer is running") {
			t.Errorf("with a stale control socket: approve exits %d: %s", code, errs)
		}
		out, errs, code = d.command("sessions", "ls", "--json")
		if code != cli.ExitOK || !strings.Contains(out, `"state":"closed"`) {
			t.Errorf("with a stale control socket: sessions exits %d: %s%s", code, out, errs)
		}
		return d, s
	}
	t.Run("gc", func(t *testing.T) {
		t.Parallel()
		d, s := killed(t)
		run, scratch := d.run(s.ID), d.scratch(s.ID)
		out, errs, code := d.command("gc", "--dry-run")
		if code != cli.ExitOK || !strings.Contains(out, run) {
			t.Errorf("gc --dry-run exits %d: %s%s", code, out, errs)
		}
		for _, dir := range []string{run, scratch} {
			if _, err := os.Stat(dir); err != nil {
				t.Errorf("gc --dry-run removed something: %v", err)
			}
		}
		if out, errs, code := d.command("gc"); code != cli.ExitOK || !strings.Contains(out, run) {
			t.Errorf("gc exits %d: %s%s", code, out, errs)
		}
		if _, err := os.Stat(scratch); err == nil {
			t.Errorf("the servers' directory %s is left", scratch)
		}
		d.nothingLeft(s.ID)
		d.traceless()
		d.audit(s.ID)
	})
	t.Run("the next start", func(t *testing.T) {
		t.Parallel()
		d, s := killed(t)
		next := driveFramed(t, d.home, 100, 24, "ironcurtain-mux", "demo", "--agent", "shell")
		next.see(patience, "still run", string(s.ID[:8]))
		next.send("x")
		next.see(patience, "end shell of session")
		next.send("y")
		next.see(patience, "/workspace$")
		left, err := engine(t).List(t.Context(), map[string]string{broker.LabelSession: s.ID})
		if err != nil || len(left) != 0 {
			t.Errorf("containers of the killed session: %v, %v", left, err)
		}
		next.send("\x01/quit!\r")
		if code, complaint := next.ended(2 * time.Minute); code != cli.ExitOK || !strings.HasPrefix(complaint, "ended; ") {
			t.Errorf("exit code %d, %s", code, complaint)
		}
		d.traceless()
		d.audit(s.ID)
	})
}
