package tui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/copymode"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// Over a full-screen program that has not asked for the mouse, the wheel sends cursor keys
// in the program's mode of cursor keys, unless the program has turned that off.
func TestWheelIsCursorKeysOnTheAlternateScreen(t *testing.T) {
	const up, down = "\x1b[<64;5;5M", "\x1b[<65;5;5M"
	for _, engine := range []string{"native", "vt10x"} {
		for _, test := range []struct{ says, turns, want string }{
			{"\x1b[?1049h", up + down, "\x1b[A\x1b[A\x1b[A\x1b[B\x1b[B\x1b[B"},
			{"\x1b[?1049h\x1b[?1h", up, "\x1bOA\x1bOA\x1bOA"},
			{"\x1b[?1049h\x1b[?1007l", up, ""},
			{"\x1b[?1049h\x1b[?1000;1006h", up, up},
			{"\x1b[?1049h\x1b[?1049l", up, ""},
		} {
			r := newHarness(t, 80, 24, Options{Engine: engine})
			r.agentSays(1, test.says)
			r.keys(test.turns)
			want := strings.ReplaceAll(test.want, ";5M", ";4M") // of the program's own screen
			if got := r.queued(1); got != want {
				t.Errorf("%s, %q: the program got %q, want %q", engine, test.says, got, want)
			}
		}
	}
}

func TestMouse(t *testing.T) {
	r := newHarness(t, 80, 24, Options{})
	r.keys("\x01/new shell\r\x1b1")
	r.agentSays(1, strings.Repeat("line\r\n", 100))
	r.keys("\x1b[<64;5;5M") // wheel up: scrollback
	r.wants("3 lines back")
	r.keys("x") // typing returns
	if strings.Contains(r.screen(), "lines back") {
		t.Error("typing did not return to the output")
	}
	r.agentSays(1, "\x1b[?1000h\x1b[?1006h")
	r.keys("\x1b[<0;5;5M")
	if got, want := r.queued(1), "x\x1b[<0;5;4M"; got != want {
		t.Errorf("the agent got %q, want %q", got, want)
	}
	r.keys("\x1b[<0;22;1M") // on the second tab
	if got := r.m.place(r.m.current()); got != 2 {
		t.Errorf("tab %d", got)
	}
}

func TestClickOnTheBadgeOpensThePanel(t *testing.T) {
	r := newHarness(t, 80, 24, demo())
	r.keys("\x1b[<0;79;24M")
	if r.m.mode != modeTerminal {
		t.Error("a click opened the panel with nothing in it")
	}
	r.escalate(1, `{"path":"/tmp/b"}`, "")
	r.keys("\x1b[<0;79;24M")
	r.wants("approval 1/1", `path: "/tmp/b"`)
}

func TestDragCopies(t *testing.T) {
	r := newHarness(t, 80, 24, Options{})
	r.agentSays(1, "one 漢字 two\r\nthree\r\n")
	r.keys("\x1b[<0;5;2M\x1b[<32;3;3M\x1b[<0;3;3m")
	if diff := cmp.Diff([]string{"漢字 two\nthr"}, r.copied); diff != "" {
		t.Error(diff)
	}
	if r.m.mode != modeTerminal {
		t.Error("still in copy mode")
	}
}

// Two clicks copy a word, three the line. The middle button pastes what was copied last into the
// agent, as a paste.
func TestClicksCopy(t *testing.T) {
	r := newHarness(t, 80, 24, Options{})
	r.agentSays(1, "see 'src/漢字.go:12' now\r\nthree\r\n")
	click := "\x1b[<0;7;2M\x1b[<0;7;2m"
	r.keys("\x1b[<1;7;2M\x1b[<1;7;2m")
	r.keys(click)
	r.now = r.now.Add(time.Second)
	r.keys(click)
	r.wantCopied()
	r.keys(click)
	r.wantCopied("src/漢字.go:12")
	r.keys(click)
	r.wantCopied("src/漢字.go:12", "see 'src/漢字.go:12' now")
	r.keys("\x1b[<0;30;2M\x1b[<0;30;2m" + "\x1b[<0;31;2M\x1b[<0;31;2m") // two cells
	r.wantCopied("src/漢字.go:12", "see 'src/漢字.go:12' now")
	if r.m.mode != modeTerminal || r.queued(1) != "" {
		t.Errorf("mode %v, the agent got %q", r.m.mode, r.queued(1))
	}
	r.agentSays(1, "\x1b[?2004h")
	r.keys("\x1b[<1;7;2M\x1b[<1;7;2m")
	if got := r.queued(1); got != "\x1b[200~see 'src/漢字.go:12' now\x1b[201~" {
		t.Errorf("the middle button pasted %q", got)
	}
}

// While a query is typed, the status line tells how often it is there, and the cursor is at the
// first match.
func TestSearchAsOneTypes(t *testing.T) {
	r := newHarness(t, 80, 24, Options{})
	r.agentSays(1, strings.Repeat("one two one\r\n", 20000))
	r.keys("\x01[g/on")
	r.wants("9999 or more")
	r.keys("e t")
	r.wants("match 2 of ")
	r.keys("x")
	r.wants("no match")
	r.keys("\x7f\r")
	r.wants("match 2 of ")
	r.keys("nn")
	r.wants("match 4 of ")
	r.keys("l")
	r.wants(" found")
}

