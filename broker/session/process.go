package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/builtin"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/desk"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/bounded"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// OwnAgent is what the built-in agent needs, which runs in a locked process of this machine.
type OwnAgent struct {
	// Find returns the path of the agent's executable. It fails if that or the executable of the
	// isolate is not installed. It is called each time, because both can be installed later.
	Find func() (string, error)
	// OnTerminal starts a program on a terminal in raw mode. files are open in it, from descriptor 3
	// on.
	OnTerminal func(ctx context.Context, argv, env []string, cols, rows int, files ...*os.File) (HostTerminal, error)
}

// Check returns an error if the agent cannot run.
func (o OwnAgent) Check() error {
	if o.Find == nil || o.OnTerminal == nil {
		return errNotInstalled
	} else if _, err := o.Find(); err != nil {
		return errNotInstalled
	}
	return nil
}

var errNotInstalled = fault.New("run 'make build', or install them beside this program", "the built-in agent needs the programs ironcurtain-mux-ask and ironcurtain-mux-code")

// processEnvironment is the environment of the agent's process. The locked process cannot open files,
// so TZ and GOMAXPROCS keep Go's runtime from reading the time zone and the limit of processors from
// files. With two processors the agent can draw while it reads a long answer.
var processEnvironment = []string{"TERM=xterm-256color", "COLORTERM=truecolor", "TZ=UTC", "GOMAXPROCS=2", "GOTRACEBACK=none"}

// startProcess starts an agent in a locked process of this machine. It uses the same two proxies as an
// agent in a container, but gets open connections instead of mounted sockets.
func (s *Session) startProcess(ctx context.Context, stack *teardown) (program, error) {
	if err := s.deps.Config.Own.Check(); err != nil {
		return nil, err
	}
	s.progress("preparing the session", "")
	if err := s.prepare(ctx, stack); err != nil {
		return nil, err
	}
	log, err := s.openAudit(stack)
	if err != nil {
		return nil, err
	}
	if err := s.restoreWaiting(ctx, stack, log); err != nil { // the agent continues its conversation
		return nil, err
	}
	if err := s.restoreGrants(ctx, log); err != nil {
		return nil, err
	}
	way, err := s.serve(ctx, stack, log)
	if err != nil {
		return nil, err
	}
	own := &ownProcess{session: s, settings: s.settingsFor(way)}
	if s.idle {
		return newTaskProcess(own), nil
	}
	s.progress("starting the agent", "")
	return own.onTerminal(ctx, log)
}

// settingsFor returns the agent's settings.
func (s *Session) settingsFor(way provider) builtin.Settings {
	set := builtin.Settings{CA: string(way.certificate), Models: map[string]builtin.Way{}, NoColor: hasVariable(s.opener.Environment, "NO_COLOR")}
	for name, sentinel := range way.sentinels {
		set.Models[name] = builtin.Way{Key: sentinel, Model: agent.BuiltinModels[name]}
		set.Model = name + "/" + agent.BuiltinModels[name]
	}
	if wanted := s.deps.Config.Models[s.adapter.Name]; wanted != "" {
		set.Model = wanted
	}
	return set
}

// hasVariable reports whether a variable of that name is in an environment and not empty.
func hasVariable(environment []string, name string) bool {
	for _, variable := range environment {
		if value, is := strings.CutPrefix(variable, name+"="); is && value != "" {
			return true
		}
	}
	return false
}

// ownProcess starts processes of a session's agent.
type ownProcess struct {
	session  *Session
	settings builtin.Settings
}

// handed is what a process gets at its start: its desk, and open files for the connection to its tools
// and for its conversation.
type handed struct {
	desk  *desk.Host
	files []*os.File
}

// close closes the desk. Closing the files is up to the caller of hand.
func (h *handed) close() error { return h.desk.Close() }

// hand prepares what a process gets at its start. The caller closes the files after starting it.
func (p *ownProcess) hand(ctx context.Context, settings builtin.Settings) (h *handed, err error) {
	s := p.session
	d, err := desk.Open(settings)
	if err != nil {
		return nil, err
	}
	h = &handed{desk: d, files: []*os.File{d.Process}}
	defer func() {
		if err != nil {
			closeAll(h.files)
			_ = d.Close()
		}
	}()
	tools, err := dialSocket(ctx, s.layout.ToolSocket())
	if err != nil {
		return nil, fmt.Errorf("connect the agent to its tools: %w", err)
	}
	file, err := desk.Descriptor(tools)
	if err := errors.Join(err, tools.Close()); err != nil {
		return nil, fmt.Errorf("connect the agent to its tools: %w", err)
	}
	h.files = append(h.files, file)
	history, err := os.OpenFile(filepath.Join(s.layout.Home(), agent.BuiltinHistory), os.O_RDWR|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the conversation: %w", err)
	}
	h.files = append(h.files, history)
	d.Serve(s.deps.Context, func(ctx context.Context) (*net.UnixConn, error) { return dialSocket(ctx, s.layout.ProxySocket()) })
	return h, nil
}

