package outer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
)

func TestRestoreHoweverItEnds(t *testing.T) {
	tests := []struct {
		how    string
		signal syscall.Signal
		says   string
	}{
		{how: "exit"},
		{how: "panic", says: "something is wrong"},
		{how: "panic elsewhere", says: "something is wrong elsewhere"},
		{how: "wait for SIGTERM", signal: unix.SIGTERM},
		{how: "wait for SIGHUP", signal: unix.SIGHUP},
	}
	for _, tt := range tests {
		t.Run(tt.how, func(t *testing.T) {
			l := newLine(t)
			before, err := getTermios(int(l.slave.Fd()))
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), helperEnv+"="+tt.how, "TERM=xterm-256color")
			cmd.Stdin, cmd.Stdout, cmd.Stderr = l.slave, l.slave, l.slave
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			l.wait(t, "READY")
			if tt.signal != 0 {
				if err := cmd.Process.Signal(tt.signal); err != nil {
					t.Fatal(err)
				}
			}
			err = cmd.Wait()
			if failed := tt.says != ""; (err != nil) != failed {
				t.Errorf("it ended with %v", err)
			}
			l.wait(t, "\x1b[23;0t")
			after, err := getTermios(int(l.slave.Fd()))
			if err != nil {
				t.Fatal(err)
			}
			if *after != *before {
				t.Errorf("line discipline %+v, was %+v", after, before)
			}
			if tt.says != "" {
				l.wait(t, tt.says)
				if text := l.text(); strings.Index(text, tt.says) < strings.Index(text, "\x1b[?1049l") {
					t.Errorf("the panic is on the screen that is gone: %q", text)
				}
			}
			checkRestored(t, l.text())
		})
	}
}

func open(t *testing.T, l *line, o ...Option) *Terminal {
	t.Helper()
	t.Setenv("TERM", "xterm-256color")
	term, err := Open(l.slave, l.slave, o...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { term.Restore() })
	return term
}

func TestOpenRefuses(t *testing.T) {
	l := newLine(t)
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	tests := []struct {
		name, term string
		in, out    *os.File
		says       string
	}{
		{"TERM unset", "", l.slave, l.slave, "TERM is not set"},
		{"TERM dumb", "dumb", l.slave, l.slave, "TERM is dumb"},
		{"input redirected", "xterm", null, l.slave, "standard input is not a terminal"},
		{"output redirected", "xterm", l.slave, null, "standard output is not a terminal"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("TERM", tt.term)
			_, err := Open(tt.in, tt.out)
			var e *fault.Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), tt.says) || e.Hint() == "" {
				t.Errorf("got %v, want an error that says %q and a hint", err, tt.says)
			}
		})
	}
	if got := l.text(); got != "" {
		t.Errorf("a terminal that was refused got %q", got)
	}
}

func TestRestoreOnce(t *testing.T) {
	l := newLine(t)
	term := open(t, l)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := term.Restore(); err != nil {
				t.Error(err)
			}
		})
		all.Go(func() { _, _ = term.Write([]byte("frame")) })
	}
	all.Wait()
	l.wait(t, "\x1b[23;0t")
	checkRestored(t, l.text())
	if text := l.text(); !strings.HasSuffix(text, "\x1b[23;0t") {
		t.Errorf("something was written after the end: %q", text)
	}
	if _, err := term.Write([]byte("x")); !errors.Is(err, ErrRestored) {
		t.Errorf("a late write: %v", err)
	}
}

