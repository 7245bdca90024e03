package tui

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/pane"
)

// patience is how long a test waits for something on the screen. Only a failing test takes
// so long.
const patience = time.Minute

// userTerminal is a terminal with a person before it: a host pty whose other end is
// read by the terminal engine.
type userTerminal struct {
	t      testing.TB
	broker *fakeBroker
	ptmx   *os.File
	tty    *os.File
	screen *term.Screen
	done   chan error
	cancel context.CancelFunc

	read chan struct{} // capacity 1, lossy: something was written

	mu  sync.Mutex
	raw bytes.Buffer // all that was written to the terminal
}

// startMux starts the multiplexer on a new terminal of 80×24 cells.
func startMux(t testing.TB, b *fakeBroker, o Options) *userTerminal {
	t.Helper()
	return startMuxWith(t, b, b, 80, 24, o)
}

// startMuxWith does it with a broker that is not the fake one itself.
func startMuxWith(t testing.TB, b *fakeBroker, api broker.API, cols, rows int, o Options) *userTerminal {
	t.Helper()
	t.Setenv("TERM", "xterm-256color")
	ptmx, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	ptmx = awaited(t, ptmx)
	if err := setSize(ptmx, cols, rows); err != nil {
		t.Fatal(err)
	}
	screen, err := term.NewScreen(term.Options{Cols: cols, Rows: rows})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &userTerminal{t: t, broker: b, ptmx: ptmx, tty: tty, screen: screen, done: make(chan error, 1), cancel: cancel, read: make(chan struct{}, 1)}
	read := make(chan struct{})
	go func() {
		defer close(read)
		p.watch()
	}()
	o.API, o.In, o.Out = api, tty, tty
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.done <- Run(ctx, o)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
		_ = tty.Close()
		_ = ptmx.Close()
		<-read
		for _, x := range b.terminals() {
			_ = x.Close()
			<-x.done
		}
	})
	return p
}

// awaited is a file whose reads and writes wait without blocking a thread, because with few
// processors blocked threads would delay everything else.
func awaited(t testing.TB, f *os.File) *os.File {
	t.Helper()
	defer f.Close()
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fd), f.Name())
}

// watch feeds the terminal engine and answers the multiplexer's queries.
func (p *userTerminal) watch() {
	buf := make([]byte, 64<<10)
	for {
		n, err := p.ptmx.Read(buf)
		p.mu.Lock()
		p.raw.Write(buf[:n])
		p.mu.Unlock()
		wakes(p.read)
		_, _ = p.screen.Write(buf[:n])
		if replies := p.screen.TakeReplies(); len(replies) > 0 {
			_, _ = p.ptmx.Write(replies)
		}
		if err != nil {
			return
		}
	}
}

func (p *userTerminal) types(s string) {
	p.t.Helper()
	if _, err := p.ptmx.WriteString(s); err != nil {
		p.t.Fatal(err)
	}
}

// bytes returns how many bytes were written to the terminal; since returns those that came
// after so many.
func (p *userTerminal) bytes() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.raw.Len()
}

func (p *userTerminal) since(n int) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return string(p.raw.Bytes()[n:])
}

// text returns what the person sees.
func (p *userTerminal) text() string {
	return strings.Join(p.screen.Text(p.screen.LineCount()-1000, 1000), "\n")
}

// until waits for a condition.
func (p *userTerminal) until(what string, ok func() bool) {
	p.t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		if ok() {
			return
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			p.t.Fatalf("waited too long for %s; the screen:\n%s", what, p.text())
		}
	}
}

func (p *userTerminal) sees(parts ...string) {
	p.t.Helper()
	for _, part := range parts {
		p.until(fmt.Sprintf("%q", part), func() bool { return strings.Contains(p.text(), part) })
	}
}

// leaves waits for the multiplexer to end and checks that it has restored the terminal.
func (p *userTerminal) leaves() {
	p.t.Helper()
	select {
	case err := <-p.done:
		if err != nil {
			p.t.Fatalf("Run: %v", err)
		}
	case <-time.After(patience):
		p.t.Fatalf("the multiplexer does not end; the screen:\n%s", p.text())
	}
	p.until("the terminal to be given back", func() bool {
		m := p.screen.Modes()
		return !m.AltScreen && !m.BracketedPaste && m.Mouse == 0 && m.Kitty == 0 && !m.FocusEvents
	})
}

// echoAgent is a program that greets, and answers every line with what it got.
func echoAgent(t *fakeTerminal) {
	fmt.Fprint(t.agentW, "\x1b[1mready\x1b[m\r\n")
	in := bufio.NewReader(t.agentR)
	for {
		line, err := in.ReadString('\r')
		if err != nil {
			return
		}
		fmt.Fprintf(t.agentW, "got %q\r\n", strings.TrimSuffix(line, "\r"))
	}
}

