package tui

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/panel"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// asks lets a call of a tab wait, for a path and with an effect that may be empty.
func (r *harness) asks(n, tab int, path, effect string) {
	e := escalation(n, "", "")
	e.Arguments, _ = json.Marshal(map[string]string{"content": "x", "path": path})
	e.Session, e.Agent = r.m.numbered(tab).session.ID, r.m.numbered(tab).session.Agent
	e.AskedAt, e.ExpiresAt = r.now, r.now.Add(5*time.Minute)
	if effect != "" {
		e.Effect = &broker.Effect{Summary: effect}
	}
	r.send(brokerMsg{msgOf(e)})
}

func (r *harness) ends(n int) {
	r.send(brokerMsg{broker.Event{Resolution: &broker.Resolution{ID: fmt.Sprintf("e%d", n), Number: n, Outcome: broker.Withdrawn, By: "caller"}}})
}

// TestGoldenStrips draws the strip in every mode that has one.
func TestGoldenStrips(t *testing.T) {
	modes := []struct {
		name string
		do   func(r *harness)
	}{
		{"strip", func(r *harness) { r.asks(1, 1, "/home/me/outside/notes.txt", "") }},
		{"strip-effect", func(r *harness) {
			r.asks(1, 1, "/home/me/outside/notes.txt", "changes /home/me/outside/notes.txt: 2 lines added, 1 line removed")
		}},
		{"strip-both", func(r *harness) {
			r.asks(1, 1, "/home/me/a project", "pushes 2 commits of refs/heads/main (1a2b3c4d5e6f) to main at https://gіthub.com/me/x")
			r.asks(2, 1, "/b", "")
			r.asks(3, 1, "/c", "")
		}},
		{"strip-other-tab", func(r *harness) { r.keys("\x01/new shell\r"); r.asks(1, 1, "/a", ""); r.asks(2, 1, "/b", "") }},
		{"strip-split", func(r *harness) { r.keys("\x01/new shell\r\x01/split down\r"); r.asks(1, 1, "/a", "") }},
		{"strip-help", func(r *harness) { r.keys("\x01?"); r.asks(1, 1, "/a", "") }},
		{"strip-picker", func(r *harness) {
			r.broker.stored = storedSessions()
			r.keys("\x01/resume\r")
			r.asks(1, 1, "/a", "")
		}},
		{"strip-copy", func(r *harness) { r.keys("\x01[gg"); r.asks(1, 1, "/a", "") }},
		{"strip-copy-low", func(r *harness) {
			r.agentSays(1, strings.Repeat("more\r\n", 60))
			r.keys("\x01[V")
			r.asks(1, 1, "/a", "")
		}},
		{"strip-search", func(r *harness) { r.keys("\x01[/text"); r.asks(1, 1, "/a", "") }},
		{"strip-message", func(r *harness) {
			r.asks(1, 1, "/a", "")
			r.send(brokerMsg{broker.Event{Notice: &broker.Notice{Session: "s1", Urgent: true, Text: strings.Repeat("something that matters ", 5)}}})
		}},
		{"strip-aside", func(r *harness) { r.asks(1, 1, "/a", ""); r.paint(); r.keys("\x01\x1b") }},
	}
	for _, size := range [][2]int{{20, 5}, {40, 10}, {80, 24}, {200, 50}} {
		for _, mode := range modes {
			name := fmt.Sprintf("%s-%dx%d", mode.name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				r := newHarness(t, size[0], size[1], demo())
				r.state(1, broker.StateIdle)
				r.agentSays(1, agentScreen)
				mode.do(r)
				r.m.dirty = true
				r.m.refresh()
				golden(t, name, r.screen())
			})
		}
	}
}

