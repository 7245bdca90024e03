package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/creack/pty"
	"go.uber.org/goleak"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/identity"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/client"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// served is a daemon that a test serves.
type served struct {
	t        *testing.T
	home     string
	shown    chan Client // of views that have begun
	own      *os.File    // a terminal of its own tabs
	fails    atomic.Bool // whoever looks whether a terminal is that one panics
	attended chan bool
	kicked   chan identity.Client
	running  string
	carries  func(context.Context, Task) wire.End // is set before a task is given
	log      *strings.Builder
	stood    bool          // the daemon has stood down; valid when it is done
	stop     func()        // makes it stand down, and waits
	done     chan struct{} // closed when Serve has returned
}

// start serves a daemon whose views are show, until the test ends.
func start(t *testing.T, show func(ctx context.Context, c Client) (string, error), change ...func(*Daemon)) *served {
	t.Helper()
	return startWith(t, show, nil, change...)
}

// startWith is start with what clients can call.
func startWith(t *testing.T, show func(ctx context.Context, c Client) (string, error), api broker.Calls, change ...func(*Daemon)) *served {
	t.Helper()
	home, err := os.MkdirTemp("", "ic")
	if err != nil {
		t.Fatal(err)
	}
	s := &served{t: t, home: home, shown: make(chan Client, maxViews), attended: make(chan bool, 100), kicked: make(chan identity.Client, 100), log: new(strings.Builder), own: terminal(t), done: make(chan struct{})}
	door, err := Listen(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	d := &Daemon{
		Version: "test", Calls: api, Log: slog.New(slog.NewTextHandler(s.log, nil)),
		Show: func(ctx context.Context, c Client) (string, error) {
			s.shown <- c
			return show(ctx, c)
		},
		Own: func(f *os.File) bool {
			if s.fails.Load() {
				panic("looked wrongly")
			}
			return os.SameFile(stat(t, f), stat(t, s.own))
		},
		Carry:    func(ctx context.Context, t Task) wire.End { return s.carries(ctx, t) },
		Running:  func() string { return s.running },
		Attended: func(yes bool) { s.attended <- yes },
		Waiting:  func() bool { return false },
		Kicked:   func(c identity.Client) { s.kicked <- c },
		End:      func() string { return "all is ended" },
	}
	d.StandDown = func() { s.stood = true }
	for _, c := range change {
		c(d)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = func() { cancel(); <-s.done }
	go func() {
		defer close(s.done)
		if err := d.Serve(ctx, door.UnixListener); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() {
		s.stop()
		_ = door.Unlock()
		_ = os.RemoveAll(home)
	})
	return s
}

// stat says which file it is.
func stat(t *testing.T, f *os.File) os.FileInfo {
	t.Helper()
	info, err := f.Stat()
	if err != nil {
		t.Error(err)
	}
	return info
}

// until is a view that lasts until its context ends.
func until(ctx context.Context, _ Client) (string, error) {
	<-ctx.Done()
	return "over", nil
}

// terminal makes a terminal; what is written on it is thrown away.
func terminal(t *testing.T) *os.File {
	t.Helper()
	t.Setenv("TERM", "xterm-256color")
	person, program, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(io.Discard, person)
	}()
	t.Cleanup(func() {
		_ = program.Close()
		_ = person.Close()
		<-read
	})
	return program
}

func (s *served) options(terminal *os.File) client.Options {
	return client.Options{Socket: SocketPath(s.home), In: terminal, Out: terminal, Version: "test"}
}

// result is how an attachment has ended.
type result struct {
	end string
	err error
}

func (r result) String() string { return fmt.Sprintf("%q, %v", r.end, r.err) }

// attach shows a view to a terminal. It returns a function that ends the client and one that
// waits for its end.
func (s *served) attach(terminal *os.File) (leave func(), wait func() result) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan result, 1)
	go func() {
		end, err := client.Attach(ctx, s.options(terminal))
		ended <- result{end, err}
	}()
	s.t.Cleanup(cancel)
	return cancel, func() result { return <-ended }
}

