package view

import (
	"fmt"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/paint"
)

// A view that is scrolled back shows the same lines in every frame while the agent
// floods its screen.
func TestScrolledViewStaysTheSame(t *testing.T) {
	const lines, top = 60_000, 10
	screen, err := term.NewScreen(term.Options{Cols: 80, Rows: 22, Scrollback: 2 * lines})
	if err != nil {
		t.Fatal(err)
	}
	defer screen.Close()
	for i := range 100 {
		fmt.Fprintf(screen, "line %d\r\n", i)
	}
	c := NewCompositor(nothing{}, paint.TrueColor, false, func() {}, func(uint64, time.Time) {})
	c.frames[screen] = new(term.Frame)
	flooded := make(chan struct{})
	go func() {
		defer close(flooded)
		for i := range lines {
			fmt.Fprintf(screen, "more %d\r\n", i)
		}
	}()
	for frames := 0; ; frames++ {
		f := c.snapshot(PlacedPane{Screen: screen, Scrolled: true, Top: top})
		if got, want := CellText(f.Lines[0].Cells[:8]), fmt.Sprintf("line %-3d", top); got != want {
			t.Fatalf("frame %d begins with %q, want %q", frames, got, want)
		}
		select {
		case <-flooded:
			return
		default:
		}
	}
}

// nothing is a terminal that shows nothing.
type nothing struct{ Display }

func (nothing) Ready() bool { return true }
