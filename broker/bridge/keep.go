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

// Keep is the container's end of a host whose sockets do not lead into the container: the
// main process. Instead of the host it listens on the sockets of the container's ways out,
// and carries the connections over the newest link, with the terminal of the program beside
// them. What carries the link is handed over by Carry.
//
// It first says what it sees of the container, and starts the program only when the host
// lets it. When the host is another process later, it gets the end of the output again.
type Keep struct {
	Argv     []string // the program
	Carriers string   // path of the socket that Carry dials
	Ways     Ways
	Tokens   []string                         // directories that the host is to see as well
	Look     func() (seen.Seen, error)        // what is seen of the container
	Prepare  func() (env []string, err error) // called right before the program starts
	Serve    func(ctx context.Context) error  // runs beside the program, until ctx ends
	Signals  <-chan os.Signal                 // are passed on to the program
	Files    FileServer                       // serves the host's connections for files; nil: they are refused
	wait     waits                            // for tests; zero: the usual
}

// Ways are the paths of the sockets on which the container's programs expect the host.
type Ways struct{ Tools, Model, Ports string }

// FileServer serves a connection over which the host keeps files of the container and its own
// equal, until either ends; a treesync.Server is one.
type FileServer interface {
	Serve(ctx context.Context, conn io.ReadWriteCloser) error
}

// waits are how long a keeper waits.
type waits struct{ away, exit, total time.Duration }

// How long is waited, usually.
const (
	awayWait  = 5 * time.Minute  // for a carrier, before nobody waits for the host any more
	exitWait  = 5 * time.Second  // for the host to take the rest, without any progress
	totalWait = 10 * time.Minute // for the host to take the rest at all
)

// errGivenUp is the end of a keeper whose host never came.
var errGivenUp = errors.New("the host did not say that the program may start")

// keeper is a Keep that runs.
type keeper struct {
	Keep
	seen   []byte
	remove func() error // takes the tokens away
	output *output
	keys   *keys
	links  links

	starting sync.Once
	begun    chan struct{} // closed when the program was started, or will never be
	terminal *terminal     // nil if it was not started; valid once begun is closed
	moved    chan struct{} // lossy, one value: the host was given something
	told     chan struct{} // closed when the host knows of the end
	telling  sync.Once     // closes told
	parted   atomic.Bool   // the host was given the end, and closed the link
	files    files
	running  sync.WaitGroup // all goroutines but those of carriers' connections
}

// Run keeps the container's end until the program has ended and the host knows of it, or
// did not come to know for long. It returns the program's exit code.
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
	r.links.init(ctx, k.wait.away, r.output.leave, func(l *link.Link) { r.talk(ctx, l) }, func(s *mux.Session) { r.serveFiles(ctx, s) })
	if err := r.lookAround(); err != nil {
		r.fail(err)
	}
	if err := r.listen(ctx); err != nil {
		return 1, fmt.Errorf("open the ways to the host: %w", err)
	}
	r.running.Go(func() { _ = k.Serve(ctx) }) // the agent sees that its connections fail
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

// lookAround finds out what the host is told before the program may start.
func (k *keeper) lookAround() error {
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
		change, present := k.links.look()
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
				return fmt.Errorf("the host did not come before a signal did: %s", s)
			}
			if k.terminal != nil {
				_ = k.terminal.cmd.Process.Signal(s) // it may have ended just now
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

// finish waits until the host knows of the program's end, as long as there is hope.
func (k *keeper) finish(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, k.wait.total)
	defer cancel()
	for {
		change, present := k.links.look()
		patience := k.wait.away
		if present || k.parted.Load() {
			patience = k.wait.exit
		}
		timer := time.NewTimer(patience)
		select {
		case <-k.told:
			timer.Stop()
			k.linger()
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

// stop ends what the program's end has not ended.
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

// begin starts the program, when it was not started before.
func (k *keeper) begin(cols, rows int) (began bool) {
	k.starting.Do(func() {
		defer close(k.begun)
		began = true
		if err := k.start(cols, rows); err != nil {
			k.give(err)
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
		_ = k.terminal.master.SetReadDeadline(time.Unix(1, 0)) // whoever reads it reads the rest
		k.output.release()
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

// read reads what the program writes until it has ended.
func (k *keeper) read() {
	for buf := make([]byte, 32<<10); ; {
		k.output.room()
		n, err := k.terminal.master.Read(buf)
		k.output.put(buf[:max(n, 0)])
		if err != nil {
			break
		}
	}
	k.output.put(k.terminal.rest())
}

// fail takes the place of a program that will not be started.
func (k *keeper) fail(err error) {
	k.starting.Do(func() {
		defer close(k.begun)
		k.give(err)
	})
}

// give shows an error on the terminal, as the last words.
func (k *keeper) give(err error) {
	if errors.Is(err, exec.ErrNotFound) {
		err = fmt.Errorf("%w: the image lacks it", err)
	}
	k.output.put([]byte("ironcurtain-mux-bridge: start the agent: " + err.Error() + "\r\n"))
	k.output.end(1)
}
