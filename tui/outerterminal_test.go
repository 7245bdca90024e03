package tui

import (
	"context"
	"reflect"
	"testing"
	"testing/synctest"
	"time"
)

// A terminal that takes no output is stalled after 30 seconds and given up after ten minutes.
// One that takes a little now and then is neither.
func TestStalledTerminals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		since := begin // when the write began
		var told []string
		follow := func(ctx context.Context) error {
			return followOutput(ctx, func() time.Duration {
				if time.Since(begin) < 5*time.Minute && time.Since(since) > 20*time.Second {
					since = time.Now()
				}
				return time.Since(since)
			}, func(bool) {
				told = append(told, time.Since(begin).Truncate(10*time.Second).String())
			})
		}
		if err := follow(t.Context()); err == nil {
			t.Error("it is not given up")
		}
		if ended := time.Since(begin); ended < 14*time.Minute || ended > 16*time.Minute {
			t.Errorf("given up after %v", ended)
		}
		if want := []string{"5m20s"}; !reflect.DeepEqual(told, want) {
			t.Errorf("told at %v, want %v", told, want)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := follow(ctx); err != nil {
			t.Errorf("the end of the view: %v", err)
		}
	})
}

// A stalled view does not have the size of a tab; one that goes on has it when it is used.
func TestAStalledViewHasNoSize(t *testing.T) {
	r := newHarness(t, 100, 30, Options{})
	r.send(stalledMsg{true})
	r.send(sizeMsg{120, 40})
	r.keys("x")
	if cols, rows := r.m.current().pane.Screen.Size(); cols != 100 || rows != 28 {
		t.Errorf("stalled: %dx%d", cols, rows)
	}
	r.send(stalledMsg{false})
	r.keys("x")
	if cols, rows := r.m.current().pane.Screen.Size(); cols != 120 || rows != 38 {
		t.Errorf("goes on: %dx%d", cols, rows)
	}
}
