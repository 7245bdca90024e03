package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
)

// The multiplexer of another machine is shown over ssh as one of this machine is. Leaving it, and
// losing ssh, leaves its agents running.
func TestAnotherMachine(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	configure(t, home, `{"localShell":true,"agent":"local-shell"}`)
	d := serveDaemon(t, home, "env", noEngine)
	older := t.TempDir()
	box := startSSHD(t, home, older+":"+os.Getenv("PATH"))
	a := attach(t, home, 80, 24)
	a.see(patience, "here>")
	a.send("\x01/detach\r")
	a.exit(patience)
	a = box.drive("ironcurtain-mux", "--host", "box")
	a.see(patience, "here>")
	// The first key in this view gives the tab its size, while the shell already reads.
	a.send("until test \"$(stty size)\" = '28 110'; do sleep .1; done; echo over$((1+1))\r")
	a.see(patience, "over2")
	if out, errs, code := box.command("ironcurtain-mux", "--host", "box", "clients", "ls"); code != 0 || errs != "" || strings.Count(out, "110x30") != 1 {
		t.Errorf("clients: %d, %s%s", code, out, errs)
	}
	a.send("\x01/detach\r")
	if code := a.exit(patience); code != 0 || !strings.Contains(a.text(), "detached") {
		t.Errorf("detached with %d: %s", code, a.text())
	}
	a = box.drive("ironcurtain-mux", "--host=box", "attach", string(d.onlySession().ID[:8]))
	a.see(patience, "over2", "here>")
	a.signal(syscall.SIGKILL)
	a.exit(patience)
	if !eventually(patience, func() bool { _, errs, _ := d.command("clients", "ls"); return errs == "no client is attached\n" }) {
		t.Error("the client stays without ssh")
	}
	box.programCalledBy(older, "v0.0.1")
	a = box.drive("ironcurtain-mux", "--host", "box", "attach")
	a.see(patience, "over2", "here>")
	if _, errs, code := d.command("stop", "--now"); code != 0 {
		t.Errorf("stop: %d, %s", code, errs)
	}
	if code := a.exit(patience); code != 0 || !strings.Contains(a.text(), "the machine you come from v0.0.1") {
		t.Errorf("a client of another version ends with %d: %s", code, a.text())
	}
	d.exit(patience)
}

// awkward are arguments that a shell would change if they were not quoted.
var awkward = []string{
	"", "a  b", "it's", `"both" 'kinds'`, `\`, `\\`, `\n`, `end\`, `'\''`, `"`, "'", "$HOME ${x} $(id) `id`", "*", "~", "#", "!!",
	"a;b|c&d>e<f", "two\nlines", "\ttab", "{a,b}", "%s", "-x", "--", "--host", "ä€",
}

// printsArguments is a program that prints its arguments, each in brackets.
const printsArguments = `for a in "$@"; do printf '[%s]\n' "$a"; done`

// printed is what it prints for the arguments.
func printed(args []string) string { return "[" + strings.Join(args, "]\n[") + "]\n" }

// The program on the other machine gets its arguments as they were given, and passes input,
// output and the exit code.
func TestTheOtherMachineGetsTheArguments(t *testing.T) {
	t.Parallel()
	home, dir := newHome(t), t.TempDir()
	bin := sshd{t: t}.program(dir, "ironcurtain-mux", printsArguments+"\ncat; echo errors >&2; exit 3")
	box := startSSHD(t, home, bin+":"+os.Getenv("PATH"))
	out, errs, code := box.command(append([]string{"ironcurtain-mux", "--host", "box"}, awkward...)...)
	if code != 3 || errs != "errors\n" || out != printed(awkward) {
		t.Errorf("exits %d, says %q, and has got\n%s", code, errs, out)
	}
	for _, shell := range []string{"sh", "bash"} {
		cmd := exec.Command(shell, "-c", remoteCommand("box", awkward))
		cmd.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH")}
		if out, _ := cmd.Output(); string(out) != printed(awkward) {
			t.Errorf("by %s it has got\n%s", shell, out)
		}
	}
	box.program(dir, "ironcurtain-mux", `echo "home: $IRONCURTAIN_HOME"`)
	if out, errs, _ := box.command("IRONCURTAIN_HOME=/of/the/caller", "ironcurtain-mux", "--host", "box"); !strings.HasPrefix(out, "home: ") || strings.Contains(out, "caller") {
		t.Errorf("it has the home of the caller: %s%s", out, errs)
	}
}

