package outer

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
)

// client stands in for the process that has passed a terminal.
type client struct {
	stopping, continued chan struct{}
	released            chan struct{}
	present             atomic.Bool
	looked              chan struct{} // capacity 1: somebody has asked whether it is present
}

// open opens the test's terminal as one that the client has passed.
func (c *client) open(t *testing.T, slave *os.File) *Terminal {
	t.Helper()
	term, err := Open(slave, slave, WithPassed(c.passed()))
	if err != nil {
		t.Fatal(err)
	}
	return term
}

// passed describes the client, which is in the foreground.
func (c *client) passed() Passed {
	c.stopping, c.continued, c.released = make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{}, 1)
	c.looked = make(chan struct{}, 1)
	c.present.Store(true)
	return Passed{
		Getenv:   func(string) string { return "xterm-256color" },
		Stopping: c.stopping, Continued: c.continued,
		Released: func() { note(c.released) },
		Present: func() bool {
			defer note(c.looked)
			return c.present.Load()
		},
	}
}

// typed returns the line that the shell reads from its terminal.
func typed(t *testing.T, slave *os.File) string {
	t.Helper()
	buf := make([]byte, 100)
	n, err := slave.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	return string(buf[:n])
}

// What is typed while the client is stopped, or in the background, is read by its shell. The
// terminal is not changed then: not when the client continues in the background, and not when the
// view ends.
func TestWhatIsTypedForTheShellIsTheShells(t *testing.T) {
	l := newLine(t)
	var c client
	term := c.open(t, l.slave)
	ctx, cancel := context.WithCancel(t.Context())
	events := listen(ctx, func(err error) { t.Error(err) }, term)
	back := term.Continues(ctx)
	c.present.Store(false)
	c.stopping <- struct{}{}
	<-c.released
	l.wait(t, "\x1b[23;0t")
	before := len(l.text())
	cooked, err := getTermios(term.fdIn)
	if err != nil || *cooked != *term.saved {
		t.Fatalf("the shell gets a terminal with %+v, %v", cooked, err)
	}
	c.continued <- struct{}{} // "bg"
	<-c.looked                // the view looks, and waits
	if _, err := l.master.WriteString("ls\n"); err != nil {
		t.Fatal(err)
	}
	if got := typed(t, l.slave); got != "ls\n" {
		t.Errorf("the shell reads %q", got)
	}
	if _, err := l.master.WriteString("exit\n"); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, open := <-events; open {
		t.Error("a key for the shell has arrived")
	}
	if _, open := <-back; open {
		t.Error("the terminal was taken back from the shell")
	}
	if err := term.Restore(); err != nil {
		t.Error(err)
	}
	if got := typed(t, l.slave); got != "exit\n" {
		t.Errorf("after the end of the view, the shell reads %q", got)
	}
	if got := l.text()[before:]; strings.Contains(got, "\x1b") {
		t.Errorf("the shell's screen got %q", got)
	}
}

