package tui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/layout"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/menu"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/paint"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// withPanes is a view of shells that each say which one they are; the keys arrange them.
func withPanes(t *testing.T, cols, rows, shells int, keys string) *harness {
	t.Helper()
	r := newHarness(t, cols, rows, demo())
	for range shells - 1 {
		r.keys("\x01/new shell\r")
	}
	for n := 1; n <= shells; n++ {
		r.state(n, broker.StateIdle)
		r.agentSays(n, fmt.Sprintf("shell %d\r\n$ ", n))
	}
	r.keys("\x1b1" + keys)
	r.redraw()
	return r
}

// redraw draws what has changed.
func (r *harness) redraw() {
	r.m.dirty = true
	r.m.refresh()
}

// places describes the panes on the screen: each tab's number, its cells, and * for the focus.
func (r *harness) places() string {
	var out []string
	tabs, parts := r.m.visibleTabs()
	for i, t := range tabs {
		focus := ""
		if t == r.m.current() {
			focus = "*"
		}
		if cols, rows := t.pane.Screen.Size(); cols != parts[i].W || rows != parts[i].H {
			r.t.Errorf("tab %d has %dx%d cells in %v", r.m.place(t), cols, rows, parts[i])
		}
		out = append(out, fmt.Sprintf("%d%s %d,%d %dx%d", r.m.place(t), focus, parts[i].X, parts[i].Y, parts[i].W, parts[i].H))
	}
	return strings.Join(out, " | ")
}

// placed fails unless the screen has these panes.
func (r *harness) placed(what, want string) {
	r.t.Helper()
	if got := r.places(); got != want {
		r.t.Errorf("%s:\n%s, want\n%s", what, got, want)
	}
}

// TestGoldenPanes draws groups of panes.
func TestGoldenPanes(t *testing.T) {
	for _, size := range [][2]int{{40, 10}, {80, 24}, {200, 60}} {
		for _, test := range []struct {
			name   string
			shells int
			keys   string
		}{
			{"panes-2", 2, "\x02\""},
			{"panes-3", 3, "\x02%\x02\""},
			{"panes-6", 6, "\x01/split 2\r\x01/split 3\r\x01/split 4\r\x01/layout tiled\r\x01/split down 5\r\x01/focus left\r\x01/split 6\r\x01/resize right 3\r"},
			{"panes-main", 4, "\x01/split\r\x01/split down\r\x01/split down\r\x01/layout main\r\x1b1"},
		} {
			name := fmt.Sprintf("%s-%dx%d", test.name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				r := withPanes(t, size[0], size[1], test.shells, test.keys)
				r.m.messages = view.Messages{} // of a layout for which there is no room
				r.redraw()
				golden(t, name, r.screen())
			})
		}
	}
}