func TestCopyMode(t *testing.T) {
	tests := []struct{ name, keys, want string }{
		{"word", "gvey", "alpha"},
		{"to the end of the line", "gwv$y", "beta"},
		{"two lines", "gvjy", "alpha beta\ng"},
		{"lines", "gjVy", "gamma delta"},
		{"line without selection", "gjy", "gamma delta"},
		{"search forward", "g/delta\rvey", "delta"},
		{"search next", "g/a\rnnv$y", "amma delta"},
		{"search backward", "G?gamma\rvey", "gamma"},
		{"a query that nobody finishes", "gj/bet\x03vey", "gamma"},
		{"a query that is corrected", "g/gx\x7f\rvey", "gamma"},
		{"the query before it", "g/delta\rg/\rvey", "delta"},
		{"a rectangle", "gwl\x16jly", "et\nel"},
		{"a rectangle upward", "gj$\x16khhy", "ta\nlta"},
		{"from a rectangle to text", "g\x16jlvy", "alpha beta\nga"},
		{"the mark", "gwXG\x1bxvey", "beta"},
		{"back from the mark", "gXjw\x1bx\x1bxvey", "delta"},
		{"swap ends", "gwvhhoy", "a b"},
		{"back a word", "gjwbvey", "gamma"},
		{"wrapped lines are one", "g3y", "alpha beta"},
		{"enter copies", "gve\r", "alpha"},
		{"prompt before", "G{y", "$ two"},
		{"and the one before that", "G{{y", "$ one"},
		{"next prompt", "g}}y", "$ two"},
		{"no further prompt", "g}}}y", "$ two"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := newHarness(t, 80, 24, Options{})
			r.agentSays(1, "alpha beta\r\ngamma delta\r\n")
			r.agentSays(1, "\x1b]133;A\a$ one\r\nout\r\n\x1b]133;A\a$ two\r\nout\r\n")
			r.keys("\x01[")
			r.keys(test.keys)
			if diff := cmp.Diff([]string{test.want}, r.copied); diff != "" {
				t.Errorf("%s\n%s", diff, r.screen())
			}
		})
	}
}

// A match is found at its column, whatever characters are before it.
func TestSearchFindsColumns(t *testing.T) {
	for _, before := range []string{"", "日本 ", "👩\u200d💻 ", "⚠\ufe0f ", "🇫🇷 ", "e\u0301 ", "İ K ", "\x1b[?2027h👩\u200d💻 🇫🇷"} {
		r := newHarness(t, 80, 24, Options{})
		r.agentSays(1, before+"\x1b[7mNe\u0301edle\x1b[m"+"\r\n")
		cells, _ := r.m.current().pane.Screen.Line(0)
		from := slices.IndexFunc(cells, func(c term.Cell) bool { return c.Style.Attr == term.Inverse })
		r.keys("\x01[" + "/ne\u0301edle\r")
		if got := r.m.copying.Cursor; got != (copymode.Point{X: from, Line: 0}) {
			t.Errorf("%q: found at %v, want column %d", before, got, from)
		}
		want := []view.MarkedRow{{From: from, To: from + len("needle")}}
		if diff := cmp.Diff(want, r.m.copying.Marks(r.m.focusedRect())); diff != "" {
			t.Errorf("%q: %s", before, diff)
		}
	}
}

// A program that got the press of a button also gets the movements and the release,
// wherever the mouse is.
func TestReleaseReachesTheProgram(t *testing.T) {
	const press, drag, bar, release = "\x1b[<0;5;5M", "\x1b[<32;9;1M", "\x1b[<0;30;24m", "\x1b[<0;7;7m"
	for _, test := range []struct{ name, input, want string }{
		{"over the bars", press + drag + bar, "\x1b[<0;5;4M\x1b[<32;9;1M\x1b[<0;30;22m"},
		{"with the command line open", press + "\x01" + release, "\x1b[<0;5;4M\x1b[<0;7;6m"},
		{"only once", press + bar + bar, "\x1b[<0;5;4M\x1b[<0;30;22m"},
		{"of a button pressed elsewhere", "\x1b[<0;79;24M" + release, "\x1b[<0;7;6m"},
		{"lost", press + "\x1b[<35;9;1M" + bar, "\x1b[<0;5;4M"},
	} {
		r := newHarness(t, 80, 24, Options{})
		r.agentSays(1, "\x1b[?1002h\x1b[?1006h")
		r.keys(test.input)
		if got := r.queued(1); got != test.want {
			t.Errorf("%s: the program got %q, want %q", test.name, got, test.want)
		}
	}
}

// A selection that began over one tab copies nothing of another one that got the focus meanwhile.
func TestADragStaysInItsTab(t *testing.T) {
	r := newHarness(t, 80, 24, Options{})
	r.keys("\x01/new shell\r")
	r.agentSays(1, "of the first")
	r.agentSays(2, "of the second")
	r.keys("\x1b1")
	r.keys("\x1b[<0;1;2M")
	r.keys("\x1b2")
	r.keys("\x1b[<32;9;2M\x1b[<0;9;2m")
	if len(r.copied) > 0 || r.m.mode != modeTerminal {
		t.Errorf("copied %q, mode %d", r.copied, r.m.mode)
	}
	r.keys("\x1b[<0;1;2M\x1b[<32;6;2M\x1b[<0;6;2m")
	if len(r.copied) != 1 || r.copied[0] != "of the" {
		t.Errorf("copied %q", r.copied)
	}
}