// TestEndToEnd goes the whole way in a real pty: an agent runs, a call waits, and the person
// approves it.
func TestEndToEnd(t *testing.T) {
	b := newFakeBroker()
	b.agent = echoAgent
	p := startMux(t, b, demo())
	p.sees("claude-code", "ready")
	p.types("hello\r")
	p.sees(`got "hello"`)

	e := escalation(1, `{"path":"/etc/hosts"}`, "")
	b.mu.Lock()
	b.pending = append(b.pending, e)
	b.mu.Unlock()
	b.events <- broker.Event{Kind: broker.EventEscalation, Escalation: &e}
	p.sees("1 waiting", "#1 waits · tab 1 claude-code · filesystem/write_file · ", "Ctrl-A to decide")
	if strings.Contains(p.text(), "approval 1/1") {
		t.Error("the panel opened by itself")
	}
	p.types("/approve\r") // to the agent, nothing else
	p.sees(`got "/approve"`)

	p.types("\x01")
	p.sees("approval 1/1", "amber fox", `path: "/etc/hosts"`)
	p.types("/approve\r")
	p.until("the decision", func() bool {
		// On a busy machine the panel is drawn late: Enter is asked for again.
		screen := p.text()
		if len(b.decisions()) == 0 && (strings.Contains(screen, "only just appeared") || strings.Contains(screen, "has not been on the screen yet")) {
			p.types("\r")
		}
		return len(b.decisions()) > 0
	})
	if d := b.decisions(); len(d) != 1 || !d[0].Approve || d[0].ID != "e1" || d[0].Digest != e.Digest {
		t.Errorf("decisions: %+v", d)
	}
	p.sees("#1 approved by you")

	p.types("\x01make it so\r")
	p.sees(`got "make it so"`)
	p.types("\x01\x01x\r")
	p.sees(`got "\x01x"`)

	p.types("\x01/quit\r")
	p.sees("y/n: an agent runs")
	p.types("y")
	p.leaves()
}

// TestQuitBySignal ends with the context, as on SIGTERM and SIGHUP.
func TestQuitBySignal(t *testing.T) {
	b := newFakeBroker()
	b.agent = echoAgent
	p := startMux(t, b, Options{})
	p.sees("ready")
	p.cancel()
	p.leaves()
}

// TestResizeStorm drags the window. The agent is resized at once, then only now and then,
// and at the end to the right size.
func TestResizeStorm(t *testing.T) {
	b := newFakeBroker()
	b.agent = echoAgent
	p := startMux(t, b, Options{})
	p.sees("ready")
	for i := range 100 {
		if err := setSize(p.ptmx, 80+i, 24+i%20); err != nil {
			t.Fatal(err)
		}
		// The pty is not this process's own terminal, which would be told.
		if err := syscall.Kill(os.Getpid(), syscall.SIGWINCH); err != nil {
			t.Fatal(err)
		}
	}
	x := b.terminal("s1")
	p.until("the final size", func() bool {
		x.mu.Lock()
		defer x.mu.Unlock()
		return len(x.sizes) > 0 && x.sizes[len(x.sizes)-1] == [2]int{179, 24 + 99%20 - 2}
	})
	x.mu.Lock()
	for i := 1; i < len(x.resized); i++ {
		if pause := x.resized[i].Sub(x.resized[i-1]); pause < pane.ResizeEvery {
			t.Errorf("resized again after %v", pause)
		}
	}
	x.mu.Unlock()
	p.types("\x01/quit!\r")
	p.leaves()
}

// TestLargePaste pastes 10 MB into an agent that reads slowly, and then types. All of it
// arrives in order, and the size of the queue is bounded.
func TestLargePaste(t *testing.T) {
	const size = 10 << 20
	b := newFakeBroker()
	got := make(chan string, 1)
	var p *userTerminal
	b.agent = func(x *fakeTerminal) {
		fmt.Fprint(x.agentW, "\x1b[?2004hready\r\n")
		buf := make([]byte, size+len("\x1b[200~\x1b[201~after"))
		for n := 0; n < len(buf); {
			k, err := x.agentR.Read(buf[n:min(len(buf), n+8<<10)])
			if err != nil {
				return
			}
			n += k
		}
		got <- string(buf)
		_, _ = io.Copy(io.Discard, x.agentR)
	}
	p = startMux(t, b, Options{})
	p.sees("ready")
	body := bytes.Repeat([]byte("0123456789abcdef"), size/16)
	go func() {
		_, _ = p.ptmx.WriteString("\x1b[200~")
		_, _ = p.ptmx.Write(body)
		_, _ = p.ptmx.WriteString("\x1b[201~after")
	}()
	select {
	case s := <-got:
		if want := "\x1b[200~" + string(body) + "\x1b[201~" + "after"; s != want[:len(s)] {
			t.Error("the paste arrived changed")
		}
	case <-time.After(2 * patience):
		t.Fatal("the paste did not arrive")
	}
	p.types("\x01/quit!\r")
	p.leaves()
}