// What commands and keys of the prefix do with panes.
func TestPanes(t *testing.T) {
	const three = "\x02%\x02\"" // 1 | 2 above 3, which has the focus
	for _, test := range []struct {
		name, keys, want string
	}{
		{"split right", "\x01/split\r", "1 0,2 50x21 | 2* 51,2 49x21"},
		{"split down", "\x01/split down 3\r", "1 0,2 100x10 | 3* 0,13 100x10"},
		{"the focused pane is divided", three, "1 0,2 50x21 | 2 51,2 49x10 | 3* 51,13 49x10"},
		{"a tab of the group moves", three + "\x01/split 1\r", "2 0,2 100x10 | 3 0,13 50x10 | 1* 51,13 49x10"},
		{"focus goes on", three + "\x02o", "1* 0,2 50x21 | 2 51,2 49x10 | 3 51,13 49x10"},
		{"focus by direction", three + "\x02\x1b[D", "1* 0,2 50x21 | 2 51,2 49x10 | 3 51,13 49x10"},
		{"and back to the one before", three + "\x02\x1b[D\x02\x1b[C", "1 0,2 50x21 | 2 51,2 49x10 | 3* 51,13 49x10"},
		{"the one before is not the first", three + "\x01/focus up\r\x01/focus left\r\x01/focus right\r", "1 0,2 50x21 | 2* 51,2 49x10 | 3 51,13 49x10"},
		{"behind the edge", three + "\x02\x1b[B", "1 0,2 50x21 | 2* 51,2 49x10 | 3 51,13 49x10"},
		{"resize by one", three + "\x02\x1b[1;5D", "1 0,2 49x21 | 2 50,2 50x10 | 3* 50,13 50x10"},
		{"and again without the prefix", three + "\x02\x1b[1;5D\x1b[1;5D\x1b[1;5A", "1 0,2 48x21 | 2 49,2 51x9 | 3* 49,12 51x11"},
		{"by five", three + "\x02\x1b[1;3C", "1 0,2 55x21 | 2 56,2 44x10 | 3* 56,13 44x10"},
		{"as far as there is room", three + "\x01/resize left 99\r", "1 0,2 10x21 | 2 11,2 89x10 | 3* 11,13 89x10"},
		{"swap with the one before", three + "\x02{", "1 0,2 50x21 | 3* 51,2 49x10 | 2 51,13 49x10"},
		{"swap with the next", three + "\x02}", "3* 0,2 50x21 | 2 51,2 49x10 | 1 51,13 49x10"},
		{"swap by direction", three + "\x01/swap left\r", "3* 0,2 50x21 | 2 51,2 49x10 | 1 51,13 49x10"},
		{"swap with a tab that is alone", three + "\x01/swap 4\r", "1 0,2 50x21 | 2 51,2 49x10 | 4* 51,13 49x10"},
		{"break", three + "\x02!", "3* 0,1 100x22"},
		{"and its group without it", three + "\x02!\x1b1", "1* 0,2 50x21 | 2 51,2 49x21"},
		{"the next layout", three + "\x02 ", "1 0,2 33x21 | 2 34,2 33x21 | 3* 68,2 32x21"},
		{"the one after that", three + "\x02 \x02 ", "1 0,2 100x7 | 2 0,10 100x6 | 3* 0,17 100x6"},
		{"main", three + "\x01/layout main\r", "1 0,2 60x21 | 2 61,2 39x10 | 3* 61,13 39x10"},
		{"tiled", three + "\x01/layout tiled\r", "1 0,2 50x10 | 2 51,2 49x10 | 3* 0,13 100x10"},
		{"zoom", three + "\x02z", "3* 0,1 100x22"},
		{"zoom and back", three + "\x02z\x02z", "1 0,2 50x21 | 2 51,2 49x10 | 3* 51,13 49x10"},
		{"a layout ends the zoom", three + "\x02z\x01/layout even-down\r", "1 0,2 100x7 | 2 0,10 100x6 | 3* 0,17 100x6"},
		{"unsplit", three + "\x01/unsplit\r", "3* 0,1 100x22"},
		{"two groups", three + "\x1b4\x02%", "4 0,2 50x21 | 5* 51,2 49x21"},
		{"and the first one again", three + "\x1b4\x02%\x1b2", "1 0,2 50x21 | 2* 51,2 49x10 | 3 51,13 49x10"},
		{"a tab of another group", three + "\x1b4\x01/split 2\r", "4 0,2 50x21 | 2* 51,2 49x21"},
		{"which it leaves", three + "\x1b4\x01/split 2\r\x1b1", "1* 0,2 50x21 | 3 51,2 49x21"},
		{"a pane is closed", three + "\x1b1\x02\x1b[C\x01/close\ry", "1* 0,2 50x21 | 2 51,2 49x21"},
		{"a click on a title", three + "\x1b[<0;4;2M\x1b[<0;4;2m", "1* 0,2 50x21 | 2 51,2 49x10 | 3 51,13 49x10"},
		{"a click in a pane", three + "\x1b[<0;60;5M\x1b[<0;60;5m", "1 0,2 50x21 | 2* 51,2 49x10 | 3 51,13 49x10"},
		{"a line is dragged", three + "\x1b[<0;51;9M\x1b[<32;40;9M\x1b[<32;31;11M\x1b[<0;31;11m", "1 0,2 30x21 | 2 31,2 69x10 | 3* 31,13 69x10"},
		{"and not after that", three + "\x1b[<0;51;9M\x1b[<32;31;9M\x1b[<0;31;9m\x1b[<32;60;9M", "1 0,2 30x21 | 2 31,2 69x10 | 3* 31,13 69x10"},
		{"a title is dragged", three + "\x1b[<0;70;13M\x1b[<32;70;8M\x1b[<0;70;8m", "1 0,2 50x21 | 2 51,2 49x5 | 3* 51,8 49x15"},
		{"a title at the top is not", three + "\x1b[<0;70;2M\x1b[<32;70;8M\x1b[<0;70;8m", "1 0,2 50x21 | 2* 51,2 49x10 | 3 51,13 49x10"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := withPanes(t, 100, 24, 5, test.keys)
			r.placed(test.name, test.want)
			if typed := r.queued(1) + r.queued(2) + r.queued(3) + r.queued(4); typed != "" {
				t.Errorf("agents got %q", typed)
			}
		})
	}
}