// TestRestoreWhileWriteHangs fills a terminal that nobody reads.
func TestRestoreWhileWriteHangs(t *testing.T) {
	t.Setenv("TERM", "xterm-256color")
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer slave.Close()
	before, err := getTermios(int(slave.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	term, err := Open(slave, slave)
	if err != nil {
		t.Fatal(err)
	}
	writing := make(chan struct{})
	go func() {
		defer close(writing)
		for range 64 {
			if _, err := term.Write(bytes.Repeat([]byte("x"), 1<<20)); err != nil {
				return
			}
		}
	}()
	for term.write.TryLock() { // until the writer is in a write
		term.write.Unlock()
	}
	restored := make(chan error, 1)
	go func() { restored <- term.Restore() }()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	select {
	case <-restored:
	case <-deadline.C:
		t.Fatal("Restore hangs behind a write")
	}
	after, err := getTermios(int(slave.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if *after != *before {
		t.Errorf("line discipline %+v, was %+v", after, before)
	}
	slave.Close()
	master.Close()
	<-writing
}

// Small frames reach a terminal that takes nothing for a while, whole and in order, and
// the flags of the shared descriptor do not change.
func TestSmallFramesArriveInOrder(t *testing.T) {
	t.Setenv("TERM", "xterm-256color")
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer slave.Close()
	term, err := Open(slave, slave)
	if err != nil {
		t.Fatal(err)
	}
	if flags, err := unix.FcntlInt(slave.Fd(), unix.F_GETFL, 0); err != nil || flags&unix.O_NONBLOCK != 0 {
		t.Errorf("flags of the terminal: %x, %v", flags, err)
	}
	const frames = 3000
	frame := func(i int) []byte { return fmt.Appendf(nil, "<%0*d>", 100+i%50, i) }
	var want bytes.Buffer
	for i := range frames {
		want.Write(frame(i))
	}
	written := make(chan error, 1)
	go func() {
		var all error
		for i := range frames {
			_, err := term.Write(frame(i))
			all = errors.Join(all, err)
		}
		written <- all
	}()
	for term.Ready() { // until it takes no more
		runtime.Gosched()
	}
	var got bytes.Buffer
	buf := make([]byte, 512)
	for !bytes.HasSuffix(got.Bytes(), frame(frames-1)) {
		n, err := master.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		got.Write(buf[:n])
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
	text := bytes.ReplaceAll(got.Bytes(), []byte(probeText), nil)
	if !bytes.HasSuffix(text, want.Bytes()) {
		t.Errorf("%d bytes were written and did not all arrive in their order", want.Len())
	}
	go func() { _, _ = io.Copy(io.Discard, master) }()
	if err := term.Restore(); err != nil {
		t.Error(err)
	}
}

// listen delivers what a terminal sends over a channel, which closes with it.
func listen(ctx context.Context, failed func(error), term *Terminal) <-chan []keys.Event {
	events := make(chan []keys.Event)
	go func() {
		defer close(events)
		err := term.Listen(ctx, func(batch []keys.Event) {
			select {
			case events <- batch:
			case <-ctx.Done():
			}
		})
		if err != nil {
			failed(err)
		}
	}()
	for term.reader.Load() == nil { // whoever borrows the terminal must find it
		runtime.Gosched()
	}
	return events
}

func TestEvents(t *testing.T) {
	l := newLine(t)
	term := open(t, l)
	ctx, cancel := context.WithCancel(t.Context())
	events := listen(ctx, func(err error) { t.Error(err) }, term)
	next := func() string {
		t.Helper()
		deadline := time.NewTimer(time.Minute)
		defer deadline.Stop()
		var names []string
		select {
		case batch := <-events:
			for _, ev := range batch {
				names = append(names, ev.String())
			}
		case <-deadline.C:
			t.Fatal("no event came")
		}
		return strings.Join(names, " ")
	}
	for _, tt := range []struct{ typed, want string }{
		{"a\x01\x1b[A", "a ctrl+a up"},
		{"\x1b", "esc"}, // after its quiet time
		{"\x03\x1c\x1a\x11\x13", "ctrl+c ctrl+\\ ctrl+z ctrl+q ctrl+s"},
		{"\r\n", "enter ctrl+j"},
		{"\x1b[<0;1;1M", "mouseleft"},
	} {
		t.Run(tt.typed, func(t *testing.T) {
			if _, err := l.master.WriteString(tt.typed); err != nil {
				t.Fatal(err)
			}
			if got := next(); got != tt.want {
				t.Errorf("%q is %s, want %s", tt.typed, got, tt.want)
			}
		})
	}
	cancel()
	for range events { // closes
	}
}

func TestLargePasteArrivesWhole(t *testing.T) {
	l := newLine(t)
	term := open(t, l)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	events := listen(ctx, func(err error) { t.Error(err) }, term)
	const size = 2 << 20
	data := bytes.Repeat([]byte("0123456789abcdef"), size/16)
	go func() {
		_, _ = l.master.WriteString("\x1b[200~")
		_, _ = l.master.Write(data)
		_, _ = l.master.WriteString("\x1b[201~")
	}()
	var got []byte
	for batch := range events {
		for _, ev := range batch {
			got = append(got, ev.Paste.Data...)
			if ev.Paste.End {
				cancel()
			}
		}
	}
	if !bytes.Equal(got, data) {
		t.Errorf("%d bytes came of %d, or in another order", len(got), len(data))
	}
}

func TestEventsEndWithTheTerminal(t *testing.T) {
	t.Setenv("TERM", "xterm-256color")
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer slave.Close()
	term, err := Open(slave, slave)
	if err != nil {
		t.Fatal(err)
	}
	events := listen(t.Context(), func(err error) { t.Error(err) }, term)
	master.Close()
	for range events { // closes
	}
	_ = term.Restore() // its terminal is gone; it must only not hang
}

func TestSizes(t *testing.T) {
	l := newLine(t)
	term := open(t, l)
	if got := term.Size(); got != (Size{80, 24}) {
		t.Errorf("size %v", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	sizes := term.Resizes(ctx)
	if got := <-sizes; got != (Size{80, 24}) {
		t.Errorf("at first %v", got)
	}
	if err := pty.Setsize(l.master, &pty.Winsize{Cols: 19, Rows: 10}); err != nil {
		t.Fatal(err)
	}
	// The slave is not this process's controlling terminal, so the signal is
	// sent by hand.
	if err := unix.Kill(os.Getpid(), unix.SIGWINCH); err != nil {
		t.Fatal(err)
	}
	if got := <-sizes; got != (Size{19, 10}) {
		t.Errorf("resized to %v", got)
	}
	cancel()
	for range sizes { // closes
	}
}

func TestModes(t *testing.T) {
	l := newLine(t)
	term := open(t, l, WithoutMouse())
	steps := []struct {
		do   func() error
		want string
	}{
		{func() error { return term.SetMouse(keys.MouseOff) }, ""},
		{func() error { return term.SetMouse(keys.MouseClick) }, mouseOff + "\x1b[?1002h\x1b[?1006h"},
		{func() error { return term.SetMouse(keys.MouseDrag) }, ""},
		{func() error { return term.SetKeyboard(0) }, ""},
		{func() error { return term.SetKeyboard(keys.KittyEventTypes) }, "\x1b[=7;1u"},
		{func() error { return term.SetTitle("a\x1b]0;b\x07\u202ec") }, "\x1b]0;a]0;bc\x07"},
		{func() error { return term.Notify("a\x1bb", "x\x07y") }, "\x1b]9;ab: xy\x07"},
		{func() error { t.Setenv("TERM", "foot"); return term.Notify("a;b", "x;y") }, "\x1b]777;notify;a,b;x;y\x1b\\"},
		{func() error { return term.Copy("hi\x1b") }, "\x1b]52;c;aGkb\x07"},
		{func() error { return term.Bell() }, "\a"},
	}
	want := enter(keys.MouseOff, baseKeyboard)
	for _, s := range steps {
		if err := s.do(); err != nil {
			t.Fatal(err)
		}
		want += s.want
	}
	if err := term.Copy(strings.Repeat("x", maxCopy+1)); err == nil {
		t.Error("copies without limit")
	}
	if err := term.Restore(); err != nil {
		t.Fatal(err)
	}
	l.wait(t, "\x1b[23;0t")
	if got := l.text(); got != want+leave {
		t.Errorf("written %q\nwant    %q", got, want+leave)
	}
	checkRestored(t, l.text())
}
