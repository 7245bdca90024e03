package ssh

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// Tunnel connects to a socket on a machine that ssh reaches. One ssh forwards a socket of this
// machine to it, for all connections. The first connection starts that ssh, and the next one after
// its end starts another. If the machine forwards no sockets, each connection has an ssh of its own
// instead (see dialStdio). A Tunnel is safe for concurrent use.
type Tunnel struct {
	target  Target
	program string // the path of ssh
	ask     bool   // ssh may ask the person
	explain func(*Error) error

	life context.Context // ends with the tunnel
	end  context.CancelFunc
	work sync.WaitGroup // the goroutines that own processes; Go is called with mu held, before life ends

	mu     sync.Mutex
	single bool     // each connection has an ssh of its own
	now    *forward // the ssh that forwards; nil: none runs
	pause  time.Duration
	next   time.Time // when the next ssh may be started
	failed error     // the error of connections before next; nil: they wait
}

// How long to wait before another ssh is started: twice as long each time, from minRedial to
// maxRedial, until one has run for longRun. After a permanent failure the wait is lockOut.
const (
	minRedial = 100 * time.Millisecond
	maxRedial = 5 * time.Second
	longRun   = 10 * time.Second
	lockOut   = 15 * time.Second
)

// How long ssh may take to reach the machine: without and with questions to the person.
const (
	limitBatch = 30 * time.Second
	limitAsk   = 3 * time.Minute
)

// Options say how ssh is run.
type Options struct {
	// Ask lets ssh ask the person on the terminal of this process, if it has one. Otherwise ssh
	// fails when it would have to ask.
	Ask bool
	// Explain translates each Error that a method, or a connection's Read or Write, returns. nil:
	// the Error is returned as it is.
	Explain func(*Error) error
}

// New makes a tunnel to a target. Nothing is connected before the first Dial. The caller must call Close.
func New(target Target, o Options) (*Tunnel, error) {
	explain := o.Explain
	if explain == nil {
		explain = func(e *Error) error { return e }
	}
	program, err := exec.LookPath("ssh")
	if err != nil {
		return nil, explain(&Error{
			Kind: ErrUnreachable, Cause: "ssh is not installed: " + err.Error(), Next: "install OpenSSH's client",
		})
	}
	target.newer = newer(program)
	t := &Tunnel{target: target, program: program, ask: o.Ask && haveTerminal(), explain: explain}
	t.life, t.end = context.WithCancel(context.Background())
	return t, nil
}

// version matches the version that "ssh -V" prints.
var version = regexp.MustCompile(`^OpenSSH_(?:[A-Za-z_]+_)?(\d{1,3})\.(\d{1,3})`)

// versionLimit is how long "ssh -V" may take.
const versionLimit = 5 * time.Second

// newer reports whether a program is OpenSSH 8.7 or later. An older one refuses the options that
// were new in that version.
func newer(program string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), versionLimit)
	defer cancel()
	said, err := exec.CommandContext(ctx, program, "-V").CombinedOutput()
	return err == nil && since87(string(said))
}

// since87 reports whether the output of "ssh -V" names version 8.7 or later.
func since87(said string) bool {
	found := version.FindStringSubmatch(said)
	if found == nil {
		return false
	}
	major, _ := strconv.Atoi(found[1]) // they are digits
	minor, _ := strconv.Atoi(found[2])
	return major > 8 || major == 8 && minor >= 7
}

// haveTerminal reports whether this process has a terminal on which ssh can ask.
func haveTerminal() bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return false
	}
	return tty.Close() == nil
}

// Patience returns how long ssh may take to reach the machine.
func (t *Tunnel) Patience() time.Duration {
	if t.ask {
		return limitAsk
	}
	return limitBatch
}

// Dial opens a connection to the socket. ctx bounds only the opening.
func (t *Tunnel) Dial(ctx context.Context) (net.Conn, error) {
	for again := false; ; again = true {
		f, fresh, err := t.current(ctx)
		if err != nil {
			return nil, err
		}
		if f == nil {
			return t.dialStdio(ctx)
		}
		conn, err := f.connect(ctx)
		if err == nil || fresh || again || ctx.Err() != nil || !f.gone(err) {
			return conn, err
		}
		f.stop() // it has ended or is ending: start another one
		<-f.done
	}
}

// current returns the ssh that forwards. It starts one if none runs; then fresh is true. It returns
// nil when each connection has an ssh of its own.
func (t *Tunnel) current(ctx context.Context) (f *forward, fresh bool, err error) {
	for {
		if err := t.awaitStart(ctx); err != nil {
			return nil, false, err
		}
		t.mu.Lock()
		switch {
		case t.life.Err() != nil:
			err = net.ErrClosed
		case t.single:
			t.mu.Unlock()
			return nil, false, nil
		case t.now != nil:
			f = t.now
		case !time.Now().Before(t.next):
			fresh = true
			f, err = t.start()
		}
		t.mu.Unlock()
		if f != nil || err != nil {
			return f, fresh, err
		}
	}
}

// awaitStart waits until an ssh may be started. It returns at once if one that forwards runs.
func (t *Tunnel) awaitStart(ctx context.Context) error {
	t.mu.Lock()
	wait, failed, runs := time.Until(t.next), t.failed, t.now != nil
	t.mu.Unlock()
	switch {
	case t.life.Err() != nil:
		return net.ErrClosed
	case runs || wait <= 0:
		return nil
	case failed != nil:
		return failed
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.life.Done():
		return net.ErrClosed
	}
}

// start starts an ssh that forwards. The caller holds mu.
func (t *Tunnel) start() (*forward, error) {
	f, err := startForward(t)
	if err != nil {
		t.pauseAfter(err, false, 0)
		return nil, err
	}
	t.now = f
	t.work.Go(func() {
		defer context.AfterFunc(t.life, f.stop)()
		permanent, failed := f.run(t.Patience())
		t.mu.Lock()
		t.now = nil
		t.pauseAfter(failed, permanent, time.Since(f.began))
		t.mu.Unlock()
		close(f.done) // last, so that who waits for it sees the new state
	})
	return f, nil
}

// ended notes that the ssh of one connection ended before the engine sent anything.
func (t *Tunnel) ended(err error, permanent bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pauseAfter(err, permanent, 0)
}

// works notes that the engine has answered through the ssh of one connection.
func (t *Tunnel) works() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pause, t.next, t.failed = 0, time.Time{}, nil
}

// pauseAfter decides when the next ssh may be started. ran is how long the last one ran. The caller
// holds mu.
func (t *Tunnel) pauseAfter(err error, permanent bool, ran time.Duration) {
	t.pause = min(max(2*t.pause, minRedial), maxRedial)
	if ran >= longRun {
		t.pause = minRedial
	}
	t.failed, t.next = nil, time.Now().Add(t.pause)
	if permanent {
		t.failed, t.next = err, time.Now().Add(lockOut)
	}
}

// FallBack gives each connection an ssh of its own from now on. The caller has found that the
// forwarded socket does not answer. FallBack returns false and changes nothing if no ssh forwards a
// socket now.
func (t *Tunnel) FallBack() bool {
	t.mu.Lock()
	f := t.now
	able := f != nil && f.isReady() && !t.single
	t.single = t.single || able
	t.mu.Unlock()
	if able {
		f.stop()
		<-f.done
		t.works() // the machine was reached
	}
	return able
}

// Close ends every ssh and all connections, and waits until they have ended.
func (t *Tunnel) Close() {
	t.mu.Lock()
	t.end()
	t.mu.Unlock()
	t.work.Wait()
}

// refused reports whether an error means that nobody listens at a socket of this machine.
func refused(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist)
}
