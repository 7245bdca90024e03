package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/bounded"
)

// How long Stop waits for the end of a server. Many servers ignore the end of their input.
const (
	closeGrace = 300 * time.Millisecond // after closing its input
	termGrace  = 500 * time.Millisecond // after SIGTERM
)

// Process is a running server. Its output must be read. When Stop returns, its whole process group
// has ended.
type Process struct {
	cmd       *exec.Cmd
	in        io.WriteCloser
	out       *bufio.Reader
	pipe      *os.File // read by out
	errors    *bounded.Tail
	sandboxed bool
	probes    []Probe
	done      chan struct{} // closed when the process has ended and waited is set
	waited    error
	stop      sync.Once
}

// launch starts a command in a process group of its own. When the command has ended, the directory
// temp is removed; "" means that there is none.
func launch(name string, argv, env []string, dir, temp string) (*Process, error) {
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx // Stop ends it, with its whole group
	cmd.Env, cmd.Dir = env, dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = termGrace
	p := &Process{cmd: cmd, errors: &bounded.Tail{Most: 16 << 10}, done: make(chan struct{})}
	cmd.Stderr = p.errors
	var err error
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start server %s: %w", name, err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start server %s: %w", name, err)
	}
	cmd.Stdout = w
	p.pipe, p.out = r, bufio.NewReaderSize(r, 64<<10)
	err = cmd.Start()
	_ = w.Close() // the server has its own copy
	if err != nil {
		_ = r.Close()
		return nil, fmt.Errorf("start server %s: %w", name, err)
	}
	go func() {
		defer close(p.done)
		p.waited = cmd.Wait()
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // its children
		_ = os.RemoveAll(temp)
	}()
	return p, nil
}

// Stdin returns the server's input.
func (p *Process) Stdin() io.WriteCloser { return p.in }

// Stdout returns the server's output, which ends when the server does.
func (p *Process) Stdout() *bufio.Reader { return p.out }

// Sandboxed reports whether the process runs in a sandbox.
func (p *Process) Sandboxed() bool { return p.sandboxed }

// Probes returns the tests of the sandbox.
func (p *Process) Probes() []Probe { return p.probes }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Pid returns the process's id, which is also the id of its group.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Err says how the process ended, after Done.
func (p *Process) Err() error {
	if p.waited == nil {
		return errors.New("the server ended")
	}
	return p.waited
}

// Stderr returns the end of the server's standard error.
func (p *Process) Stderr() string { return p.errors.String() }

// Stop ends the process and its group: it closes the input, then sends SIGTERM, then SIGKILL. It
// returns when the process has ended.
func (p *Process) Stop() {
	p.stop.Do(func() {
		_ = p.in.Close()
		_ = p.pipe.Close() // a server that writes to a full pipe would not end
		if !p.endsWithin(closeGrace) {
			_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGTERM)
		}
		if !p.endsWithin(termGrace) {
			_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
		}
	})
	<-p.done
}

// endsWithin waits for the end of the process, but not longer than d.
func (p *Process) endsWithin(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.done:
		return true
	case <-timer.C:
		return false
	}
}

// errNotStarted means that the server's program was not started.
var errNotStarted = errors.New("the sandbox ended before the server began")

// maxReport bounds the line with which a sandbox reports its probes, in bytes.
const maxReport = 64 << 10

// firstLine reads one line of the output, at most maxReport bytes.
func (p *Process) firstLine(ctx context.Context) (string, error) {
	type result struct {
		line string
		err  error
	}
	got := make(chan result, 1)
	go func() {
		var b strings.Builder
		for b.Len() < maxReport {
			c, err := p.out.ReadByte()
			if err != nil {
				got <- result{err: errNotStarted}
				return
			}
			if c == '\n' {
				got <- result{line: b.String()}
				return
			}
			b.WriteByte(c)
		}
		got <- result{err: errors.New("the sandbox did not report its probes")}
	}()
	select {
	case r := <-got:
		return r.line, r.err
	case <-ctx.Done():
		p.Stop() // ends the reader above
		<-got
		return "", fmt.Errorf("the sandbox did not start: %w", ctx.Err())
	}
}

// cause returns the last words of a process as the end of a message.
func (p *Process) cause() string {
	if words := p.LastWords(); words != "" {
		return fmt.Sprintf(": %.300s", words)
	}
	return ""
}
