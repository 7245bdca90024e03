package tui

import (
	"fmt"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/paint"
)

// A view that is scrolled back shows the same lines in every frame while the agent
// floods its screen.
func TestScrolledViewStandsStill(t *testing.T) {
	const lines, top = 60_000, 10
	r := newHarness(t, 80, 24, Options{Scrollback: 2 * lines})
	p := r.m.current().pane
	for i := range 100 {
		fmt.Fprintf(p.screen, "line %d\r\n", i)
	}
	c := newCompositor(&recorder{harness: r}, paint.TrueColor, false, new(inputPriority), func(uint64, time.Time) {})
	c.frames[p] = new(term.Frame)
	flooded := make(chan struct{})
	go func() {
		defer close(flooded)
		for i := range lines {
			fmt.Fprintf(p.screen, "more %d\r\n", i)
		}
	}()
	for frames := 0; ; frames++ {
		f := c.snapshot(placedPane{Pane: p, Scrolled: true, Top: top})
		if got, want := cellText(f.Lines[0].Cells[:8]), fmt.Sprintf("line %-3d", top); got != want {
			t.Fatalf("frame %d begins with %q, want %q", frames, got, want)
		}
		select {
		case <-flooded:
			return
		default:
		}
	}
}
