package bridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/link"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/mux"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/seen"
)

// Keep is the main process of a container in which the host's sockets do not work. It listens on the
// same sockets in place of the host, and carries the connections over the newest link, beside the
// terminal of the program. Carry hands over the carriers of the link.
//
// It first sends its report, and starts the program only after the host's go. A later process of the
// host gets the end of the output again.
type Keep struct {
	Argv     []string // the program
	Carriers string   // path of the socket that Carry dials
	Sockets  Sockets
	Tokens   []string                         // directories that the host may share
	Look     func() (seen.Seen, error)        // makes the report
	Prepare  func() (env []string, err error) // called right before the program starts
	Serve    func(ctx context.Context) error  // runs beside the program, until ctx ends
	Signals  <-chan os.Signal                 // passed on to the program
	Files    FileServer                       // serves the host's connections for files; nil: they are refused
	wait     timeouts                         // set by tests; zero: the defaults
}

// Sockets are the paths of the sockets at which the container's programs expect the host.
type Sockets struct{ Tools, Model, Ports string }

// FileServer serves a connection over which the host synchronizes files, until that or ctx ends. A
// treesync.Server is one.
type FileServer interface {
	Serve(ctx context.Context, conn io.ReadWriteCloser) error
}

type timeouts struct{ away, exit, total time.Duration }

// The default timeouts of a keeper.
const (
	awayWait  = 5 * time.Minute  // for a carrier, until the host counts as away
	exitWait  = 5 * time.Second  // for the host to receive the rest, without any progress
	totalWait = 10 * time.Minute // for the host to receive the rest at all
)

// errGivenUp is the error of a keeper whose host never sent go.
var errGivenUp = errors.New("the host did not say that the program may start")

// keeper is a running Keep.
type keeper struct {
	Keep
	seen   []byte
	remove func() error // removes the tokens
	output *output
	keys   *keys
	links  links

	starting     sync.Once
	begun        chan struct{} // closed when the program was started, or will never be
	terminal     *terminal     // nil if it was not started; valid once begun is closed
	moved        chan struct{} // lossy, one value: the host was given something
	told         chan struct{} // closed when the host knows of the end
	telling      sync.Once     // closes told
	closedByHost atomic.Bool   // the host was given the end, and closed the link
	files        files
	running      sync.WaitGroup // all goroutines but those of carriers' connections
}

// Run serves the host until the program has ended and the host knows that, or could not be told for
// long. It returns the program's exit code.
func (k Keep) Run(ctx context.Context) (code int, err error) {
	k.wait.away = orDefault(k.wait.away, awayWait)
	k.wait.exit = orDefault(k.wait.exit, exitWait)
	k.wait.total = orDefault(k.wait.total, totalWait)
	r := &keeper{
		Keep: k, output: newOutput(), keys: newKeys(), remove: func() error { return nil },
		begun: make(chan struct{}), moved: make(chan struct{}, 1), told: make(chan struct{}),
	}
	r.files.changed = make(chan struct{}, 1)
	ctx, cancel := context.WithCancel(ctx)
	defer r.running.Wait()
	defer r.stop()
	defer cancel()
	r.links.init(ctx, k.wait.away, r.output.setAway, func(l *link.Link) { r.talk(ctx, l) }, func(s *mux.Session) { r.serveFiles(ctx, s) })
	if err := r.examine(); err != nil {
		r.fail(err)
	}
	if err := r.listen(ctx); err != nil {
		return 1, fmt.Errorf("listen in place of the host: %w", err)
	}
	r.running.Go(func() { _ = k.Serve(ctx) }) // after an error, the agent's connections fail
	if err := r.pass(ctx); err != nil {
		return 1, err
	}
	r.finish(ctx)
	return r.output.code, nil
}

func orDefault(d, usual time.Duration) time.Duration {
	if d == 0 {
		return usual
	}
	return d
}

