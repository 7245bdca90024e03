package pane

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
)

// The wait for an agent that keeps drawing is bounded.
func TestEnterWaitsForTheEndOfTheDrawing(t *testing.T) {
	const pause = 100 * time.Millisecond
	for name, tt := range map[string]struct{ frames, want time.Duration }{
		"some frames": {5, 5*60*time.Millisecond + pause}, "an animation": {1000, drawLimit},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &Pane{wrote: make(chan struct{}, 1)}
				p.ctx, p.cancel = context.WithCancel(t.Context())
				began := time.Now()
				p.output.Store(began.UnixNano())
				go func() {
					for range tt.frames {
						if !Sleep(p.ctx, 60*time.Millisecond) {
							return
						}
						p.output.Store(time.Now().UnixNano())
						signal(p.wrote)
					}
				}()
				if !p.awaitEcho(p.since(began), pause) {
					t.Fatal("the pane is open")
				}
				if took := time.Since(began); took != tt.want {
					t.Errorf("it took %v, want %v", took, tt.want)
				}
				p.cancel()
			})
		})
	}
}

// The Enter after a text is typed a pause after the agent has shown the text, or after
// echoLimit if the agent shows nothing.
func TestEnterWaitsForTheEcho(t *testing.T) {
	const pause = 100 * time.Millisecond
	for name, tt := range map[string]struct{ echo, want time.Duration }{
		"at once": {1, echoEvery + pause}, "late": {2 * time.Second, 2*time.Second + echoEvery + pause}, "never": {time.Hour, echoLimit + pause},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &Pane{wrote: make(chan struct{}, 1)}
				p.ctx, p.cancel = context.WithCancel(t.Context())
				p.output.Store(time.Now().UnixNano())
				signal(p.wrote) // left over from earlier output
				<-time.After(time.Millisecond)
				began := time.Now()
				answer := time.AfterFunc(tt.echo, func() {
					p.output.Store(time.Now().UnixNano())
					signal(p.wrote)
				})
				defer answer.Stop()
				if !p.awaitEcho(p.since(began), pause) {
					t.Fatal("the pane is open")
				}
				if took := time.Since(began); took != tt.want {
					t.Errorf("it took %v, want %v", took, tt.want)
				}
				p.cancel()
				if p.awaitEcho(p.since(time.Now().Add(time.Hour)), pause) {
					t.Error("the wait in a closed pane reports an echo")
				}
			})
		})
	}
}

// since reports whether something without a tail, typed at that time, was echoed.
func (p *Pane) since(typed time.Time) func() bool {
	return func() bool { return !p.LastOutput().Before(typed) }
}

// A text has been read when it is on the screen more often than before.
func TestEchoIsTheTextOnTheScreen(t *testing.T) {
	screen, err := term.NewScreen(term.Options{Cols: 20, Rows: 5})
	if err != nil {
		t.Fatal(err)
	}
	defer screen.Close()
	p := &Pane{Screen: screen}
	write := func(s string) {
		if _, err := screen.Write([]byte(s)); err != nil {
			t.Fatal(err)
		}
	}
	write("say hello there\r\n")
	echo := p.echoOf(tailOf("say hello there"))
	if write("drawing\r\n"); echo() {
		t.Error("a drawing is taken for the echo")
	}
	if write("> a long way to say hello there"); !echo() { // it wraps
		t.Errorf("the echo is not seen in %q", visible(screen))
	}
	for text, want := range map[string]string{
		"say hello there":             "llothere",
		"\x1b[200~say hello\x1b[201~": "sayhello",
		"two\nlines":                  "",
		"  ":                          "",
		"grüße, 世界":                   "grüße,世界",
	} {
		if got := tailOf(text); got != want {
			t.Errorf("the tail of %q is %q, want %q", text, got, want)
		}
	}
}
