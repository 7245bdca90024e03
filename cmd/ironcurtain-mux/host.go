package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
)

// hostFlag runs the rest of the command line on another machine. It must come first, because the
// program there may have other flags than this one.
const hostFlag = "host"

// errHostPlace is the error if hostFlag does not come first.
var errHostPlace = cli.Usagef("--%s comes first, as in 'ironcurtain-mux --%[1]s NAME attach' (what follows is for the program there)", hostFlag)

// hostOf splits a command line for another machine into its name and the rest.
func hostOf(args []string) (host string, rest []string, ok bool) {
	if len(args) == 0 {
		return "", nil, false
	}
	if host, ok = strings.CutPrefix(args[0], "--"+hostFlag+"="); ok {
		return host, args[1:], true
	}
	if args[0] != "--"+hostFlag {
		return "", nil, false
	}
	if len(args) == 1 {
		return "", nil, true
	}
	return args[1], args[2:], true
}

// overSSH replaces this process by ssh, so that nothing is between ssh and the terminal. It
// returns only an error.
func overSSH(host string, args []string, stdin io.Reader, stdout io.Writer) error {
	const op = "run on another machine"
	if host == "" || strings.HasPrefix(host, "-") { // ssh would take it for an option
		err := fmt.Errorf("%q is not the name of a machine", host)
		return &cli.UsageError{Err: cli.Fail(op, err, "give a name as ssh takes it: ironcurtain-mux --host NAME")}
	}
	ssh, err := exec.LookPath("ssh")
	if err != nil {
		return cli.Fail(op, errors.New("there is no ssh on the PATH"), "install OpenSSH's client")
	}
	argv := []string{"ssh"}
	if cli.TerminalIn(stdin) != nil && cli.TerminalIn(stdout) != nil {
		argv = append(argv, "-t")
	}
	argv = append(argv, "--", host, remoteCommand(host, args))
	return cli.Fail(op, syscall.Exec(ssh, argv, os.Environ()), "") //nolint:gosec // no shell reads it here, and -- ends the options
}

// remoteScript is what sh runs on the other machine. Its arguments are the message for a missing
// program, the version here, and the program's arguments. It also looks where 'make install' puts
// the program, because the PATH of ssh commands often lacks that directory.
const remoteScript = `has() { command -v ironcurtain-mux >/dev/null; }; ` +
	`has || PATH=$PATH:$HOME/.local/bin; ` +
	`has || { echo "$1" >&2; exit 127; }; ` +
	`export PATH ` + callerVariable + `="$2"; shift 2; exec ironcurtain-mux "$@"`

// remoteCommand is the command line with which the login shell of another machine runs the program.
func remoteCommand(host string, args []string) string {
	missing := "ironcurtain-mux: " + cli.SafeName(host) + " has no ironcurtain-mux on the PATH of ssh commands, nor in ~/.local/bin (install it there, in /usr/local/bin for example)"
	words := append([]string{"sh", "-c", remoteScript, "sh", missing, cli.ThisBuild().Version}, args...)
	line := "exec"
	for _, w := range words {
		line += " " + quote(w)
	}
	return line
}

// quote quotes a word for POSIX shells and fish. Within single quotes fish interprets ' and \
// differently, so these two are written in double quotes.
func quote(word string) string {
	return "'" + strings.NewReplacer(`'`, `'"'"'`, `\`, `'"\\"'`).Replace(word) + "'"
}

// callerVariable contains the version of the program that runs this one from another machine.
const callerVariable = "IRONCURTAIN_CALLER"

// warnOtherVersion warns a person who comes from another machine that the program there has
// another version.
func warnOtherVersion(stderr io.Writer) {
	there, called := os.LookupEnv(callerVariable)
	_ = os.Unsetenv(callerVariable) // other programs must not get it
	if here := cli.ThisBuild().Version; called && there != here {
		name, _ := os.Hostname()
		fmt.Fprintf(stderr, "ironcurtain-mux: %s has version %s, and the machine you come from %s (install one version on both if something is missing)\n",
			cli.SafeName(name), cli.SafeName(here), cli.SafeName(there))
	}
}
