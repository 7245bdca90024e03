package outer

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// shellScript is a person's shell: it starts the program as a job, has the terminal
// while that is stopped, with its own modes, and brings it back after a line.
const shellScript = `set -m
sh -c 'echo "PID $$."; exec "$0"' "$0"
stty sane; echo STOPPED; read -r line; echo FOREGROUND; fg; echo "ENDED $?."`

var processID = regexp.MustCompile(`PID ([0-9]+)\.`)

// After a stop, and a continuation in the background, the program has the terminal as before when
// the shell brings it to the foreground.
func TestContinuedAfterAStop(t *testing.T) {
	l := newLine(t)
	cmd := exec.CommandContext(t.Context(), "sh", "-c", shellScript, os.Args[0])
	cmd.Env = append(os.Environ(), helperEnv+"=stop", "TERM=xterm-256color")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = l.slave, l.slave, l.slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	l.wait(t, "LISTENS")
	pid, err := strconv.Atoi(processID.FindStringSubmatch(l.text())[1])
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		signal syscall.Signal
		until  string
	}{{unix.SIGSTOP, "STOPPED\r\n"}, {unix.SIGCONT, ""}} {
		if err := unix.Kill(pid, step.signal); err != nil {
			t.Fatal(err)
		}
		l.wait(t, step.until)
	}
	l.send(t, "\n")
	l.wait(t, "BACK")
	mode, err := getTermios(int(l.slave.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if *mode != *raw(*mode) {
		t.Errorf("the line discipline is still the shell's: %+v", mode)
	}
	_, after, found := strings.Cut(l.text(), "FOREGROUND")
	if !found {
		t.Errorf("it took the terminal in the background: %q", l.text())
	}
	for _, mode := range []string{"\x1b[?1049h", "\x1b[?7l", "\x1b[?2004h", "\x1b[?1003h", "\x1b[>7u"} {
		if !strings.Contains(after, mode) {
			t.Errorf("the mode %q is not set again: %q", mode, after)
		}
	}
	if err := unix.Kill(pid, unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	l.wait(t, "ENDED 0.")
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if modes := left(l.text()); len(modes) > 0 {
		t.Errorf("modes are left as %v", modes)
	}
}