// The strip goes when its call is decided, and when the person presses Esc on the command
// line. It is back with the next call, which it then shows, and counts the others.
func TestTheStripComesAndGoes(t *testing.T) {
	r := newHarness(t, 100, 24, demo())
	r.keys("\x01/new shell\r")
	gone := func() {
		t.Helper()
		if r.m.strip.H != 0 || strings.Contains(r.screen(), "waits · ") {
			t.Fatalf("there is a strip:\n%s", r.screen())
		}
	}
	gone()
	r.asks(1, 1, "/a", "")
	r.wants("#1 waits · tab 1", `path: "/a"`, "Ctrl-A to decide")
	r.asks(2, 1, "/b", "")
	r.asks(3, 2, "/c", "")
	r.wants("#3 waits · tab 2 shell", "2 more waiting") // of the tab in front
	r.keys("\x1b1")
	r.wants("#1 waits", "2 more waiting")
	r.ends(1)
	r.wants("#2 waits", "1 more waiting")
	r.now = r.now.Add(time.Minute) // of the call that ended
	r.keys("\x01")
	gone() // the panel shows it
	r.keys("\x1b")
	gone()
	r.wants("Ctrl-A shows what waits for you", "2 waiting")
	r.asks(4, 2, "/d", "")
	r.wants("#4 waits · tab 2", "2 more waiting")
	r.ends(4)
	gone()
	r.asks(5, 1, "/e", "")
	r.keys("\x01\x1b") // it had only just come
	r.wants("#5 waits")
	r.keys("\x01\r") // Enter is no Esc
	r.wants("#5 waits")
}

// A decision that is under way takes the call out of the strip; when it fails, the call is
// back.
func TestTheStripWaitsForTheDecision(t *testing.T) {
	r := newHarness(t, 100, 24, demo())
	r.asks(1, 1, "/a", "")
	r.m.approvals.Items[0].Sent = true
	r.m.dirty = true
	r.m.refresh()
	if strings.Contains(r.screen(), "#1 waits") {
		t.Error("the strip shows a call that was answered")
	}
	r.send(decidedMsg{id: "e1", number: 1, err: errors.New("no answer")})
	r.wants("#1 waits")
}

// Without the strip, a hint in the status line still tells of the call.
func TestTheStripCanBeTurnedOff(t *testing.T) {
	o := demo()
	o.NoStrip = true
	r := newHarness(t, 80, 24, o)
	r.asks(1, 1, "/home/me/target", "")
	r.wants("Ctrl-A shows what waits for you", "1 waiting")
	if strings.Contains(r.screen(), "/home/me/target") {
		t.Errorf("there is a strip:\n%s", r.screen())
	}
}

// However long a call was in the strip, it is not decided before it was in the panel for
// long enough.
func TestTheStripIsNoLook(t *testing.T) {
	for _, command := range []string{"/approve\r", "/approve 1\r", "/approve all\r", "/deny\r", "/deny 1\r", "/deny all\r"} {
		r := newHarness(t, 80, 24, demo())
		r.asks(1, 1, "/a", "")
		r.keys("\x01\r") // its rows are laid out, and never painted
		for range 10 {
			r.paint()
			r.send(paintedMsg{r.scene.Seq, r.now}) // it is not asked for either
			r.m.dirty = true
			r.m.refresh()
		}
		r.keys("\x01" + command)
		r.decided(0)
		r.send(paintedMsg{r.scene.Seq, r.now})
		r.now = r.now.Add(panel.MinAge - time.Millisecond)
		r.keys("\r")
		r.decided(0)
		r.now = r.now.Add(time.Millisecond)
		r.keys("\x15" + command)
		r.decided(1)
	}
}