// A person is told when the other machine has not the program, or another version of it.
func TestTheOtherMachineLacksTheProgram(t *testing.T) {
	t.Parallel()
	home, dir := newHome(t), t.TempDir()
	if err := os.Symlink("/bin/sh", filepath.Join(dir, "sh")); err != nil {
		t.Fatal(err)
	}
	box := startSSHD(t, home, dir)
	const missing = "ironcurtain-mux: box has no ironcurtain-mux on the PATH of ssh commands"
	if out, errs, code := box.command("ironcurtain-mux", "--host", "box", "pending"); code != 127 || out != "" || !strings.HasPrefix(errs, missing) || strings.Count(errs, "\n") != 1 {
		t.Errorf("without the program: %d, %s%s", code, out, errs)
	}
	a := box.drive("ironcurtain-mux", "--host", "box")
	if code := a.exit(patience); code != 127 || !strings.Contains(a.text(), "has no ironcurtain-mux") {
		t.Errorf("without the program, in a terminal: %d, %s", code, a.text())
	}
	box.program(filepath.Join(home, "user", ".local", "bin"), "ironcurtain-mux", printsArguments)
	if out, errs, code := box.command("ironcurtain-mux", "--host", "box", "pending"); code != 0 || out != "[pending]\n" || errs != "" {
		t.Errorf("with the program where it is installed: %d, %s%s", code, out, errs)
	}

	box.program(dir, "ironcurtain-mux", "PATH='"+os.Getenv("PATH")+`' exec ironcurtain-mux "$@"`)
	out, errs, code := box.command("ironcurtain-mux", "--host", "box", "version")
	if code != 0 || !strings.HasPrefix(out, "ironcurtain-mux ") || errs != "" {
		t.Errorf("with the same version: %d, %s%s", code, out, errs)
	}
	box.programCalledBy(dir, "v0.0.1")
	out, errs, code = box.command("ironcurtain-mux", "--host", "box", "version")
	if code != 0 || !strings.HasPrefix(out, "ironcurtain-mux ") || !strings.Contains(errs, "the machine you come from v0.0.1") || strings.Count(errs, "\n") != 1 {
		t.Errorf("with another version: %d, %s%s", code, out, errs)
	}
}

// programCalledBy writes the program in a directory, as one of that version calls it.
func (s sshd) programCalledBy(dir, version string) {
	s.t.Helper()
	s.program(dir, "ironcurtain-mux", callerVariable+"="+version+" PATH='"+os.Getenv("PATH")+`' exec ironcurtain-mux "$@"`)
}

// A name cannot be an option of ssh, and comes first.
func TestNamesOfMachines(t *testing.T) {
	for _, args := range [][]string{{"--host"}, {"--host="}, {"--host", ""}, {"--host", "-oProxyCommand=id"}, {"--host=-v", "attach"}} {
		if code, _, errs := invoke(t, args...); code != cli.ExitUsage || !strings.Contains(errs, "is not the name of a machine") {
			t.Errorf("%q: %d, %s", args, code, errs)
		}
	}
	for _, args := range [][]string{{"attach", "--host", "box"}, {"--agent", "shell", "--host", "box"}, {"sessions", "ls", "--host=box"}, {"attach", "--host"}} {
		if code, _, errs := invoke(t, args...); code != cli.ExitUsage || !strings.Contains(errs, "--host comes first") {
			t.Errorf("%q: %d, %s", args, code, errs)
		}
	}
}
