package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
)

// A daemon goes on with its own program when another one is put in its place, and doctor says so.
func TestDoctorTellsOfAReplacedProgram(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	configure(t, home, `{}`)
	program := filepath.Join(t.TempDir(), "ironcurtain-mux")
	putProgram(t, program)
	d := driveArgv(t, home, 80, 24, "env", noEngine, program, "serve")
	d.until("the daemon", patience, func(string) bool { return d.daemon() != 0 })
	pid := d.daemon()
	d.finds(program, "ok", fmt.Sprintf("process %d answers", pid))
	d.finds("ironcurtain-mux", "warn", "it is another program file, "+program)
	putProgram(t, program)
	d.finds(program, "warn", "its program file "+program+" was replaced")

	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	d.finds(program, "fail", fmt.Sprintf("process %d has the socket of the daemon and does not answer", pid))
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := d.command("stop"); code != cli.ExitOK {
		t.Errorf("stop: %d, %s", code, errs)
	}
	d.exit(patience)
	d.finds(program, "ok", "none runs")
}

// putProgram puts a copy of this program at a path, in place of the file that is there.
func putProgram(t *testing.T, path string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	copyExecutable(t, self, path)
}

// finds checks what the doctor of a program says of the daemon.
func (d *driver) finds(program, status, text string) {
	d.t.Helper()
	cmd := exec.CommandContext(d.t.Context(), program, "doctor", "--json")
	cmd.Env, cmd.Dir = environment(d.home, cacheDirectory(d.t)), d.home
	out, _ := cmd.Output() // it fails when something is missing on this machine
	var found struct {
		Checks []struct{ Check, Status, Detail string }
	}
	if err := json.Unmarshal(out, &found); err != nil {
		d.t.Fatalf("%v: %s", err, out)
	}
	for _, c := range found.Checks {
		if c.Check == "daemon" {
			if c.Status != status || !strings.Contains(c.Detail, text) {
				d.t.Errorf("the daemon is %s: %s; want %s, %s", c.Status, c.Detail, status, text)
			}
			return
		}
	}
	d.t.Errorf("doctor does not look at the daemon: %s", out)
}
