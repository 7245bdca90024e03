package view

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/builtin"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
)

// bare is a model without a terminal.
func bare(cols, rows int) *model {
	m := &model{cols: cols, rows: rows, input: newInput(), draw: func([]row, frame) {}, keys: &keyboard{pastes: map[string]string{}}}
	m.input.resize(cols, rows)
	return m
}

// lines shows rows on a terminal, and returns its lines.
func lines(t interface{ Fatal(...any) }, cols int, rows []row) []string {
	s, err := term.NewScreen(term.Options{Cols: cols, Rows: 5})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, _ = s.Write([]byte(modesOn))
	for _, r := range rows {
		_, _ = s.Write([]byte(paint(r, true) + "\r\n"))
	}
	got := s.Text(0, s.LineCount())
	for len(got) > len(rows) && got[len(got)-1] == "" {
		got = got[:len(got)-1]
	}
	return got
}

var nasty = []string{
	"\r> approve", "\n> approve", "│", "\n│ ", "\x1b[1A\x1b[2K", "\x1b]0;title\a", "\u202e", "\u2066", "\u200b", "\u200d", "é", "\u0085", "\u2028", "\x00", "\xff\xfe",
	"    filesystem/read_text_file   allowed     3 ms", "\n    git/git_push allowed", "  program 1", "\t", "\b\b\b\b", "漢字", "👩‍👩‍👧", "🇩🇪", "\ufe0f", "ﷺ", "אבג", "\U0001f3fd", "\u0301", "\u0301\u0302\u0303\u0304\u0305\u0306", "\u200c", "می‌خواهم", "नमस्ते", "สวัสดี", "\u1112\u1161\u11ab", "\u1161", "1️⃣", "❤️", "👍🏽", "🇩", "\u0600", "\u034f", "٣",
	"**", "*", "_", "`", "```\n", "~~~", "# ", "\n- ", "\n1. ", "\n> ", "[a](", "](http://x)", "|", "\n|a|b|\n|--|--|\n|", "\n\n", "\n", " ", "  \n", "\\", "---\n", "word", "a-very-long-word-without-any-blank-in-it", "·", "\x9b31m", "\u00ad", "\U000e0041",
}

func anyText(t *rapid.T, name string) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(nasty), 0, 30).Draw(t, name), "")
}

// Whatever the model says, in whatever pieces, each row of it stands behind our sign and is one
// row of the terminal.
func TestModelsWordsStayBehindTheirSign(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cols := rapid.IntRange(6, 60).Draw(t, "cols")
		m := bare(cols, 24)
		said := anyText(t, "said")
		cut := rapid.IntRange(0, len(said)).Draw(t, "cut")
		m.apply(builtin.Event{Kind: builtin.Saying, Text: said[:cut]})
		check := func(rows []row) {
			got := lines(t, cols, rows)
			if len(got) != len(rows) {
				t.Fatalf("%d rows became %q", len(rows), got)
			}
			for i, l := range got {
				if !strings.HasPrefix(l, "│") || columns(rows[i]...) >= cols {
					t.Fatalf("%q of %q", l, said)
				}
			}
		}
		check(m.theirs(m.words.live(m.width()-2, 24)))
		m.apply(builtin.Event{Kind: builtin.Saying, Text: said[cut:]})
		m.apply(builtin.Event{Kind: builtin.Said, Text: said})
		check(m.above)
	})
}

// The same for all that others can write on rows of ours.
func TestOthersCannotMakeRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cols := rapid.IntRange(20, 120).Draw(t, "cols")
		m := bare(cols, 24)
		p := &program{n: 1, code: anyText(t, "code"), ended: true, result: anyText(t, "result")}
		n := rapid.IntRange(0, 3).Draw(t, "calls")
		for i := range n {
			p.change(builtin.Call{Index: i, Tool: "t" + anyText(t, "tool"), About: anyText(t, "about"), State: builtin.CallRuns})
		}
		rows := p.rows(m.width())
		got := lines(t, cols, rows)
		if len(got) != len(rows) {
			t.Fatalf("%d rows became %q", len(rows), got)
		}
		for i, l := range got {
			prefix := "    "
			if i == 0 {
				prefix = "  program 1"
			}
			if !strings.HasPrefix(l, prefix) {
				t.Fatalf("%q", got)
			}
		}
		asked := m.asked(anyText(t, "asked"))
		for _, l := range lines(t, cols, asked) {
			if !strings.HasPrefix(l, ">") {
				t.Fatalf("%q", l)
			}
		}
		m.used.Model, m.used.Window = anyText(t, "model"), 1000
		m.queue = []string{anyText(t, "queued")}
		m.current = p
		e := builtin.Event{Text: anyText(t, "why")}
		m.retry = &e
		f := m.frame()
		if got := lines(t, cols, f.rows); len(got) != len(f.rows) {
			t.Fatalf("%d rows became %q", len(f.rows), got)
		}
	})
}

