package tui

import (
	"slices"
	"strings"
	"testing"

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
	if got := r.m.current().session.Tab; got != 2 {
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
