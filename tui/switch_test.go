package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/tui/paint"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// colored is a screen full of colored words.
func colored(name string) string {
	var b strings.Builder
	b.WriteString("\x1b[2J\x1b[H")
	for y := range 37 {
		for x := range 12 {
			fmt.Fprintf(&b, "\x1b[38;5;%dm%s%d\x1b[m ", (x*7+y)%256, name, x%10)
		}
		b.WriteString("\r\n")
	}
	return b.String()
}

// BenchmarkSwitch measures the cost of a key that switches between two tabs, whose rows
// differ or not, up to the bytes for the person's terminal:
//
//	go test -run '^$' -bench Switch ./tui
func BenchmarkSwitch(b *testing.B) {
	for _, other := range []string{"kernel", "socket"} {
		b.Run(other, func(b *testing.B) {
			r := newHarness(b, 120, 40, Options{})
			r.keys("\x01/new shell\r")
			r.agentSays(1, colored("kernel"))
			r.agentSays(2, colored(other)+"the other")
			c := view.NewCompositor(&recorder{harness: r}, paint.TrueColor, false, func() {}, func(uint64, time.Time) {})
			painter := paint.NewPainter(paint.Options{Colors: paint.TrueColor})
			n := 0
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				r.keys("\x1b" + string(rune('1'+i%2)))
				c.Publish(r.scene)
				n = len(painter.Paint(c.Draw()))
			}
			b.ReportMetric(float64(n), "bytes/frame")
		})
	}
}

// A click where the tabs would be does nothing when there are none.
func TestClickOnNoTabs(t *testing.T) {
	r := newHarness(t, 80, 24, Options{})
	r.keys("\x01/close\ry")
	if len(r.m.tabs) != 0 {
		t.Fatal("the tab is still open")
	}
	r.keys("\x1b[<0;3;1M\x1b[<0;3;1m")
	r.wants("no tab is open")
}