// What panes refuse, and why.
func TestPanesRefuse(t *testing.T) {
	for _, test := range []struct{ keys, want string }{
		{"\x01/focus left\r", "this tab is not split"},
		{"\x01/break\r", "this tab is not split"},
		{"\x01/layout\r", "this tab is not split"},
		{"\x01/split 1\r", "this tab is shown here already"},
		{"\x02%\x01/focus up\r", "/focus up: there is no pane on that side"},
		{"\x02%\x01/swap sideways\r", "/swap sideways: takes left, right"},
		{"\x02%\x01/resize up\r", "/resize up: no border of this pane can be moved that way"},
		{"\x02%\x01/resize left 99\r\x01/resize left\r", "/resize left: no border"},
		{"\x02%\x01/resize left 0\r", "/resize left 0: takes left, right"},
		{"\x02%\x01/resize\r", "/resize: takes left, right"},
		{"\x02%\x01/layout odd\r", "/layout odd: takes one of even, even-down, main, tiled"},
		{"\x02\"\x02\"\x02\"\x02\"", "not enough room for another pane (a pane has 10x2 cells at least)"},
	} {
		r := withPanes(t, 100, 12, 5, test.keys)
		r.wants(test.want)
	}
}

// Without another tab to show, a split opens one like this and shows it there, with the size
// that it has there.
func TestSplitOpensATab(t *testing.T) {
	for keys, want := range map[string]string{
		"\x01/split\r":       "1 0,2 50x21 | 2* 51,2 49x21",
		"\x02\"":             "1 0,2 100x10 | 2* 0,13 100x10",
		"\x02\"\x02%\x02o":   "1* 0,2 100x10 | 2 0,13 50x10 | 3 51,13 49x10",
		"\x02%\x01/close\ry": "1* 0,1 100x22",
	} {
		r := newHarness(t, 100, 24, demo())
		s := r.m.current().session
		s.Agent, s.Workspace = "codex", "/src"
		r.send(brokerMsg{broker.Event{Session: &s}})
		r.keys(keys)
		r.placed(keys, want)
		o := r.lastOpened()
		if o.Agent != "codex" || o.Workspace != "/src" || o.Cols > 100 || o.Rows > 21 {
			t.Errorf("%q opened %+v", keys, o)
		}
	}

	r := newHarness(t, 30, 8, demo())
	r.keys("\x02\"\x02\"")
	if n := len(r.broker.opened); n != 2 || len(r.m.tabs) != 2 {
		t.Errorf("%d tabs were opened", n)
	}
	r.wants("not enough room")

	see := listed(t, Options{Rights: See}, "a", "b")
	see.keys("\x01/split\r\x01/split\r")
	see.wants("this view is read-only")
	if len(see.broker.opened) != 0 {
		t.Error("a view that may only look has opened a tab")
	}
}