// dial connects without the client's code.
func (s *served) dial() *wire.Conn {
	s.t.Helper()
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: SocketPath(s.home), Net: "unix"})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	return wire.NewConn(c)
}

// A view runs on the client's terminal, with the client's variables, and ends with the client.
func TestAViewEndsWithItsClient(t *testing.T) {
	s := start(t, until)
	tty := terminal(t)
	t.Setenv("COLORTERM", "truecolor")
	leave, wait := s.attach(tty)
	c := <-s.shown
	here, err := os.Getwd()
	if err != nil || c.Asked.Dir != here || c.Passed.Getenv("COLORTERM") != "truecolor" || c.Passed.Getenv("HOME") != "" || c.Others() != 0 {
		t.Errorf("the view is told %+v, %v", c, err)
	}
	leave()
	if r := wait(); r.end != "over" || r.err != nil {
		t.Errorf("the client was told %s", r)
	}
	if _, err := Listen(t.Context(), s.home); err == nil || !strings.Contains(err.Error(), "runs already") {
		t.Errorf("a second daemon: %v", err)
	}
}

// Whoever asks for the end is told how it went; the others are told that it is the end.
func TestTheEndOfEverything(t *testing.T) {
	quit := make(chan struct{})
	s := start(t, func(ctx context.Context, _ Client) (string, error) {
		select {
		case <-ctx.Done():
			return "ended by another", nil
		case <-quit:
			return "", ErrQuit
		}
	})
	_, first := s.attach(terminal(t))
	<-s.shown
	s.running = "an agent runs"
	if _, err := client.Stop(t.Context(), s.options(nil), false); err == nil || !strings.Contains(err.Error(), "an agent runs") {
		t.Errorf("stop: %v", err)
	}
	_, second := s.attach(terminal(t))
	<-s.shown
	quit <- struct{}{}
	told := map[string]int{first().end: 1}
	told[second().end]++
	if told["all is ended"] != 1 || told["ended by another"] != 1 {
		t.Errorf("they were told %v", told)
	}
	<-s.done
	if _, err := client.Stop(t.Context(), s.options(nil), true); !errors.Is(err, client.ErrNoDaemon) {
		t.Errorf("stop without a daemon: %v", err)
	}
}

// A signal ends the views, and nothing else.
func TestItStandsDown(t *testing.T) {
	s := start(t, until)
	_, wait := s.attach(terminal(t))
	<-s.shown
	s.stop()
	if r := wait(); r.err != nil || !strings.Contains(r.end, "its agents keep running") {
		t.Errorf("the client was told %s", r)
	}
	if !s.stood {
		t.Error("the sessions were ended")
	}
}

// A daemon ends when nothing runs, nothing waits and nobody comes; not before.
func TestAnIdleDaemonEnds(t *testing.T) {
	const idle = 100 * time.Millisecond
	var runs, waits atomic.Bool
	runs.Store(true)
	s := start(t, until, func(d *Daemon) {
		d.Idle, d.Waiting = idle, waits.Load
		d.Running = func() string {
			if runs.Load() {
				return "an agent runs"
			}
			return ""
		}
	})
	goesOn := func(why string) {
		t.Helper()
		select {
		case <-s.done:
			t.Fatalf("the daemon has ended although %s", why)
		case <-time.After(3 * idle):
		}
	}
	goesOn("an agent runs")
	waits.Store(true)
	runs.Store(false)
	goesOn("a call waits")
	leave, wait := s.attach(terminal(t))
	<-s.shown
	waits.Store(false)
	goesOn("a view is shown")
	leave()
	wait()
	if <-s.done; s.stood {
		t.Error("the sessions were not ended")
	}
}

