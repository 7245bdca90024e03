package outer

import (
	"context"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
)

// A terminal that is read line by line tells a paste from typing, echoes nothing, keeps the
// keys that send signals, and is given back as it was. What was typed before is dropped.
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
	lines, err := OpenLines(l.slave, l.slave)
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
		}, func() {})
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
