package session

import (
	"context"
	"fmt"
	"io"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// program is what a session runs on a terminal: an agent's container, a process of the built-in agent
// or, if the configuration allows it, a shell of this machine.
type program interface {
	io.ReadWriter // the terminal's output and input; Read ends after Remove
	Resize(ctx context.Context, cols, rows int) error
	// Wait returns when the program or ctx has ended.
	Wait(ctx context.Context) (docker.Exit, error)
	// Remove ends the program and removes its container.
	Remove(ctx context.Context) error
}

var _ program = (*docker.Container)(nil)

// HostTerminal is a program of this machine on a terminal of its own.
type HostTerminal interface {
	io.ReadWriteCloser // Close ends the program and waits for it
	// TryWrite writes as much as the program accepts without blocking, and returns how many bytes
	// that was.
	TryWrite(p []byte) (int, error)
	Resize(cols, rows int) error
	Done() <-chan struct{} // closed when the program has ended
	Wait() int             // its exit code, 128 plus the number for a signal
}

// HostShell starts the person's shell in dir, with the environment env; nil: that of this process. The
// shell ends when ctx does.
type HostShell func(ctx context.Context, env []string, dir string, cols, rows int) (HostTerminal, error)

// hostNotice is what a tab with a shell of this machine shows all the time.
const hostNotice = "unprotected: a shell of this machine"

// ErrHostShellOff returns the error for opening a shell of this machine if the configuration does not
// allow it.
func ErrHostShellOff() error {
	return fault.New(`allow it with "localShell": true in config.json`,
		"local-shell is off: it is a shell of this machine, without any protection")
}

// startHost opens a shell of this machine, after recording that in the audit. The shell gets no
// proxies, and no policy judges what it does.
func (s *Session) startHost(ctx context.Context, stack *teardown) (program, error) {
	if err := s.claim(); err != nil {
		return nil, err
	}
	if err := s.save(); err != nil {
		return nil, err
	}
	log, err := s.openAudit(stack)
	if err != nil {
		return nil, err
	}
	if err := log.Append(ctx, audit.Record{
		Plane: audit.PlaneHost, Decision: audit.Noted, Session: s.fixed.ID,
		Reason: "a shell of this machine was opened in " + s.fixed.Workspace + ", without container, proxies or policy",
	}); err != nil {
		return nil, err
	}
	terminal, err := s.deps.Config.HostShell(ctx, s.opener.Environment, s.fixed.Workspace, s.cols, s.rows)
	if err != nil {
		return nil, err
	}
	return hostProgram{terminal}, nil
}

// hostProgram adapts a HostTerminal to program.
type hostProgram struct{ HostTerminal }

func (h hostProgram) Resize(_ context.Context, cols, rows int) error {
	return h.HostTerminal.Resize(cols, rows)
}

func (h hostProgram) Wait(ctx context.Context) (docker.Exit, error) {
	select {
	case <-h.Done():
	case <-ctx.Done():
		return docker.Exit{}, context.Cause(ctx)
	}
	exit := docker.Exit{Code: h.HostTerminal.Wait()}
	if exit.Code != 0 {
		exit.Reason = fmt.Sprintf("ended with code %d", exit.Code)
	}
	return exit, nil
}

func (h hostProgram) Remove(context.Context) error { return h.Close() }

// setupScript runs the setup commands $1 and then executes the agent. The commands run on the agent's
// terminal, as the agent's user and with the agent's rights. If they fail, the agent is not started,
// and the tab keeps their output.
const setupScript = `sh -e -c "$1" sh || { code=$?; echo "the setup of this workspace has failed with code $code"; exit "$code"; }
shift
exec "$@"`

// withSetup puts the workspace's setup commands, if config.json has some, before the agent's command.
// They run at every start, because every start makes a new container; files that they make in the
// workspace and in the agent's home are kept.
func (s *Session) withSetup(argv []string) []string {
	commands := s.deps.Config.Setup[stored.RealPath(s.origin())]
	if commands == "" {
		return argv
	}
	return append([]string{"sh", "-c", setupScript, "sh", commands}, argv...)
}