// A panic of a view ends that view alone.
func TestAPanicIsTheViewsAlone(t *testing.T) {
	s := start(t, func(ctx context.Context, c Client) (string, error) {
		if c.Others() == 1 {
			panic("drawn wrongly")
		}
		return until(ctx, c)
	})
	leave, first := s.attach(terminal(t))
	<-s.shown
	_, second := s.attach(terminal(t))
	<-s.shown
	if r := second(); !errors.Is(r.err, client.ErrViewFailed) || strings.Count(r.err.Error(), "failed") > 1 {
		t.Errorf("the client was told %s", r)
	}
	leave()
	if r := first(); r.end != "over" {
		t.Errorf("the other one was told %s", r)
	}
	if out, err := client.Stop(t.Context(), s.options(nil), true); err != nil || out != "all is ended" {
		t.Errorf("stop: %q, %v", out, err)
	}
	<-s.done
	if !strings.Contains(s.log.String(), "drawn wrongly") {
		t.Errorf("the log: %s", s.log)
	}
}

// A panic of what serves a client ends that client's connection alone.
func TestAPanicIsTheConnectionsAlone(t *testing.T) {
	s := start(t, until)
	leave, wait := s.attach(terminal(t))
	<-s.shown
	s.fails.Store(true)
	_, second := s.attach(terminal(t))
	if r := second(); !errors.Is(r.err, client.ErrLost) {
		t.Errorf("the client was told %s", r)
	}
	leave()
	if r := wait(); r.end != "over" {
		t.Errorf("the other one was told %s", r)
	}
	s.stop()
	if !strings.Contains(s.log.String(), "serving a client panicked") {
		t.Errorf("the log: %s", s.log)
	}
}

// A panic of the goroutine that listens to a client ends that view.
func TestAPanicOfTheListenerEndsTheView(t *testing.T) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s")})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	unix, err := net.DialUnix("unix", nil, l.Addr().(*net.UnixAddr))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close()
	var log strings.Builder
	v := &view{unix: unix, log: slog.New(slog.NewTextHandler(&log, nil))} // it has no connection to listen to
	if _, err := v.run(t.Context(), &Daemon{Show: until}); !errors.Is(err, errFailed) {
		t.Errorf("the view ends with %v", err)
	}
	if !strings.Contains(log.String(), "a view panicked") {
		t.Errorf("the log: %s", &log)
	}
}

