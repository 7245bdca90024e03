package docker

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// sshWords are how ssh and what it runs say why they fail, and what that means. The first that is
// found counts. In the next step, %s is the command that reaches the machine.
var sshWords = []struct {
	said string
	kind error
	next string
	// stays says that trying again changes nothing, and that the machine may lock out whoever does.
	stays bool
}{
	{"REMOTE HOST IDENTIFICATION HAS CHANGED", ErrSSH, "find out why; if it is right, remove the old key with 'ssh-keygen -R', and run '%s' once in a terminal", true},
	{"Host key verification failed", ErrSSH, "run '%s' once in a terminal, and compare the machine's key", true},
	{"Permission denied (", ErrSSH, "load your key with 'ssh-add', and see that '%s' works without a question", true},
	{"Too many authentication failures", ErrSSH, "name the key of that machine in ~/.ssh/config (IdentityFile, IdentitiesOnly yes)", true},
	{"Bad owner or permissions", ErrSSH, "repair your configuration of ssh", true},
	{"Bad configuration option", ErrSSH, "repair your configuration of ssh", true},
	{"terminating,", ErrSSH, "repair your configuration of ssh", true},
	{"Could not resolve hostname", ErrSSH, "correct the name, or add it to ~/.ssh/config", false},
	{"connect: permission denied", ErrPermission, "let the user there use the engine, for example by adding it to the group docker", true},
	{"Is the docker daemon running", ErrEngineNotRunning, "start the engine there", false},
	{"failed to open the raw stream connection", ErrEngineNotRunning, "start the engine there", false},
}

// sshLines and sshLimit are how much of ssh's last words is in an error: lines, bytes.
const (
	sshLines = 2
	sshLimit = 400
)

// noCommand is the code with which a shell ends that does not find a command.
const noCommand = 127

// sshFailure explains why a program of ssh has ended, and says whether trying again changes nothing.
func (t sshTarget) sshFailure(said string, ended error) (stays bool, err error) {
	op := "reach " + t.String()
	var exit *exec.ExitError
	if errors.As(ended, &exit) && exit.ExitCode() == noCommand {
		return true, &fault.Error{
			Op: op, Err: because(ErrSSH, "its server forwards no socket, and it has no docker command: %s", lastWords(said)),
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
	for _, w := range sshWords {
		if !strings.Contains(said, w.said) {
			continue
		}
		next := w.next
		if strings.Contains(next, "%s") {
			next = fmt.Sprintf(next, t.command())
		}
		if w.said == sshWords[0].said {
			cause = "the machine's key has changed"
		}
		return w.stays, &fault.Error{Op: op, Err: because(w.kind, "%s", cause), Next: next}
	}
	return false, &fault.Error{Op: op, Err: because(ErrSSH, "%s", cause), Next: "see what '" + t.command() + "' says in a terminal"}
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
	return text.Readable(strings.Join(kept[max(0, len(kept)-sshLines):], "; "), sshLimit)
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