// The mouse works on the rows below the strip as if it was not there: a program gets its
// clicks, and a selection has the text of the pane. The program's cursor is not shown on
// the strip.
func TestTheStripLeavesTheMouseAlone(t *testing.T) {
	r := newHarness(t, 80, 24, Options{})
	for n := range 22 {
		r.agentSays(1, fmt.Sprintf("\x1b[%dHline %d", n+1, n+1))
	}
	r.asks(1, 1, "/home/me/outside/notes.txt", "")
	r.wants("#1 waits", "line 20")
	if s := r.screen(); strings.Contains(s, "line 21") || strings.Contains(s, "line 22") {
		t.Errorf("nothing is covered:\n%s", s)
	}
	if cur := r.m.strip; !cur.Contains(7, 22) {
		t.Errorf("the cursor of the program would be shown on the strip, at %v", cur)
	}
	r.keys("\x1b[<0;1;22M\x1b[<32;7;23M") // a drag over both rows
	r.wants("line 21", "line 22", "#1 waits")
	r.keys("\x1b[<0;7;23m")
	if diff := cmp.Diff([]string{"line 21\nline 22"}, r.copied); diff != "" {
		t.Error(diff)
	}
	r.agentSays(1, strings.Repeat("more\r\n", 60))
	r.keys("\x1b[<64;5;23M")
	if back := r.m.current().linesBack(r.m.focusedRect()); back != 3 {
		t.Errorf("the wheel turned %d lines back", back)
	}
	r.keys("x")
	r.agentSays(1, "\x1b[?1000h\x1b[?1006h")
	r.keys("\x1b[<0;5;23M\x1b[<0;5;23m")
	if got, want := r.queued(1), "x\x1b[<0;5;22M\x1b[<0;5;22m"; got != want {
		t.Errorf("the program got %q, want %q", got, want)
	}
	if len(r.m.approvals.Items) != 1 || r.m.mode != modeTerminal {
		t.Error("a click on the strip did something")
	}
}

// Hostile texts stay in the strip's rows, at every width, as plain cells.
func TestTheStripIsHarmless(t *testing.T) {
	long := strings.Repeat("a/", 5000)
	for _, s := range append(hostileStrings(), long) {
		for _, width := range []int{view.MinCols, 40, 80, 200} {
			e := escalation(1, "", "")
			e.Agent, e.Server, e.Tool, e.Effect = s, s, s, &broker.Effect{Summary: s}
			for _, arguments := range []any{map[string]string{"path": s, s: "x"}, []string{s}, s} {
				e.Arguments, _ = json.Marshal(arguments)
				for _, most := range []int{1, 2, 3, 7} {
					theme := view.DarkTheme()
					strip := panel.Strip{Item: &panel.Item{Call: e}, Tab: "tab 1", Others: 1}.
						Draw(view.Rect{Y: 1, W: width, H: 22}, most, theme, testTime)
					if at := strip.At; at.H > most || at.W != width || at.Y+at.H != 23 || len(strip.Cells) != at.W*at.H {
						t.Fatalf("%q: a strip of at most %d rows lies at %+v", s, most, at)
					}
					for _, c := range strip.Cells {
						if c.Rune != 0 && (c.Rune < ' ' || c.Rune >= 0x7f && c.Rune < 0xa0 || c.Marks != "") {
							t.Fatalf("%q: cell %U %q", s, c.Rune, c.Marks)
						}
					}
					if head := view.CellText(strip.Row(0)); !strings.Contains(head, "5:00") || !strings.Contains(head, "tab 1") {
						t.Fatalf("%q: the time or the tab was pushed out of %q", s, head)
					}
				}
			}
		}
	}
}

// A long value does not push another one out of the strip.
func TestTheStripSharesItsRow(t *testing.T) {
	e := escalation(1, `{"destination":"/etc/passwd","source":"/`+strings.Repeat("a", 300)+`"}`, "")
	e.Tool = "move_file"
	strip := panel.Strip{Item: &panel.Item{Call: e}}.Draw(view.Rect{W: 80, H: 22}, 7, view.DarkTheme(), testTime)
	for _, want := range []string{`destination: "/etc/passwd"`, `source: "/aaa`} {
		if !strings.Contains(strip.String(), want) {
			t.Errorf("%q is not in\n%s", want, strip)
		}
	}
}

