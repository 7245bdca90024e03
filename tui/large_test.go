package tui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/tui/panel"
)

// A large call is laid out outside of the event loop, and cannot be decided before that.
func TestLargeCall(t *testing.T) {
	r := newHarness(t, 80, 24, demo())
	e := escalation(1, `{"content":"`+strings.Repeat(`line\n`, panel.LayBytes)+`"}`, "")
	r.send(brokerMsg{msgOf(e)})
	_, cmd := r.m.Update(inputMsg{commandKey()})
	r.wants("reading a large call")
	r.paint()
	if it := r.m.approvals.Current(); !it.Since.IsZero() {
		t.Error("the call counts as seen before it was drawn")
	}
	r.run(cmd)
	r.wants("16371 more ↓", `content: "line\n`)
	r.paint()
	r.keys("/approve\r")
	r.decided(0)
	r.wants("has 16371 rows not shown yet")
}

// TestPagingALargeCall pages through a call of thousands of rows. Rows that are jumped over
// do not count as shown.
func TestPagingALargeCall(t *testing.T) {
	r := newHarness(t, 80, 24, demo())
	r.send(brokerMsg{msgOf(escalation(1, `{"content":"`+strings.Repeat(`line\n`, 5000)+`"}`, ""))})
	r.keys("\x01")
	panel, _ := r.m.panelRect()
	total, page := len(r.m.approvals.Current().Body.Rows), panel.H-1
	r.wants(fmt.Sprintf("%d more ↓", total-page))
	r.paint()
	r.keys("\x1b[F") // End
	r.wants(fmt.Sprintf("%d not shown ↑", total-2*page), "digest: ")
	r.paint()
	r.keys("/approve\r")
	r.decided(0)
	r.wants(fmt.Sprintf("#1 has %d rows not shown yet (PgDn shows more", total-2*page), "or /deny", "it)")
	r.keys("\x15")
	r.keys("\x1b[6~")
	r.wants(fmt.Sprintf("%d more ↓", total-2*page)) // behind the last page come the rows that were not shown
	r.keys("\x1b[H\x1b[6;2~")
	r.wants("#1 calls filesystem")
	presses := 0
	for ; !r.m.approvals.Current().Complete; presses++ {
		r.keys("\x1b[6~")
		r.paint()
	}
	if presses > total/page+1 {
		t.Errorf("the call took %d pages", presses)
	}
	r.keys("/approve\r")
	r.decided(1)
}

// To refuse a call it is enough to have seen a part of it.
func TestRefusingALongCall(t *testing.T) {
	r := newHarness(t, 80, 24, demo())
	r.escalate(1, `{"content":"`+strings.Repeat(`line\n`, 100)+`"}`, "")
	r.keys("\x01")
	r.paint()
	r.keys("/approve\r")
	r.decided(0)
	r.keys("\x15/deny no\r")
	r.decided(1)
}

// TestScrolledViewStays looks back into a scrollback that is full while the
// agent goes on writing.
func TestScrolledViewStays(t *testing.T) {
	for _, open := range []string{"\x1b[<64;5;5M\x1b[<64;5;5M\x1b[<64;5;5M", "\x01[\x1b[5~"} {
		r := newHarness(t, 80, 24, Options{Scrollback: 100})
		number := 0
		more := func(n int) {
			for range n {
				number++
				r.agentSays(1, fmt.Sprintf("line %d\r\n", number))
			}
		}
		more(300)
		r.keys(open)
		top := func() string { return strings.Split(r.screen(), "\n")[1] }
		before := top()
		more(40)
		if after := top(); after != before {
			t.Errorf("the view moved from %q to %q", before, after)
		}
		r.keys("\x1b[<64;5;5M\x1b[<65;5;5M")
		if after := top(); after != before {
			t.Errorf("after scrolling there and back the view moved from %q to %q", before, after)
		}
	}
}