func dialSocket(ctx context.Context, path string) (*net.UnixConn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	return conn.(*net.UnixConn), nil //nolint:forcetypeassert // the network is "unix"
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// onTerminal starts the agent on a terminal.
func (p *ownProcess) onTerminal(ctx context.Context, log *audit.Log) (program, error) {
	s := p.session
	path, err := s.deps.Config.Own.Find()
	if err != nil {
		return nil, err
	}
	h, err := p.hand(ctx, p.settings)
	if err != nil {
		return nil, err
	}
	defer closeAll(h.files)
	if err := log.Append(ctx, audit.Record{
		Plane: audit.PlaneHost, Decision: audit.Noted, Session: s.fixed.ID, Reason: "the built-in agent was started in a locked process",
	}); err != nil {
		return nil, errors.Join(err, h.close())
	}
	terminal, err := s.deps.Config.Own.OnTerminal(s.deps.Context, []string{path, builtin.Command}, processEnvironment, s.cols, s.rows, h.files...)
	if err != nil {
		return nil, errors.Join(err, h.close())
	}
	return &atDesk{hostProgram{terminal}, h}, nil
}

// atDesk is an agent on a terminal with its desk.
type atDesk struct {
	hostProgram
	handed *handed
}

func (a *atDesk) Remove(ctx context.Context) error {
	return errors.Join(a.hostProgram.Remove(ctx), a.handed.close())
}

// taskProcess is the program of a session whose agent gets tasks. It starts a process for each task.
type taskProcess struct {
	*ownProcess
	life    context.Context // ends with Remove
	end     context.CancelCauseFunc
	running sync.Mutex // held while a process runs
}

func newTaskProcess(p *ownProcess) *taskProcess {
	t := &taskProcess{ownProcess: p}
	t.life, t.end = context.WithCancelCause(context.Background())
	return t
}

// Read blocks until Remove, because there is no terminal.
func (t *taskProcess) Read([]byte) (int, error) {
	<-t.life.Done()
	return 0, io.EOF
}

func (t *taskProcess) Write(b []byte) (int, error)            { return len(b), nil }
func (t *taskProcess) Resize(context.Context, int, int) error { return nil }

func (t *taskProcess) Wait(ctx context.Context) (docker.Exit, error) {
	<-ctx.Done()
	return docker.Exit{}, context.Cause(ctx)
}

// Remove kills the process of a running task and waits for its end.
func (t *taskProcess) Remove(context.Context) error {
	t.end(errors.New("the session was ended"))
	t.running.Lock()
	defer t.running.Unlock()
	return nil
}

// maxTaskOutput bounds what a process prints for a task, in bytes.
const maxTaskOutput = 1 << 20

// run carries out one task and returns the output and the exit code of its process.
func (t *taskProcess) run(ctx context.Context, task string) (out string, code int, err error) {
	t.running.Lock()
	defer t.running.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(t.life, func() { cancel(context.Cause(t.life)) })()
	settings := t.settings
	settings.Task = task
	path, err := t.session.deps.Config.Own.Find()
	if err != nil {
		return "", 0, err
	}
	h, err := t.hand(ctx, settings)
	if err != nil {
		return "", 0, err
	}
	cmd := exec.CommandContext(ctx, path, builtin.Command)
	stdout, stderr := &bounded.Buffer{Most: maxTaskOutput}, &bounded.Buffer{Most: maxTaskOutput}
	cmd.Env, cmd.Dir, cmd.ExtraFiles, cmd.WaitDelay = processEnvironment, "/", h.files, time.Second
	cmd.Stdout, cmd.Stderr = stdout, stderr
	err = cmd.Start()
	closeAll(h.files)
	if err == nil {
		err = cmd.Wait()
	}
	err = errors.Join(err, h.close())
	if ctx.Err() != nil {
		return "", 0, context.Cause(ctx)
	}
	exit := (*exec.ExitError)(nil)
	if errors.As(err, &exit) {
		code, err = exit.ExitCode(), nil
	}
	out = stdout.String()
	if code != 0 && strings.TrimSpace(out) == "" {
		out = stderr.String() // it says why the process failed
	}
	return out, code, err
}
