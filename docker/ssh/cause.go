package ssh

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// Kinds of errors; test with errors.Is.
var (
	ErrUnreachable = errors.New("ssh does not reach the machine")
	ErrPermission  = errors.New("the user there may not connect to the socket")
	ErrNotRunning  = errors.New("nobody listens at the socket there")
)

// Error says why ssh does not reach the socket. Options.Explain may translate it.
type Error struct {
	Op    string // what was attempted; may be empty
	Kind  error  // ErrUnreachable, ErrPermission or ErrNotRunning
	Cause string // why it failed: one line, safe to show
	Next  string // what to do next
}

// Error returns operation, kind and cause in one line.
func (e *Error) Error() string {
	said := e.Kind.Error() + ": " + e.Cause
	if e.Op == "" {
		return said
	}
	return e.Op + ": " + said
}

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.Kind }

// Hint returns the next step.
func (e *Error) Hint() string { return e.Next }

// diagnoses map parts of the messages of ssh, and of the programs that it runs, to kinds of errors.
// The first match counts. In next, %s stands for the command that reaches the machine.
var diagnoses = []struct {
	said string
	kind error
	next string
	// permanent says that trying again does not help, and that the machine may lock out who tries.
	permanent bool
}{
	{"REMOTE HOST IDENTIFICATION HAS CHANGED", ErrUnreachable, "find out why; if it is right, remove the old key with 'ssh-keygen -R', and run '%s' once in a terminal", true},
	{"Host key verification failed", ErrUnreachable, "run '%s' once in a terminal, and compare the machine's key", true},
	{"Permission denied (", ErrUnreachable, "load your key with 'ssh-add', and check that '%s' works without asking", true},
	{"Too many authentication failures", ErrUnreachable, "name the key of that machine in ~/.ssh/config (IdentityFile, IdentitiesOnly yes)", true},
	{"Bad owner or permissions", ErrUnreachable, "repair your ssh configuration", true},
	{"Bad configuration option", ErrUnreachable, "repair your ssh configuration", true},
	{"terminating,", ErrUnreachable, "repair your ssh configuration", true},
	{"Could not resolve hostname", ErrUnreachable, "correct the name, or add it to ~/.ssh/config", false},
	{"connect: permission denied", ErrPermission, "let the user there use the engine, for example by adding it to the group docker", true},
	{"Is the docker daemon running", ErrNotRunning, "start the engine there", false},
	{"failed to open the raw stream connection", ErrNotRunning, "start the engine there", false},
}

// How much of ssh's last output an error contains.
const (
	lastLines = 2
	lastLimit = 400 // bytes
)

// noCommand is the exit code of a shell that does not find a command.
const noCommand = 127

// failure explains why an ssh has ended. said is what it printed. permanent reports that trying
// again does not help.
func (t Target) failure(said string, ended error) (permanent bool, err *Error) {
	op := "reach " + t.String()
	var exit *exec.ExitError
	if errors.As(ended, &exit) && exit.ExitCode() == noCommand {
		return true, &Error{
			Op: op, Kind: ErrUnreachable, Cause: "its ssh server forwards no sockets, and it has no docker command: " + lastOutput(said),
			Next: "allow its ssh server to forward sockets (AllowStreamLocalForwarding yes), or install the docker command there",
		}
	}
	cause := lastOutput(said)
	switch {
	case cause != "":
	case ended == nil:
		cause = "ssh ended without a message"
	case exit != nil:
		cause = "ssh ended without a message: " + ended.Error()
	default:
		cause = ended.Error()
	}
	for _, d := range diagnoses {
		if !strings.Contains(said, d.said) {
			continue
		}
		next := d.next
		if strings.Contains(next, "%s") {
			next = fmt.Sprintf(next, t.command())
		}
		if d.said == diagnoses[0].said {
			cause = "the machine's key has changed"
		}
		return d.permanent, &Error{Op: op, Kind: d.kind, Cause: cause, Next: next}
	}
	return false, &Error{Op: op, Kind: ErrUnreachable, Cause: cause, Next: "run '" + t.command() + "' in a terminal to see why"}
}

// lastOutput returns the last meaningful lines that ssh printed, as one line. They have the reason.
func lastOutput(said string) string {
	var kept []string
	for line := range strings.Lines(said) {
		line = strings.Trim(strings.Join(strings.Fields(line), " "), "@ ")
		if line != "" && !strings.HasPrefix(line, "bind ") && !strings.HasPrefix(line, "channel_setup_fwd_listener") {
			kept = append(kept, line)
		}
	}
	return text.Readable(strings.Join(kept[max(0, len(kept)-lastLines):], "; "), lastLimit)
}

// tailLimit is how many bytes of what ssh prints are kept.
const tailLimit = 4 << 10
