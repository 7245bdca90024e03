package outer

import (
	"context"
	"os"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
)

// Lines distinguishes pastes from typing, echoes nothing, keeps the keys that send signals, and
// gives the terminal back as it was. What was typed before is dropped.
func TestLinesTellAPasteFromTyping(t *testing.T) {
	t.Setenv("TERM", "xterm")
	l := newLine(t)
	before, err := getTermios(int(l.slave.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.master.WriteString("typed before\r"); err != nil {
		t.Fatal(err)
	}
	l.wait(t, "typed before")
	var c client
	streams := c.streams(t, l.slave)
	passed := c.passed()
	c.present.Store(false)
	if _, err := OpenLines(streams.In, streams.Out, passed, false); err == nil {
		t.Error("it was opened for a client in the background")
	}
	c.present.Store(true)
	lines, err := OpenLines(streams.In, streams.Out, passed, false)
	if err != nil {
		t.Fatal(err)
	}
	l.wait(t, markPastes)
	within, err := getTermios(int(l.slave.Fd()))
	if err != nil || within.Lflag&(unix.ECHO|unix.ICANON) != 0 || within.Lflag&unix.ISIG == 0 || within.Oflag != before.Oflag {
		t.Errorf("the settings are %+v, %v", within, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var got []string
	var reading sync.WaitGroup
	reading.Go(func() {
		err := lines.Listen(ctx, func(events []keys.Event) {
			for _, ev := range events {
				switch {
				case ev.Kind == keys.PasteEvent && len(ev.Paste.Data) == 0: // its beginning or end
				case ev.Kind == keys.PasteEvent:
					got = append(got, "paste "+string(ev.Paste.Data))
				default:
					got = append(got, ev.Key.String())
				}
				if ev.Key.Code == keys.KeyEnter {
					cancel()
				}
			}
		}, func() {}, func() {})
		if err != nil {
			t.Error(err)
		}
	})
	if _, err := l.master.WriteString("a\x1b[200~b\x1b[201~\r"); err != nil {
		t.Fatal(err)
	}
	reading.Wait()
	if len(got) != 3 || got[0] != "a" || got[1] != "paste b" || got[2] != "enter" {
		t.Errorf("got %q", got)
	}
	if err := lines.Close(); err != nil {
		t.Fatal(err)
	}
	l.wait(t, unmarkPastes)
	after, err := getTermios(int(l.slave.Fd()))
	if err != nil || *after != *before {
		t.Errorf("the settings were %+v and are %+v, %v", before, after, err)
	}
}

// streams passes the terminal as all three streams.
func (c *client) streams(t *testing.T, slave *os.File) *Streams {
	t.Helper()
	s, err := PassStreams(slave, slave, slave, c.present.Load)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// While the client is stopped, the terminal is as it was, and nothing is shown or read. Close then
// does not change it, because the shell has it.
func TestLinesOfAStoppedClient(t *testing.T) {
	l := newLine(t)
	before, err := getTermios(int(l.slave.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	var c client
	streams := c.streams(t, l.slave)
	passed := c.passed()
	lines, err := OpenLines(streams.In, streams.Out, passed, false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	steps := make(chan string, 4)
	ended := make(chan error, 1)
	go func() {
		ended <- lines.Listen(ctx, func([]keys.Event) { t.Error("a key for the shell has arrived") },
			func() { steps <- "leave" }, func() { steps <- "back" })
	}()
	for range 2 {
		c.present.Store(false)
		c.stopping <- struct{}{}
		<-c.released
		if got := <-steps; got != "leave" {
			t.Fatal(got)
		}
		cooked, err := getTermios(int(l.slave.Fd()))
		if err != nil || *cooked != *before {
			t.Fatalf("the shell gets a terminal with %+v, %v", cooked, err)
		}
		if len(steps) > 0 {
			t.Fatal("the line is shown to a shell")
		}
		if ctx.Err() != nil {
			break
		}
		c.present.Store(true)
		c.continued <- struct{}{}
		if got := <-steps; got != "back" {
			t.Fatal(got)
		}
		within, err := getTermios(int(l.slave.Fd()))
		if err != nil || within.Lflag&unix.ICANON != 0 {
			t.Fatalf("the settings are %+v, %v", within, err)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := lines.Close(); err != nil {
		t.Error(err)
	}
}