// What is no client, or speaks another protocol, or passes no terminal gets no view.
func TestStrangersAreRefused(t *testing.T) {
	s := start(t, until)
	hello := wire.Hello{Protocol: wire.Protocol, Version: "test", Kind: wire.ForView, Rights: wire.Operate}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	tty := terminal(t)
	for name, test := range map[string]struct {
		say  func(c *wire.Conn) error
		want string
	}{
		"no hello": {func(c *wire.Conn) error { return c.Send(wire.KindView, wire.View{}, tty, tty) }, "not a client"},
		"a later one": {func(c *wire.Conn) error {
			return c.Send(wire.KindHello, wire.Hello{Protocol: wire.Protocol + 1, Version: "later"})
		}, "the daemon (test) is older than the program (later)"},
		"an older one": {func(c *wire.Conn) error { return c.Send(wire.KindHello, wire.Hello{Version: "older"}) }, "the program (older) is older than the daemon (test)"},
		"no descriptor": {func(c *wire.Conn) error {
			return errors.Join(c.Send(wire.KindHello, hello), c.Send(wire.KindView, wire.View{}))
		}, "passed no terminal"},
		"one descriptor": {func(c *wire.Conn) error {
			return errors.Join(c.Send(wire.KindHello, hello), c.Send(wire.KindView, wire.View{}, tty))
		}, "passed no terminal"},
		"no terminal": {func(c *wire.Conn) error {
			return errors.Join(c.Send(wire.KindHello, hello), c.Send(wire.KindView, wire.View{}, null, null))
		}, "passed no terminal"},
		"four descriptors": {func(c *wire.Conn) error {
			return errors.Join(c.Send(wire.KindHello, hello), c.Send(wire.KindView, wire.View{}, tty, tty, tty, tty))
		}, "more than 3 files"},
		"two streams": {func(c *wire.Conn) error {
			return errors.Join(c.Send(wire.KindHello, hello), c.Send(wire.KindTask, wire.Task{}, tty, tty))
		}, "not passed its standard streams"},
		"three descriptors": {func(c *wire.Conn) error {
			return errors.Join(c.Send(wire.KindHello, hello), c.Send(wire.KindView, wire.View{}, tty, tty, tty))
		}, "passed no terminal"},
		"its own terminal": {func(c *wire.Conn) error {
			return errors.Join(c.Send(wire.KindHello, hello), c.Send(wire.KindView, wire.View{}, tty, s.own))
		}, "own tabs"},
		"something else": {func(c *wire.Conn) error { return errors.Join(c.Send(wire.KindHello, hello), c.Send("approve", nil)) }, `does not know the request \"approve\"`},
	} {
		c := s.dial()
		if err := test.say(c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var all strings.Builder
		for {
			f, err := c.Receive()
			if err != nil {
				break
			}
			all.Write(f.Body)
		}
		if !strings.Contains(all.String(), test.want) {
			t.Errorf("%s: answered %s, want %q", name, &all, test.want)
		}
		_ = c.Close()
	}
	if len(s.shown) > 0 {
		t.Error("a stranger got a view")
	}
	// Connections that say nothing keep nobody out.
	for range 20 {
		s.dial()
	}
	leave, wait := s.attach(tty)
	<-s.shown
	leave()
	wait()
}

// There is room for so many views; one more is told so, and one that ends makes room.
func TestTooManyViews(t *testing.T) {
	s := start(t, until)
	tty := terminal(t)
	var waits []func() result
	var leaves []func()
	for range maxViews {
		leave, wait := s.attach(tty)
		leaves, waits = append(leaves, leave), append(waits, wait)
		<-s.shown
	}
	_, wait := s.attach(tty)
	if r := wait(); r.err == nil || !strings.Contains(r.err.Error(), "16 views are open") {
		t.Errorf("one more: %s", r)
	}
	for i := range waits {
		leaves[i]()
		waits[i]()
	}
	leave, wait := s.attach(tty)
	<-s.shown
	leave()
	if r := wait(); r.err != nil {
		t.Errorf("after them: %s", r)
	}
}

// A thousand connections that say nothing leave a view as it is; afterwards others come in.
func TestAThousandConnections(t *testing.T) {
	used := make(chan chan struct{})
	s := start(t, func(ctx context.Context, _ Client) (string, error) {
		for {
			select {
			case answer := <-used:
				close(answer)
			case <-ctx.Done():
				return "over", nil
			}
		}
	})
	leave, wait := s.attach(terminal(t))
	<-s.shown
	var silent []net.Conn
	for range 1000 {
		// The rest wait in the listener's queue, or are turned away by the system.
		c, err := (&net.Dialer{Timeout: time.Millisecond}).DialContext(t.Context(), "unix", SocketPath(s.home))
		if err == nil {
			silent = append(silent, c)
		}
		answer := make(chan struct{})
		used <- answer
		<-answer
	}
	if len(silent) <= maxConns+extraConns {
		t.Errorf("only %d connections were made", len(silent))
	}
	for _, c := range silent {
		_ = c.Close()
	}
	list, err := client.Clients(t.Context(), s.options(nil))
	if err != nil || len(list) != 1 {
		t.Errorf("clients: %v, %v", list, err)
	}
	leave()
	if r := wait(); r.end != "over" || r.err != nil {
		t.Errorf("the client was told %s", r)
	}
}

// When all connections are taken, a client can still be detached, and a call be answered.
func TestOneCanAlwaysAct(t *testing.T) {
	s := startWith(t, until, queued{queue: approval.New(approval.Options{})}, func(d *Daemon) {
		d.lasting.Store(maxConns - 1)
		d.brief = time.Second
	})
	_, wait := s.attach(terminal(t))
	<-s.shown
	_, refused := s.attach(terminal(t))
	if r := refused(); r.err == nil || !strings.Contains(r.err.Error(), "64 clients are connected") {
		t.Errorf("one more was told %s", r)
	}
	caller := s.connect(wire.Hello{})
	if _, err := caller.Pending(t.Context()); err != nil {
		t.Errorf("one that calls was told %v", err)
	}
	for err := error(nil); err == nil; { // until its time is over
		_, err = caller.Pending(t.Context())
	}
	list, err := client.Clients(t.Context(), s.options(nil))
	if err != nil || len(list) != 1 {
		t.Fatalf("clients: %v, %v", list, err)
	}
	if _, err := client.Kick(t.Context(), s.options(nil), list[0].ID); err != nil {
		t.Error(err)
	}
	if r := wait(); !strings.Contains(r.end, "another terminal has detached this one") {
		t.Errorf("who was detached was told %s", r)
	}
}

// The daemon dies: the client sets its terminal as it was, and says that it is gone. Leaving a screen that
// a view of lines has not entered would put the cursor elsewhere, and what follows over the lines.
func TestTheTerminalIsRestoredWithoutADaemon(t *testing.T) {
	const leavesScreen = "\x1b[?1049l"
	for name, c := range map[string]struct {
		rights wire.Right
		until  string
	}{
		"a screen": {wire.Operate, leavesScreen},
		"lines":    {wire.Answer, "\x1b[?2004l"},
	} {
		t.Run(name, func(t *testing.T) {
			written := loseDaemon(t, c.rights, c.until)
			if strings.Contains(written, leavesScreen) != (c.until == leavesScreen) {
				t.Errorf("the terminal got %q", written)
			}
		})
	}
}

// loseDaemon attaches a client to a daemon that dies, and returns what the client's terminal got then,
// up to a text.
func loseDaemon(t *testing.T, rights wire.Right, until string) string {
	t.Helper()
	home, err := os.MkdirTemp("", "ic")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(home)
	l, err := Listen(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Unlock() }()
	person, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TERM", "xterm-256color")
	ended := make(chan result, 1)
	go func() {
		end, err := client.Attach(context.Background(), client.Options{Socket: SocketPath(home), In: tty, Out: tty, Rights: rights})
		ended <- result{end, err}
	}()
	accepted, err := l.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	c := wire.NewConn(accepted)
	if _, err := c.Receive(); err != nil {
		t.Fatal(err)
	}
	if err := c.Send(wire.KindWelcome, wire.Welcome{Protocol: wire.Protocol}); err != nil {
		t.Fatal(err)
	}
	f, err := c.Receive()
	if err != nil || len(f.Files) != 2 {
		t.Fatalf("%d files, %v", len(f.Files), err)
	}
	for _, file := range f.Files {
		_ = file.Close()
	}
	_ = c.Close()
	_ = l.Close()
	written := make(chan string, 1)
	go func() {
		buf := make([]byte, 4096)
		var all strings.Builder
		for !strings.Contains(all.String(), until) {
			n, err := person.Read(buf)
			if err != nil {
				break
			}
			all.Write(buf[:n])
		}
		written <- all.String()
	}()
	if r := <-ended; r.err == nil || !strings.Contains(r.err.Error(), "the daemon has ended") {
		t.Errorf("the client says %s", r)
	}
	defer func() { _, _ = tty.Close(), person.Close() }()
	select {
	case all := <-written:
		return all
	case <-time.After(time.Minute):
		t.Fatal("the terminal is not restored")
		return ""
	}
}

// A view whose terminal takes no output is nobody's, and clients are told so.
func TestAStalledViewIsNobodys(t *testing.T) {
	s := start(t, until)
	leave, wait := s.attach(terminal(t))
	c := <-s.shown
	if !<-s.attended {
		t.Error("the view is nobody's")
	}
	c.Stalled(true)
	if <-s.attended {
		t.Error("a stalled view is somebody's")
	}
	list, err := client.Clients(t.Context(), s.options(nil))
	if err != nil || len(list) != 1 || !list[0].Stalled {
		t.Errorf("the list: %+v, %v", list, err)
	}
	leaveOther, waitOther := s.attach(terminal(t))
	<-s.shown
	if !<-s.attended {
		t.Error("a second view is nobody's")
	}
	leaveOther()
	waitOther()
	if <-s.attended {
		t.Error("with the stalled one left, somebody is there")
	}
	c.Stalled(false)
	if !<-s.attended {
		t.Error("it goes on, and is nobody's")
	}
	leave()
	wait()
}