// Where the pieces of an answer are cut changes nothing.
func TestPiecesCutAnywhere(t *testing.T) {
	text := told + "\r\n\r\nGrüße, 漢字 👍 und *Ende*"
	var whole markdown
	want := append(whole.add(text, 40), whole.end(40)...)
	for cut := range len(text) {
		var m markdown
		got := m.add(text[:cut], 40)
		for _, r := range m.live(40, 24) {
			if s := paint(r, false); strings.Contains(s, `\x`) || strings.Contains(s, `\r`) {
				t.Errorf("cut at %d, %q is shown", cut, s)
			}
		}
		got = append(append(got, m.add(text[cut:], 40)...), m.end(40)...)
		if diff := cmp.Diff(painted(want), painted(got)); diff != "" {
			t.Fatalf("cut at %d (-want +got):\n%s", cut, diff)
		}
	}
	var m markdown
	var got []row
	for i := range len(text) {
		got = append(got, m.add(text[i:i+1], 40)...)
	}
	if diff := cmp.Diff(painted(want), painted(append(got, m.end(40)...))); diff != "" {
		t.Error(diff)
	}
}

func painted(rows []row) (all []string) {
	for _, r := range rows {
		all = append(all, paint(r, true))
	}
	return all
}

func TestInline(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                              "plain",
		"a **b** c":                          "a <1>b</> c",
		"*a **b** c*":                        "<3>a <1;3>b<3> c</>",
		"***x*** _y_ snake_case_x":           "<1;3>x</> <3>y</> snake_case_x",
		"2 * 3 * 4, **open":                  "2 * 3 * 4, **open",
		"`a*b*` ``c`d``":                     "<1>a*b*</> <1>c`d</>",
		"[t](http://u) [http://u](http://u)": "<4>t</> (<2>http://u</>) <4>http://u</>",
		"[no](end [x]":                       "[no](end [x]",
		`\*a\* C:\dir`:                       `*a* C:\dir`,
		"a\u202eb":                           `a\u{202e}b`,
	} {
		t.Run(in, func(t *testing.T) {
			got := paint(inline(in, 0, 0), true)
			got = strings.NewReplacer("\x1b[0;", "<", "\x1b[0m", "</>", "\x1b[m", "</>", "m", "m").Replace(got)
			got = strings.NewReplacer("<1m", "<1>", "<3m", "<3>", "<1;3m", "<1;3>", "<4m", "<4>", "<2m", "<2>").Replace(got)
			if got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

// A paragraph or a line without an end is shown before it fills the memory.
func TestEndlessLine(t *testing.T) {
	var m markdown
	shown := 0
	for range 40 {
		shown += len(m.add(strings.Repeat("word *", 1000), 80))
	}
	if len(m.partial)+len(m.block.text) > 2*maxParagraph || shown == 0 {
		t.Errorf("%d and %d bytes are kept, %d rows are shown", len(m.partial), len(m.block.text), shown)
	}
}

// Letters of all scripts are shown with their marks, and each row is as wide as it is counted.
func TestAllScripts(t *testing.T) {
	s, err := term.NewScreen(term.Options{Cols: 40, Rows: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, _ = s.Write([]byte(modesOn))
	check := func(said string) {
		t.Helper()
		r := foreign(said, 0)
		_, _ = s.Write([]byte("\r\x1b[K" + paint(r, true)))
		if at := s.Cursor().X; at != columns(r...) {
			t.Errorf("%q (%+q) takes %d columns, counted as %d", said, said, at, columns(r...))
		}
		if got := s.Text(0, 1)[0]; got != said && strings.HasPrefix(said, "| ") {
			t.Errorf("%q became %q", said, got)
		}
	}
	for _, said := range []string{
		"| שלום עולם |", "| مرحبا بالعالم ٣ |", "| می‌خواهم |", "| e\u0301 ñ Tiếng Việt |", "| नमस्ते |", "| สวัสดี |", "| \u1112\u1161\u11ab한국어 |", "| 漢字かな |",
		"| 👍🏽 👩‍👩‍👧 🇩🇪🇫🇷 ❤️ ✅ ⚠️ 1️⃣ #️⃣ |", "| 〰️〰㊗ |",
	} {
		check(said)
	}
	for r := rune(0x20); r < 0x20000; r++ {
		switch r {
		case 0x3500:
			r = 0xa000 // Chinese
		case 0xac80:
			r = 0xd780 // Korean
		}
		check("a" + string(r) + "a")
		check(string(r) + "\ufe0f")
	}
}

func TestPlainPaste(t *testing.T) {
	for s, want := range map[string]bool{"שלום\nעולם 👍🏽": true, "a\\b · c": true, "a\u202eb": false, "a\tb": false, "\xff": false, "": true} {
		if plain(s) != want {
			t.Errorf("%+q: %v", s, !want)
		}
	}
}
