package codemode

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os/exec"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/codemode/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/beside"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/bounded"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// ProgramName is the name of the program that is an isolate.
const ProgramName = "ironcurtain-mux-code"

// Find returns the path of that program, which lies beside the running one.
func Find() (string, error) {
	path, err := beside.Find(ProgramName)
	return path, fault.Wrap("run programs of agents", err, "build it with 'make build', or install it beside this program")
}

// process is one isolate.
type process struct {
	cmd     *exec.Cmd
	frames  *bufio.Reader
	words   *bounded.Buffer // what it writes to its standard error
	in      io.WriteCloser
	writing sync.Mutex // guards in
}

// start starts an isolate and waits until it is locked and ready.
func start(ctx context.Context, path string, limit time.Duration) (*process, error) {
	const op = "start an isolate"
	p := &process{cmd: exec.Command(path), words: &bounded.Buffer{Most: 2 << 10}} //nolint:noctx // end kills it
	// The locked process cannot read the disk, not even for the time zone. With two processors the
	// program runs on one, and what watches its time on the other.
	p.cmd.Dir, p.cmd.Env = "/", []string{"GOMAXPROCS=2", "GOTRACEBACK=none", "TZ=UTC"}
	p.cmd.Stderr, p.cmd.WaitDelay = p.words, time.Second
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, fault.Wrap(op, err, "")
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, fault.Wrap(op, err, "")
	}
	p.frames = bufio.NewReaderSize(out, 64<<10)
	if err := p.cmd.Start(); err != nil {
		return nil, fault.Wrap(op, err, "")
	}
	late := time.AfterFunc(limit, p.kill)
	cancelled := context.AfterFunc(ctx, p.kill)
	first, err := wire.Read(p.frames)
	late.Stop()
	cancelled()
	if err == nil && first.Kind == wire.Ready {
		return p, nil
	}
	p.end()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if said := p.said(); said != "" {
		err = errors.New(said)
	} else if err == nil {
		err = errors.New("the process did not report that it is ready")
	}
	return nil, fault.Wrap(op, err, "'ironcurtain-mux doctor' shows whether this system can lock processes")
}

// send sends a frame to the isolate.
func (p *process) send(f wire.Frame) error {
	b, err := wire.Encode(f)
	if err == nil {
		err = p.write(b)
	}
	return err
}

// write sends the bytes of a frame.
func (p *process) write(b []byte) error {
	p.writing.Lock()
	defer p.writing.Unlock()
	_, err := p.in.Write(b)
	return err
}

// kill kills the process. It can be called at any time.
func (p *process) kill() { _ = p.cmd.Process.Kill() }

// end kills the process and waits for its end.
func (p *process) end() {
	p.kill()
	_ = p.in.Close()
	_ = p.cmd.Wait() // the outcome says how it ended
}

// used is the processor time of the process since its start, by the kernel's clock.
func (p *process) used() time.Duration { return processorTime(p.cmd.Process.Pid) }

// said returns the first line that the process wrote to its standard error, fit to be shown.
func (p *process) said() string { return text.FirstLine(p.words.String(), 300) }

// Probe starts an isolate and ends it, and returns why programs cannot be run.
func Probe(ctx context.Context, path string) error {
	p, err := start(ctx, path, Limits{}.orDefaults().Start)
	if err != nil {
		return err
	}
	p.end()
	return nil
}