// examine makes the report and writes the tokens.
func (k *keeper) examine() error {
	s, err := k.Look()
	if err != nil {
		return err
	}
	s.Tokens, k.remove = LeaveTokens(k.Tokens...)
	k.seen, err = s.Bytes()
	return err
}

// pass passes signals on to the program until it has ended.
func (k *keeper) pass(ctx context.Context) error {
	for {
		change, present := k.links.state()
		var away <-chan time.Time
		stop := func() bool { return true }
		if !isClosed(k.begun) && !present {
			timer := time.NewTimer(k.wait.away)
			away, stop = timer.C, timer.Stop
		}
		select {
		case <-k.output.over:
			stop()
			return nil
		case <-change:
		case s := <-k.Signals:
			if !isClosed(k.begun) {
				stop()
				return fmt.Errorf("the signal %s came before the host did", s)
			}
			if k.terminal != nil {
				_ = k.terminal.cmd.Process.Signal(s) // fails if it has just ended
			}
		case <-away:
			return errGivenUp
		case <-ctx.Done():
			stop()
			return context.Cause(ctx)
		}
		stop()
	}
}

// finish waits until the host knows of the program's end, or a timeout.
func (k *keeper) finish(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, k.wait.total)
	defer cancel()
	for {
		change, present := k.links.state()
		patience := k.wait.away
		if present || k.closedByHost.Load() {
			patience = k.wait.exit
		}
		timer := time.NewTimer(patience)
		select {
		case <-k.told:
			timer.Stop()
			k.awaitFiles()
			return
		case <-k.Signals:
		case <-timer.C:
		case <-ctx.Done():
		case <-change:
			timer.Stop()
			continue
		case <-k.moved:
			timer.Stop()
			continue
		}
		timer.Stop()
		return
	}
}

// stop ends whatever still runs.
func (k *keeper) stop() {
	k.starting.Do(func() { close(k.begun) })
	_ = k.remove()
	k.keys.close()
	k.output.end(1)
	if k.terminal != nil {
		_ = k.terminal.cmd.Process.Kill()
		k.terminal.close()
	}
	k.links.close()
}

// begin starts the program, unless that was done before.
func (k *keeper) begin(cols, rows int) (began bool) {
	k.starting.Do(func() {
		defer close(k.begun)
		began = true
		if err := k.start(cols, rows); err != nil {
			k.showError(err)
		}
	})
	return began
}

func (k *keeper) start(cols, rows int) error {
	if err := k.remove(); err != nil {
		return err
	}
	env, err := k.Prepare()
	if err != nil {
		return err
	}
	if k.terminal, err = startTerminal(k.Argv, env, cols, rows); err != nil {
		return fmt.Errorf("start %s: %w", k.Argv[0], err)
	}
	ended := make(chan struct{})
	k.running.Go(func() {
		code := k.terminal.wait()
		_ = k.terminal.master.SetReadDeadline(time.Unix(1, 0)) // makes read read the rest
		k.output.programEnded()
		<-ended
		k.output.end(code)
	})
	k.running.Go(func() {
		defer close(ended)
		k.read()
	})
	k.running.Go(func() { k.keys.typeInto(k.terminal) })
	return nil
}

// read reads the program's output until it has ended.
func (k *keeper) read() {
	for buf := make([]byte, 32<<10); ; {
		k.output.awaitRoom()
		n, err := k.terminal.master.Read(buf)
		k.output.put(buf[:max(n, 0)])
		if err != nil {
			break
		}
	}
	k.output.put(k.terminal.rest())
}

// fail shows an error in place of a program that cannot be started.
func (k *keeper) fail(err error) {
	k.starting.Do(func() {
		defer close(k.begun)
		k.showError(err)
	})
}

// showError writes an error to the terminal, as the end of the output.
func (k *keeper) showError(err error) {
	if errors.Is(err, exec.ErrNotFound) {
		err = fmt.Errorf("%w: the image does not have it", err)
	}
	k.output.put([]byte("ironcurtain-mux-bridge: start the agent: " + err.Error() + "\r\n"))
	k.output.end(1)
}
