package tui

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// An agent that goes on drawing is waited for, but not for ever.
func TestEnterWaitsForTheEndOfTheDrawing(t *testing.T) {
	const pause = 100 * time.Millisecond
	for name, tt := range map[string]struct{ frames, want time.Duration }{
		"some frames": {5, 5*60*time.Millisecond + pause}, "an animation": {1000, drawLimit},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &pane{wrote: make(chan struct{}, 1)}
				p.ctx, p.cancel = context.WithCancel(t.Context())
				began := time.Now()
				p.output.Store(began.UnixNano())
				go func() {
					for range tt.frames {
						if !sleep(p.ctx, 60*time.Millisecond) {
							return
						}
						p.output.Store(time.Now().UnixNano())
						signal(p.wrote)
					}
				}()
				if !p.settle(began, pause) {
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

// The Enter behind a text comes a pause after the agent has shown the text, and
// after a while also when it shows nothing.
func TestEnterWaitsForTheEcho(t *testing.T) {
	const pause = 100 * time.Millisecond
	for name, echo := range map[string]time.Duration{"at once": 0, "late": 2 * time.Second, "never": time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &pane{wrote: make(chan struct{}, 1)}
				p.ctx, p.cancel = context.WithCancel(t.Context())
				p.output.Store(time.Now().UnixNano())
				signal(p.wrote) // of what was written before
				time.Sleep(time.Millisecond)
				began := time.Now()
				answer := time.AfterFunc(echo, func() {
					p.output.Store(time.Now().UnixNano())
					signal(p.wrote)
				})
				defer answer.Stop()
				if !p.settle(began, pause) {
					t.Fatal("the pane is open")
				}
				if took, want := time.Since(began), min(echo, echoLimit)+pause; took != want {
					t.Errorf("it took %v, want %v", took, want)
				}
				p.cancel()
				if p.settle(time.Now().Add(time.Hour), pause) {
					t.Error("a closed pane settles")
				}
			})
		})
	}
}