// A window without room for all panes shows the focused one, and all again when it has room.
func TestSmallWindowShowsOnePane(t *testing.T) {
	r := withPanes(t, 100, 24, 3, "\x02%\x02\"\x01/resize left 13\r\x01/resize up 2\r")
	before := r.places()
	for _, size := range [][2]int{{40, 20}, {20, 20}, {30, 6}, {21, 8}, {5, 2}, {99, 23}} {
		r.send(sizeMsg{size[0], size[1]})
		if size[0] == 20 {
			r.placed("too narrow", "3* 0,1 20x18")
			r.keys("\x01/focus left\r")
			r.placed("too narrow, on the left", "1* 0,1 20x18")
			r.keys("\x02\x1b[C")
			r.placed("too narrow, on the right", "3* 0,1 20x18")
		}
	}
	r.send(sizeMsg{30, 20})
	if got := r.m.noRoom(r.m.current()); got != "" {
		t.Errorf("with room for all it says %q", got)
	}
	r.send(sizeMsg{100, 6})
	if got := r.m.noRoom(r.m.current()); got != "1 of 3 panes: no room for all" {
		t.Errorf("it says %q", got)
	}
	r.send(sizeMsg{100, 24})
	r.placed("as large as before", before)
}

// A resizing key acts again without the prefix for half a second, and is the agent's afterwards.
func TestResizeKeysRepeat(t *testing.T) {
	r := withPanes(t, 100, 24, 2, "\x02%\x02\x1b[1;5D\x1b[1;5D")
	r.placed("twice", "1 0,2 48x21 | 2* 49,2 51x21")
	r.now = r.now.Add(400 * time.Millisecond)
	r.keys("\x1b[1;5D")
	r.placed("a third time", "1 0,2 47x21 | 2* 48,2 52x21")
	r.now = r.now.Add(500 * time.Millisecond)
	r.keys("\x1b[1;5D")
	r.placed("too late", "1 0,2 47x21 | 2* 48,2 52x21")
	if got := r.queued(2); got != "\x1b[1;5D" {
		t.Errorf("the agent got %q", got)
	}
}

// A shell that ends leaves its room to the others, and the focus goes to the one that had it last.
func TestPaneOfAnEndedShell(t *testing.T) {
	r := withPanes(t, 100, 24, 4, "\x02%\x02\"\x01/focus left\r\x01/focus right\r")
	ends := func(n int) {
		s := r.m.numbered(n).session
		s.State = broker.StateClosed
		r.send(brokerMsg{broker.Event{Session: &s}})
	}
	ends(3)
	r.placed("the focused one", "1* 0,2 50x21 | 2 51,2 49x21")
	ends(2)
	r.placed("another one", "1* 0,1 100x22")
	if len(r.m.groups) != 0 {
		t.Errorf("there are groups: %+v", r.m.groups)
	}
}

// The tree with its sizes and its zoom goes over into the next view, by way of a file. A file
// from before there were trees says what is in front, and is otherwise left alone.
func TestPanesComeBack(t *testing.T) {
	r := listed(t, Options{}, "a", "b", "c", "d", "e")
	r.keys("\x1b1\x01/split 2\r\x01/split down 3\r\x01/resize left 7\r\x01/resize down 2\r\x1b4\x01/split 5\r\x01/zoom\r\x1b1")
	want := r.places()
	data, err := json.Marshal(r.m.arrangement())
	if err != nil {
		t.Fatal(err)
	}
	var kept Arrangement
	if err := json.Unmarshal(data, &kept); err != nil {
		t.Fatal(err)
	}
	next := listed(t, Options{Arrangement: kept}, "a", "b", "c", "d", "e")
	next.placed("the next view", want)
	next.keys("\x1b5")
	next.placed("its zoom", "5* 0,1 100x28")
	small := listed(t, Options{Arrangement: kept}, "a", "b", "c", "d", "e")
	small.send(sizeMsg{30, 6})
	small.send(sizeMsg{100, 30})
	small.placed("after a small window", want)
	fewer := listed(t, Options{Arrangement: kept}, "a", "c", "d")
	fewer.placed("without some of the tabs", "1* 0,2 43x27 | 2 44,2 56x27")

	for _, file := range []string{
		`{"Front":"b","Split":["a","b"],"Down":true,"Zoom":false}`,
		`{"Front":"b","Groups":[{"Panes":{}},{"Panes":{"Pane":"b"}},{"Panes":{"Parts":[{"Pane":"b","Share":-5},{"Pane":"b"},{"Parts":[{}]}]}}]}`,
	} {
		var old Arrangement
		if err := json.Unmarshal([]byte(file), &old); err != nil {
			t.Fatal(err)
		}
		listed(t, Options{Arrangement: old}, "a", "b").placed(file, "2* 0,1 100x28")
	}
}