// strips tracks what the strip has to show, from what happened alone.
type strips struct {
	*harness
	random  *rand.Rand
	waiting []broker.Escalation // the oldest first
	aside   map[int]bool
	made    int
}

// want returns the number of the call that has to be in the strip, or 0.
func (w *strips) want() int {
	found := 0
	for _, e := range w.waiting {
		if w.aside[e.Number] {
			continue
		}
		if e.Session == w.m.current().session.ID {
			return e.Number
		}
		if found == 0 {
			found = e.Number
		}
	}
	return found
}

func (w *strips) act() {
	w.now = w.now.Add(time.Duration(w.random.IntN(900)) * time.Millisecond)
	switch w.random.IntN(12) {
	case 0, 1, 2:
		w.made++
		e := escalation(w.made, fmt.Sprintf(`{"path":"/call-%d-"}`, w.made), "")
		e.Session, e.AskedAt, e.ExpiresAt = []broker.SessionID{"s1", "s2"}[w.random.IntN(2)], w.now, w.now.Add(time.Hour)
		w.waiting = append(w.waiting, e)
		w.send(brokerMsg{msgOf(e)})
	case 3, 4:
		if len(w.waiting) > 0 {
			i := w.random.IntN(len(w.waiting))
			n := w.waiting[i].Number
			w.waiting = append(w.waiting[:i:i], w.waiting[i+1:]...)
			w.ends(n)
		}
	case 5:
		w.send(sizeMsg{view.MinCols + w.random.IntN(120), view.MinRows + w.random.IntN(40)})
	case 6:
		w.leaves()
		w.keys([]string{"\x1b1", "\x1b2"}[w.random.IntN(2)])
	case 7: // Esc on the command line
		w.leaves()
		w.keys("\x01")
		w.keys("\x1b")
		for _, e := range w.waiting {
			w.aside[e.Number] = w.aside[e.Number] || w.now.Sub(e.AskedAt) >= panel.MinAge
		}
	case 8:
		w.leaves()
		w.keys([]string{"\x01?", "\x01["}[w.random.IntN(2)])
	case 9:
		w.paint()
	default:
		w.leaves()
		tab := w.m.place(w.m.current())
		w.keys("/approve\r")
		if got := w.drain(tab); got != "/approve\r" {
			w.t.Fatalf("the agent got %q", got)
		}
	}
}

// leaves gives the keyboard back to the agent.
func (w *strips) leaves() {
	if w.m.mode != modeTerminal {
		w.keys("q")
	}
	if w.m.mode != modeTerminal {
		w.t.Fatalf("mode %v", w.m.mode)
	}
}

// check holds the newest scene against what happened.
func (w *strips) check() {
	v, at := w.m.lay.Viewport, w.m.strip
	n := w.want()
	if (n != 0) != (at.H > 0) {
		w.t.Fatalf("call %d waits, the strip is at %+v:\n%s", n, at, w.screen())
	}
	tabs, parts := w.m.visibleTabs()
	if len(tabs) != 1 || parts[0] != v || len(w.scene.Panes) != 1 || w.scene.Panes[0].At != v {
		w.t.Fatalf("the pane is at %+v, the viewport %+v", w.scene.Panes, v)
	}
	if cols, rows := tabs[0].pane.Screen.Size(); cols != v.W || rows != v.H {
		w.t.Fatalf("the program has %d×%d cells of %+v", cols, rows, v)
	}
	if n == 0 {
		return
	}
	w.m.dirty = true // messages end with the time
	w.m.refresh()
	at = w.m.strip
	if at.H > v.H/3 || at.X != 0 || at.W != v.W || at.Y < v.Y || at.Y+at.H > v.Y+v.H {
		w.t.Fatalf("the strip is at %+v of %+v", at, v)
	}
	message, _ := w.m.messageRows() // between the strip and the status line
	low := at.Y+at.H == v.Y+v.H || at.Y+at.H+len(message) == v.Y+v.H
	if !low && !(w.m.mode == modeCopy && at.Y == v.Y) {
		w.t.Fatalf("the strip is at %+v of %+v", at, v)
	}
	rows := strings.Split(w.screen(), "\n")
	head := rows[at.Y]
	want := fmt.Sprintf("#%d ", n)
	if v.W < 60 {
		want = ""
	}
	if others := len(w.waiting) - 1; others > 0 {
		if !strings.Contains(head, fmt.Sprintf(" %d more waiting", others)) && !strings.Contains(head, fmt.Sprintf("+%d", others)) {
			w.t.Fatalf("%d others wait: %q", others, head)
		}
	}
	if !strings.Contains(head, want) {
		w.t.Fatalf("call %d waits: %q", n, head)
	}
}

