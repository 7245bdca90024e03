package tui

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// ofDaemon makes the first view of a daemon, which opens a tab.
func ofDaemon(t *testing.T, cols, rows int) *harness {
	t.Helper()
	r := newHarness(t, cols, rows, Options{Detach: true})
	r.send(listedMsg{at: r.now})
	return r
}

// beside makes a second view of what a harness shows, in a window of another size.
func (r *harness) beside(cols, rows int) *harness {
	r.t.Helper()
	other := bareHarness(r.t, Options{Detach: true, Mux: r.m.mux})
	other.broker.sessions = r.broker.sessions
	other.send(sizeMsg{cols, rows})
	other.send(listedMsg{at: other.now, sessions: r.broker.sessions})
	other.send(changedMsg{})
	return other
}

// hasSize fails unless the first tab has a size.
func (r *harness) hasSize(when string, cols, rows int) {
	r.t.Helper()
	if c, n := r.m.numbered(1).pane.Screen.Size(); c != cols || n != rows {
		r.t.Errorf("%s: the tab has %dx%d, want %dx%d", when, c, n, cols, rows)
	}
}

// scrollback is a hash of all lines of the first tab.
func (r *harness) scrollback() string {
	s := r.m.numbered(1).pane.Screen
	h := sha256.New()
	for i := range s.LineCount() {
		cells, wrapped := s.Line(i)
		fmt.Fprintf(h, "%v %t\n", cells, wrapped)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// numberedLines are lines that say in each tenth column which one it is.
func numberedLines(lines, cols int) string {
	var b strings.Builder
	for i := range lines {
		for x := 0; x < cols; x += 10 {
			fmt.Fprintf(&b, "%4d/%-5d", i, x)
		}
		b.WriteString("\r\n")
	}
	return b.String()
}

// A small window beside a large one shows a part of the tab, follows the cursor, is panned and
// typed in, and changes neither the size nor a line.
func TestASmallWindowShowsAPart(t *testing.T) {
	large := ofDaemon(t, 200, 50)
	large.hasSize("opened", 200, 48)
	large.agentSays(1, numberedLines(100, 190)+"\x1b[Hhome \x1b[20;150Hhere>")
	before := large.scrollback()
	small := large.beside(40, 20)
	unchanged := func(when string) {
		t.Helper()
		large.hasSize(when, 200, 48)
		if large.scrollback() != before {
			t.Errorf("%s: the scrollback has changed", when)
		}
	}
	unchanged("attached")
	small.wants("a part of 200x48", "here>")
	if strings.Contains(small.screen(), "home") {
		t.Errorf("the part does not follow the cursor:\n%s", small.screen())
	}

	small.keys("\x01" + strings.Repeat("\x1b[1;2D", 6))
	small.keys(strings.Repeat("\x1b[1;2A", 3) + "\x1b")
	small.wants("home", "  54/20", "a part of 200x48", "panned")
	small.keys("\x01/pan down\r\x01/pan right\r")
	small.wants("  63/20", "  63/40")
	small.keys("\x01/pan sideways\r")
	small.wants("takes left, right, up")
	small.keys("\x15/pan\r")
	small.wants("here>")
	small.keys("\x01\x1b[1;2D\x1b")
	small.keys("typed")
	small.wants("here>")
	if got := large.queued(1); got != "typed" {
		t.Errorf("the agent got %q", got)
	}
	unchanged("typed")
	small.send(sizeMsg{30, 12})
	unchanged("made smaller")
	small.send(sizeMsg{40, 20})

	small.keys("\x1b[<0;40;19M\x1b[<0;40;19m")
	small.keys("\x01[\x1b[<64;5;5M")
	small.keys("0$")
	if c := small.m.copying.Cursor; c.X < 150 {
		t.Errorf("copy mode is at %v", c)
	}
	small.wants("/180")
	small.keys("/54/0\r")
	small.wants("54/0 ")
	small.keys("q")
	unchanged("copied")
	for _, x := range large.m.tabs {
		x.pane.Leave()
	}
	small.keys("x")
	if cols, rows := small.m.current().pane.Screen.Size(); cols != 200 || rows != 48 {
		t.Errorf("alone: %dx%d", cols, rows)
	}
	large.m.tabs = nil
	small.send(changedMsg{})
	back := small.beside(200, 50)
	back.keys("x")
	back.hasSize("back", 200, 48)
	if back.scrollback() != before {
		t.Error("back: the scrollback has changed")
	}
}

// The mouse points at the cells that a person sees, and a program hears of no click beside its
// screen.
func TestMouseInAPart(t *testing.T) {
	large := ofDaemon(t, 200, 50)
	large.agentSays(1, numberedLines(60, 190)+"\x1b[20;150Hhere>")
	small := large.beside(40, 20)
	small.keys("\x1b[<0;35;19M\x1b[<32;39;19M\x1b[<0;39;19m")
	if got := strings.Join(small.copied, ""); got != "here>" {
		t.Errorf("selected %q", got)
	}
	large.agentSays(1, "\x1b[?1000h\x1b[?1006h")
	small.keys("\x1b[<0;35;19M\x1b[<0;35;19m")
	if got := large.queued(1); got != "\x1b[<0;150;20M\x1b[<0;150;20m" {
		t.Errorf("the program got %q", got)
	}
	medium := large.beside(100, 30)
	medium.keys("x")
	large.send(changedMsg{})
	large.keys("\x1b[<0;150;5M\x1b[<0;150;5m\x1b[<0;10;40M\x1b[<0;10;40m")
	if got := large.queued(1); !strings.HasSuffix(got, "20mx") {
		t.Errorf("the program got %q", got)
	}
	large.hasSize("clicked beside it", 100, 28)
}

// A larger window shows where the tab ends. It gets the size when the tab is clicked or used in
// it, and not by scrolling or watching.
func TestALargeWindowShowsTheMargin(t *testing.T) {
	large := ofDaemon(t, 200, 50)
	dots := strings.Repeat("·", 100)
	if strings.Contains(large.screen(), dots) {
		t.Error("a margin without need")
	}
	medium := large.beside(100, 30)
	medium.keys("x")
	large.hasSize("used elsewhere", 100, 28)
	large.agentSays(1, numberedLines(60, 90))
	large.send(changedMsg{})
	if rows := strings.Split(large.screen(), "\n"); !strings.HasSuffix(rows[1], dots) || rows[40] != strings.Repeat("·", 200) {
		t.Errorf("no margin:\n%s", large.screen())
	}
	large.keys("\x1b[<64;5;5M")
	large.wants("  30/0", "  57/0", "3 lines back")
	large.keys("\x1b[I\x1b[O\x1b[I\x1b[<65;5;5M")
	large.send(sizeMsg{190, 50})
	large.hasSize("watched", 100, 28)
	large.keys("\x1b[<0;5;5M\x1b[<0;5;5m")
	large.hasSize("clicked", 190, 48)
	large.send(changedMsg{})
	if strings.Contains(large.screen(), dots) {
		t.Errorf("a margin without need:\n%s", large.screen())
	}
}

// /fit asks and says why, and holds until the tab is used elsewhere.
func TestFitAsks(t *testing.T) {
	large := ofDaemon(t, 200, 50)
	small := large.beside(40, 20)
	small.keys("\x01/fit\r")
	small.wants("make this tab 40x18", "wide")
	small.keys("n")
	large.hasSize("refused", 200, 48)
	small.keys("\x01/fit\r")
	small.keys("y")
	large.hasSize("agreed", 40, 18)
	small.send(changedMsg{})
	if strings.Contains(small.screen(), "a part of") {
		t.Errorf("it is shown whole:\n%s", small.screen())
	}
	small.keys("\x01/pan left\r")
	small.wants("the whole tab is shown")
	large.keys("x")
	large.hasSize("used elsewhere", 200, 48)
	small.keys("\x15\x1b")
	small.keys("y")
	large.hasSize("used in the small window again", 200, 48)
}

// A tab that is opened in a small window begins with 80x24, also when that is the only one.
func TestASmallWindowOpensALargerTab(t *testing.T) {
	small := ofDaemon(t, 40, 20)
	small.hasSize("opened", wideCols, wideRows)
	if o := small.broker.opened; len(o) != 1 || o[0].Cols != wideCols || o[0].Rows != wideRows {
		t.Errorf("the broker was asked for %+v", o)
	}
	small.keys("x")
	small.hasSize("typed", wideCols, wideRows)
	small.send(sizeMsg{100, 30})
	small.hasSize("in a larger window", 100, 28)

	large := small.beside(200, 50)
	s := broker.Session{ID: "s9", Tab: 9, Agent: "shell", State: broker.StateIdle}
	large.send(brokerMsg{broker.Event{Kind: broker.EventSession, Session: &s}}) // hears of it first
	small.send(sizeMsg{40, 20})
	small.send(openedMsg{session: s})
	if cols, rows := small.m.numbered(2).pane.Screen.Size(); cols != wideCols || rows != wideRows {
		t.Errorf("opened: %dx%d", cols, rows)
	}
}