// A mouse event for a program has the coordinates of its pane, also over a pane below a title.
func TestMouseInPanes(t *testing.T) {
	r := withPanes(t, 100, 24, 3, "\x02%\x02\"")
	r.agentSays(3, "\x1b[?1000h\x1b[?1006h")
	r.keys("\x1b[<0;53;15M\x1b[<0;53;15m")
	if got := r.queued(3); got != "\x1b[<0;2;2M\x1b[<0;2;2m" {
		t.Errorf("the program got %q", got)
	}
}

// Drawing panes whose places have not changed computes no places anew, and a frame of many panes
// allocates no more than one of a single pane.
func TestPlacesAreComputedOnce(t *testing.T) {
	r := withPanes(t, 100, 24, 5, "\x02%\x02\"\x02%\x02\"")
	g := r.m.shownGroup()
	if n := testing.AllocsPerRun(100, func() { g.in(r.m.lay.Viewport); r.m.shownGroup() }); n != 0 {
		t.Errorf("finding the places costs %v allocations", n)
	}
	frame := func(s *view.Scene) float64 {
		c := view.NewCompositor(&recorder{harness: r}, paint.TrueColor, false, func() {}, func(uint64, time.Time) {})
		c.Publish(s)
		c.Draw()
		return testing.AllocsPerRun(100, func() { c.Draw() })
	}
	all := frame(r.scene)
	r.keys("\x02z")
	if one := frame(r.scene); all != one {
		t.Errorf("a frame of five panes costs %v allocations, one of a single pane %v", all, one)
	}
}

// The words that complete the commands of panes.
func TestPaneWords(t *testing.T) {
	r := withPanes(t, 100, 24, 2, "")
	for command, want := range map[string][]string{
		"resize": layout.Sides, "layout": layout.Names, "swap": {"left", "next", "2"}, "focus": {"up", "prev"},
	} {
		at, _ := menu.At("/" + command + " ")
		got, _ := at.Arguments(r.m.nameable(command))
		for _, word := range want {
			if !slices.ContainsFunc(got, func(e menu.Entry) bool { return e.Word == word }) {
				t.Errorf("%s is completed with %v", command, got)
			}
		}
	}
	if diff := cmp.Diff([]string{"left", "right", "up", "down"}, layout.Sides); diff != "" {
		t.Error("the sides were changed: " + diff)
	}
}

// Whatever a person does, a group has two tabs at least, each tab is in one group at most, and
// every program has the size of its pane.
func TestGroupsStaySound(t *testing.T) {
	typed := []string{
		"\x02%", "\x02\"", "\x02 ", "\x02{", "\x02}", "\x02!", "\x02z", "\x02o", "\x02\x1b[A", "\x02\x1b[D", "\x02\x1b[1;5D", "\x02\x1b[1;3C",
		"\x01/close\ry", "\x01/restart\ry", "\x01/unsplit\r", "\x01/split 2\r", "\x01/split down 1\r", "\x01/swap 3\r", "\x1b1", "\x1b2", "\x1b3", "\x02[", "q",
	}
	rapid.Check(t, func(rt *rapid.T) {
		r := newHarness(t, 100, 30, demo())
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			switch rapid.IntRange(0, 5).Draw(rt, "what") {
			case 0:
				r.send(sizeMsg{rapid.IntRange(1, 120).Draw(rt, "cols"), rapid.IntRange(1, 40).Draw(rt, "rows")})
			case 1:
				r.keys(fmt.Sprintf("\x1b[<%d;%d;%d%s", rapid.SampledFrom([]int{0, 32, 35}).Draw(rt, "button"),
					rapid.IntRange(1, 120).Draw(rt, "x"), rapid.IntRange(1, 40).Draw(rt, "y"), rapid.SampledFrom([]string{"M", "m"}).Draw(rt, "end")))
			default:
				r.keys(rapid.SampledFrom(typed).Draw(rt, "keys"))
			}
			r.redraw()
			seen := map[string]bool{}
			for _, g := range r.m.groups {
				ids := g.panes.Panes()
				for _, id := range ids {
					if len(ids) < 2 || seen[id] || r.m.tabOf(id) == nil {
						rt.Fatalf("%s is in %+v", id, r.m.groups)
					}
					seen[id] = true
				}
			}
			if r.m.fits {
				r.places()
				r.screen()
			}
		}
	})
}

