package ssh

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// Kinds of errors; test with errors.Is.
var (
	ErrUnreachable = errors.New("ssh does not reach the machine")
	ErrPermission  = errors.New("the user there may not connect to the socket")
	ErrNotRunning  = errors.New("nobody listens at the socket there")
)

// Error is why ssh does not lead to the socket. Options.Explain can make another one of it.
type Error struct {
	Op    string // what was attempted; may be empty
	Kind  error  // ErrUnreachable, ErrPermission or ErrNotRunning
	Cause string // why it failed, on one line that shows as it is
	Next  string // what to do next
}

// Error is operation, kind and cause in one line.
func (e *Error) Error() string {
	said := e.Kind.Error() + ": " + e.Cause
	if e.Op == "" {
		return said
	}
	return e.Op + ": " + said
}

// Unwrap is the kind.
func (e *Error) Unwrap() error { return e.Kind }

// Hint is the next step.
func (e *Error) Hint() string { return e.Next }

// words are how ssh and what it runs say why they fail, and what that means. The first that is
// found counts. In the next step, %s is the command that reaches the machine.
var words = []struct {
	said string
	kind error
	next string
	// stays says that trying again changes nothing, and that the machine may lock out whoever does.
	stays bool
}{
	{"REMOTE HOST IDENTIFICATION HAS CHANGED", ErrUnreachable, "find out why; if it is right, remove the old key with 'ssh-keygen -R', and run '%s' once in a terminal", true},
	{"Host key verification failed", ErrUnreachable, "run '%s' once in a terminal, and compare the machine's key", true},
	{"Permission denied (", ErrUnreachable, "load your key with 'ssh-add', and see that '%s' works without a question", true},
	{"Too many authentication failures", ErrUnreachable, "name the key of that machine in ~/.ssh/config (IdentityFile, IdentitiesOnly yes)", true},
	{"Bad owner or permissions", ErrUnreachable, "repair your configuration of ssh", true},
	{"Bad configuration option", ErrUnreachable, "repair your configuration of ssh", true},
	{"terminating,", ErrUnreachable, "repair your configuration of ssh", true},
	{"Could not resolve hostname", ErrUnreachable, "correct the name, or add it to ~/.ssh/config", false},
	{"connect: permission denied", ErrPermission, "let the user there use the engine, for example by adding it to the group docker", true},
	{"Is the docker daemon running", ErrNotRunning, "start the engine there", false},
	{"failed to open the raw stream connection", ErrNotRunning, "start the engine there", false},
}

// lastLines and lastLimit are how much of ssh's last words is in an error: lines, bytes.
const (
	lastLines = 2
	lastLimit = 400
)

// noCommand is the code with which a shell ends that does not find a command.
const noCommand = 127

// failure explains why a program of ssh has ended, and says whether trying again changes nothing.
func (t Target) failure(said string, ended error) (stays bool, err *Error) {
	op := "reach " + t.String()
	var exit *exec.ExitError
	if errors.As(ended, &exit) && exit.ExitCode() == noCommand {
		return true, &Error{
			Op: op, Kind: ErrUnreachable, Cause: "its server forwards no socket, and it has no docker command: " + lastWords(said),
			Next: "let the server there forward sockets (AllowStreamLocalForwarding yes), or install the docker command there",
		}
	}
	cause := lastWords(said)
	switch {
	case cause != "":
	case ended == nil:
		cause = "ssh has ended without a word"
	case exit != nil:
		cause = "ssh has ended without a word: " + ended.Error()
	default:
		cause = ended.Error()
	}
	for _, w := range words {
		if !strings.Contains(said, w.said) {
			continue
		}
		next := w.next
		if strings.Contains(next, "%s") {
			next = fmt.Sprintf(next, t.command())
		}
		if w.said == words[0].said {
			cause = "the machine's key has changed"
		}
		return w.stays, &Error{Op: op, Kind: w.kind, Cause: cause, Next: next}
	}
	return false, &Error{Op: op, Kind: ErrUnreachable, Cause: cause, Next: "see what '" + t.command() + "' says in a terminal"}
}

// lastWords returns the last lines that tell something, on one line. ssh says the reason last.
func lastWords(said string) string {
	var kept []string
	for line := range strings.Lines(said) {
		line = strings.Trim(strings.Join(strings.Fields(line), " "), "@ ")
		if line != "" && !strings.HasPrefix(line, "bind ") && !strings.HasPrefix(line, "channel_setup_fwd_listener") {
			kept = append(kept, line)
		}
	}
	return text.Readable(strings.Join(kept[max(0, len(kept)-lastLines):], "; "), lastLimit)
}

// tail keeps the last bytes of what is written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

// tailLimit is the number of bytes of a tail.
const tailLimit = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p[max(0, len(p)-tailLimit):]...)
	t.kept = t.kept[max(0, len(t.kept)-tailLimit):]
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.kept)
}