// Between two views that follow each other the terminal stays raw, so that Ctrl-C is a key for the
// next view and no signal for the client. The last view gives the terminal back as the client had it.
func TestTheTerminalStaysRawBetweenViews(t *testing.T) {
	t.Setenv("TERM", "xterm-256color")
	l := newLine(t)
	saved, err := Save(l.slave, l.slave)
	if err != nil {
		t.Fatal(err)
	}
	var c client
	moved := c.passed()
	moved.Moving = func() bool { return true }
	first, err := Open(l.slave, l.slave, WithPassed(moved))
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Restore(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.master.WriteString("\x03\r"); err != nil {
		t.Fatal(err)
	}
	if got := typed(t, l.slave); got != "\x03\r" {
		t.Errorf("between the views, %q was typed", got)
	}
	follows := c.passed()
	if follows.Settings, err = saved.Settings(); err != nil {
		t.Fatal(err)
	}
	second, err := Open(l.slave, l.slave, WithPassed(follows))
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Restore(); err != nil {
		t.Error(err)
	}
	if now, err := getTermios(second.fdIn); err != nil || *now != *saved.termios {
		t.Errorf("afterwards the terminal has %+v, %v, and had %+v", now, err, saved.termios)
	}
}

// If another process has stopped the client, the client could not announce that. So the reader checks
// whether the client is in the foreground before the first read after a pause.
func TestAStoppedClientIsLookedAt(t *testing.T) {
	l := newLine(t)
	var c client
	term := c.open(t, l.slave)
	ctx, cancel := context.WithCancel(t.Context())
	events := listen(ctx, func(err error) { t.Error(err) }, term)
	c.present.Store(false)
	if _, err := l.master.WriteString("x"); err != nil {
		t.Fatal(err)
	}
	<-c.looked
	<-c.looked
	select {
	case batch := <-events:
		t.Errorf("a key for the shell has arrived: %v", batch)
	default:
	}
	c.present.Store(true)
	if batch := <-events; len(batch) != 1 || batch[0].Kind != keys.KeyEvent {
		t.Errorf("in the foreground: %v", batch)
	}
	cancel()
	for range events {
	}
	if err := term.Restore(); err != nil {
		t.Error(err)
	}
}

// The end of a view frees its painter from a write that hangs because the terminal takes no output,
// even if a person stopped the output. The flags of the shared file description do not change.
func TestTheEndFreesAStuckPainter(t *testing.T) {
	for _, how := range []string{"not read", "stopped"} {
		t.Run(how, func(t *testing.T) {
			master, slave, err := pty.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer master.Close()
			defer slave.Close()
			var c client
			term := c.open(t, slave)
			if how == "stopped" {
				if err := stopOutput(int(slave.Fd())); err != nil {
					t.Fatal(err)
				}
			}
			painted := make(chan error, 1)
			go func() {
				var err error
				for err == nil {
					_, err = term.Write(bytes.Repeat([]byte("x"), 1<<20))
				}
				painted <- err
			}()
			for term.Ready() {
				runtime.Gosched()
			}
			for term.write.TryLock() { // until the painter is in a write
				term.write.Unlock()
			}
			for term.Behind() == 0 {
				runtime.Gosched()
			}
			if n, err := term.TryWrite([]byte("y")); n != 0 || err != nil {
				t.Errorf("beside a stuck painter: %d, %v", n, err)
			}
			_ = term.Restore()
			select {
			case <-painted:
			case <-time.After(time.Minute):
				t.Fatal("the painter is still stuck")
			}
		})
	}
}

// A terminal that takes no output from the beginning is refused, and stays as it was.
func TestATerminalThatTakesNothing(t *testing.T) {
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer slave.Close()
	fill := newNonblockingWriter(int(slave.Fd()))
	defer fill.close()
	for writable(int(slave.Fd()), 100*time.Millisecond) { // the kernel moves some of it on
		fill.write([]byte(strings.Repeat("x", 1000)))
	}
	before, err := getTermios(int(slave.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(slave, slave, WithPassed(Passed{Getenv: func(string) string { return "xterm" }})); err == nil || !strings.Contains(err.Error(), "takes no output") {
		t.Errorf("it was opened: %v", err)
	}
	if after, err := getTermios(int(slave.Fd())); err != nil || *after != *before {
		t.Errorf("left with %+v, %v", after, err)
	}
}

// Frames written with TryWrite arrive whole, in order with what others write meanwhile.
func TestTriedFramesArriveInOrder(t *testing.T) {
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer slave.Close()
	var c client
	term := c.open(t, slave)
	term.flow.answered(time.Now()) // it answers, so probes come between the frames
	const frames = 3000
	frame := func(i int) []byte { return fmt.Appendf(nil, "<%0*d>", 100+i%50, i) }
	var want bytes.Buffer
	for i := range frames {
		want.Write(frame(i))
	}
	begun := 0
	go func() {
		for i := range frames {
			n, err := term.TryWrite(frame(i))
			switch {
			case n == 0 && err == nil:
				_, _ = term.Write(frame(i))
			case n < len(frame(i)):
				begun++
				_, _ = term.Write(nil)
			}
		}
	}()
	for term.Ready() {
		runtime.Gosched()
	}
	var got bytes.Buffer
	buf := make([]byte, 512)
	for !bytes.HasSuffix(bytes.TrimSuffix(got.Bytes(), []byte(probeText)), frame(frames-1)) {
		n, err := master.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		got.Write(buf[:n])
	}
	if text := bytes.ReplaceAll(got.Bytes(), []byte(probeText), nil); !bytes.HasSuffix(text, want.Bytes()) {
		t.Errorf("%d bytes were written and did not all arrive in their order", want.Len())
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(io.Discard, master)
	}()
	_ = term.Restore()
	_ = slave.Close()
	_ = master.Close()
	<-read
}