// Whatever happens, the strip shows the oldest call of the tab in front or of all, covers a
// third of the viewport at most, leaves every program its size and every key its way, and
// decides nothing.
func TestTheStripOnlyShows(t *testing.T) {
	for seed := range uint64(30) {
		w := &strips{harness: newHarness(t, 80, 24, demo()), random: rand.New(rand.NewPCG(seed, 11)), aside: map[int]bool{}}
		w.keys("\x01/new shell\r")
		for tab := range 2 {
			w.state(tab+1, broker.StateIdle)
			w.agentSays(tab+1, agentScreen)
		}
		for range 150 {
			w.act()
			w.check()
		}
		w.decided(0)
	}
}

// In a real terminal the strip comes and goes without a resize of the program.
func TestTheStripResizesNothing(t *testing.T) {
	b := newFakeBroker()
	b.agent = echoAgent
	p := startMuxWith(t, b, b, 40, 14, demo())
	p.sees("ready")
	x := b.terminal("s1")
	sizes := func() [][2]int {
		x.mu.Lock()
		defer x.mu.Unlock()
		return append([][2]int(nil), x.sizes...)
	}
	before := sizes()
	for n := 1; n <= 3; n++ {
		e := escalation(n, `{"path":"/etc/hosts"}`, "")
		b.events <- msgOf(e)
		p.sees(fmt.Sprintf("#%d tab 1 claude-code write_file", n), `path: "/etc/hosts"`)
		p.types(fmt.Sprintf("word %d\r", n))
		p.sees(fmt.Sprintf(`got "word %d"`, n))
		b.events <- broker.Event{Resolution: &broker.Resolution{ID: e.ID, Number: n, Outcome: broker.Expired}}
		p.until("the strip to go", func() bool { return !strings.Contains(p.text(), "write_file") })
	}
	if diff := cmp.Diff(before, sizes()); diff != "" {
		t.Errorf("the program was resized: %s", diff)
	}
	p.types("\x01/quit!\r")
	p.leaves()
}

// A program's cursor is not shown on the strip, and is back when the strip is gone.
func TestTheStripHidesTheCursorBelowIt(t *testing.T) {
	b := newFakeBroker()
	b.agent = func(x *fakeTerminal) { _, _ = x.agentW.Write([]byte("ready\x1b[8;3H")) }
	p := startMuxWith(t, b, b, 40, 10, demo())
	p.sees("ready")
	visible := func() bool {
		var f term.Frame
		p.screen.Snapshot(&f, 0)
		return f.Cursor.Visible && f.Cursor.Y == 8
	}
	p.until("the cursor", visible)
	e := escalation(1, `{"path":"/etc/hosts"}`, "")
	b.events <- msgOf(e)
	p.sees("write_file")
	p.until("the cursor to go", func() bool { return !visible() })
	b.events <- broker.Event{Resolution: &broker.Resolution{ID: e.ID, Number: 1, Outcome: broker.Denied, By: "cli"}}
	p.until("the cursor to be back", visible)
	p.types("\x01/quit!\r")
	p.leaves()
}