// A click reaches the program under it and no other one, at a cell that the program has. Over a pane
// without the focus its press only gives the focus, and over a title or a line it reaches no program.
func TestAClickIsForThePaneUnderIt(t *testing.T) {
	r := withPanes(t, 80, 24, 4, "\x01/split 2\r\x01/split down 3\r\x1b1\x01/split down 4\r")
	for n := 1; n <= 4; n++ {
		r.agentSays(n, "\x1b[?1000h\x1b[?1006h")
	}
	typed := func() (all []string) {
		for n := 1; n <= 4; n++ {
			all = append(all, r.queued(n))
		}
		return all
	}
	for y := range 24 {
		for x := 0; x < 80; x += 3 {
			focused, before := r.m.current(), typed()
			at := r.m.focusedRect()
			r.keys(fmt.Sprintf("\x1b[<0;%d;%dM\x1b[<0;%d;%dm", x+1, y+1, x+1, y+1))
			for i, now := range typed() {
				want, shown := before[i], r.m.tabs[i]
				if shown == focused && at.Contains(x, y) {
					want += fmt.Sprintf("\x1b[<0;%d;%dM", x-at.X+1, y-at.Y+1)
				}
				if to := r.m.focusedRect(); shown == r.m.current() && to.Contains(x, y) {
					want += fmt.Sprintf("\x1b[<0;%d;%dm", x-to.X+1, y-to.Y+1)
				}
				if now != want {
					t.Fatalf("a click at %d,%d: tab %d got %q, want %q", x, y, i+1, now[len(before[i]):], want[len(before[i]):])
				}
			}
			r.now = r.now.Add(time.Second)
		}
	}
}

// A paste goes where it began, whatever gets the focus meanwhile, and nowhere once that is gone.
func TestAPasteStaysInItsPane(t *testing.T) {
	for name, between := range map[string]func(r *harness){
		"another tab in front": func(r *harness) { r.m.show(1) },
		"the tab is closed": func(r *harness) {
			s := r.m.tabs[0].session
			s.State = broker.StateClosed
			r.send(brokerMsg{broker.Event{Kind: broker.EventSession, Session: &s}})
		},
		"a call waits": func(r *harness) { r.escalate(1, `{"path":"/tmp/b"}`, "") },
		"the view is arranged anew": func(r *harness) {
			r.m.rearrange(Arrangement{Front: r.m.tabs[1].session.ID})
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := withPanes(t, 80, 24, 2, "\x01/split 2\r\x1b1")
			first, second := r.m.tabs[0], r.m.tabs[1]
			r.keys("\x1b[200~rm -rf ")
			between(r)
			r.keys("/\r\x1b[201~")
			if got := second.pane.Queue.String(); got != "" {
				t.Errorf("the other agent got %q", got)
			}
			if got := first.pane.Queue.String(); name != "the tab is closed" && !strings.Contains(got, "rm -rf /") {
				t.Errorf("the agent got %q", got)
			}
			if !r.m.line.Empty() {
				t.Errorf("on the line: %q", r.m.line.Text())
			}
		})
	}
}
