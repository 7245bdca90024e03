package tui

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/panel"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// hostileStrings are what an agent may put into a tool call to be misread:
// terminal sequences, things that hide, join, turn around or look alike.
func hostileStrings() []string {
	out := []string{
		"", " ", "  ", "a", " a", "a ", "a  b", "a   b", "·", "a·b", "a\u00a0b", "\\", "\\\\", "\\n", "\n", "a\nb", "\r", "a\rb",
		"\t", "\x00", "\x07", "\x08\x08\x08rm", "\x1b[2J", "\x1b]0;title\x07", "\x1b]52;c;aGk=\x07", "\x1bP+q\x1b\\", "\x9b2J",
		"\x7f", "\u0085", "\u009b31m", "safe\x1b[8mhidden", "/workspace/a ^[/../../etc/passwd --force", "%s%d%n", "^X", "${IFS}",
		"\u202eevil", "\u202a\u202b\u202c\u202d", "\u2066a\u2069", "\u200e\u200f", "\u061c", "\u200b", "a\u200bb", "\u200c", "\u200d",
		"\u2060", "\ufeff", "\u00ad", "\u034f", "\u115f", "\u1160", "\u3164", "\uffa0", "\u2800", "\u180e", "\u17b4",
		"\u2000", "\u2003", "\u2009", "\u202f", "\u205f", "\u3000", "\u2028", "\u2029", "\u1680",
		"e\u0301", "\u0301", "a\u0301\u0302\u0303\u0304\u0305\u0306", "\u20dd", "\u0489", "é", "ﬁ", "Å", "\u212b", "K",
		"／etc／passwd", "․․/", "𝐚𝐛𝐜", "ⅷ", "²", "①", "℀", "\u2215", "\u29f8", "а", "раураl.com", "xn--80ak6aa92e.com",
		"שלום", "مرحبا", "a/שלום/../b", "١٢٣", "\u0710", "\u07ca",
		"漢字", "ｱ", "한글", "\u1112\u1161\u11ab", "\uac00\u11a8", "🇩🇪", "🇩", "👨\u200d👩\u200d👧", "👍🏽", "🏽", "❤\ufe0f", "☠", "1\ufe0f\u20e3",
		"\U000e0041\U000e0042", "\U000e0001", "\U000e0100", "\ufe00", "\ufff9a\ufffab\ufffb", "\ufffc", "\ufffd", "\uffff", "\U0010ffff", "\ue000",
		"\xff", "\xc0\xaf", "\xed\xa0\x80", "\xf0\x9f\x98", "a\xc3", "\xe2\x80", "\x80\x81", "\xf5\x80\x80\x80", "\\xff", "\\u{202e}", "\\e[2J",
		"नि", "க்ஷ", "ก็", "ប្រ", "\u0d4e\u0d15", "\u0600", "\u06dd1", "\u110bd", "\U000110bd\U00011083",
		"\"quoted\"", "'", "`id`", "$(id)", ": ", "a: b", "{\"a\":1}", "[]", "null", "true", "1", "...", "…", "→", "│", "─", "█", "▒", " │ ",
		"approve", "y", "\x01", "\x01/approve\r", "\x03", "\x04", "\x1a", "\x1c", "\x1b", "\x1b\x1b", "\u001b[A",
		"approval 1/1 · 5:00 left", "\x1b[1;1H\x1b[43m approval ", "\x0e", "\x0f", "\u008d", "\u0090q\u009c", "\v\f",
		strings.Repeat(" ", 300), strings.Repeat("a", 300), strings.Repeat("漢", 150), strings.Repeat("\u200b", 50), strings.Repeat("\n", 40),
		strings.Repeat("\u0300", 60), strings.Repeat("a ", 100), strings.Repeat("a\\", 60), "x" + strings.Repeat(" ", 78) + "/etc/passwd",
	}
	for r := rune(0x1d159); r < 0x1d180; r += 6 {
		out = append(out, "note"+string(r))
	}
	for r := rune(0x80); r < 0xa0; r += 2 {
		out = append(out, "c1"+string(r)+"x")
	}
	return out
}

// TestCorpusFile keeps the corpus in a file, for the surfaces outside this package.
func TestCorpusFile(t *testing.T) {
	const file = "testdata/hostile.txt"
	var text strings.Builder
	for _, s := range hostileStrings() {
		text.WriteString(strconv.QuoteToASCII(s) + "\n")
	}
	if *update {
		if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(file)
	if err != nil || string(have) != text.String() {
		t.Fatalf("%s is not the corpus (%v); run the tests with -update", file, err)
	}
}

// TestDrawableCorpus draws every hostile string at several widths. The text of the cells
// decodes to the exact bytes, and no cell has a character that acts on the terminal or is
// invisible.
func TestDrawableCorpus(t *testing.T) {
	corpus := hostileStrings()
	if len(corpus) < 200 {
		t.Fatalf("the corpus has only %d strings", len(corpus))
	}
	for _, s := range corpus {
		checkDrawn(t, s)
	}
}

// checkDrawn draws s and reads it back from the cells.
func checkDrawn(t interface {
	Helper()
	Fatalf(string, ...any)
}, s string,
) {
	t.Helper()
	theme, _ := view.ThemeByName("none")
	text := text.Drawable(s)
	for _, width := range []int{1, 3, 7, 18, 38, 200} {
		if width < 2 && strings.IndexFunc(text, func(r rune) bool { return uniseg.StringWidth(string(r)) > 1 }) >= 0 {
			continue
		}
		rows := view.Wrap(text, width)
		surf := view.NewSurface(view.Rect{X: 0, Y: 0, W: width, H: len(rows)}, term.Style{})
		for y, row := range rows {
			if end := surf.Sanitized(0, y, row, term.Style{}, theme.Escape); end > width {
				t.Fatalf("%q: row %d of width %d ends at %d", s, y, width, end)
			}
		}
		var read strings.Builder
		for y := range rows {
			for _, c := range surf.Row(y) {
				if c.Marks != "" {
					t.Fatalf("%q: a cell has combining marks %q", s, c.Marks)
				}
			}
			read.WriteString(strings.TrimRight(view.CellText(surf.Row(y)), " "))
		}
		got, err := unsanitize(read.String())
		if err != nil || got != s {
			t.Fatalf("width %d: %q was drawn as %q, which reads back as %q (%v)", width, s, read.String(), got, err)
		}
	}
}

// TestDrawableIsSafe holds for any bytes: one column or two for each rune, each
// a cluster of its own, nothing that moves or hides, and the way back.
func TestDrawableIsSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(
			rapid.String(),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
			rapid.Map(rapid.SliceOf(rapid.SampledFrom(hostileStrings())), func(p []string) string { return strings.Join(p, "") }),
		).Draw(t, "s")
		text := text.Drawable(s)
		if n := uniseg.GraphemeClusterCount(text); n != utf8.RuneCountInString(text) {
			t.Fatalf("%q: %d clusters of %d runes", text, n, utf8.RuneCountInString(text))
		}
		for _, r := range text {
			if w := uniseg.StringWidth(string(r)); w < 1 || w > 2 {
				t.Fatalf("%q: %U is %d wide", text, r, w)
			}
		}
		got, err := unsanitize(text)
		if err != nil || got != s {
			t.Fatalf("%q -> %q -> %q (%v)", s, text, got, err)
		}
	})
}

// FuzzDrawable checks the same for the fuzzer's bytes.
func FuzzDrawable(f *testing.F) {
	for _, s := range hostileStrings() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkDrawn(t, s) })
}

// TestPanelDecodes reads the arguments of a call back from the rows of the
// panel, hostile ones included.
func TestPanelDecodes(t *testing.T) {
	for _, s := range hostileStrings() {
		if !utf8.ValidString(s) {
			continue // JSON cannot hold it
		}
		for _, width := range []int{18, 38, 78} {
			var b panel.Body
			b.Width = width
			b.Add(panel.RowPlain, "path: ", panel.Quote(s))
			var text strings.Builder
			for _, row := range b.Rows {
				if view.TextWidth(row.Label)+view.TextWidth(row.Text) > width {
					t.Fatalf("%q: a row is wider than %d: %q", s, width, row.Label+row.Text)
				}
				text.WriteString(row.Text)
			}
			inner := strings.TrimSuffix(strings.TrimPrefix(text.String(), `"`), `"`)
			if got, err := unsanitize(inner); err != nil || got != s {
				t.Fatalf("%q was laid out as %q: %q (%v)", s, text.String(), got, err)
			}
		}
	}
}

// TestMessagesAreOneLine puts hostile strings where messages are drawn.
func TestMessagesAreOneLine(t *testing.T) {
	for _, s := range hostileStrings() {
		r := newHarness(t, 80, 24, Options{Notices: []string{s}})
		r.send(brokerMsg{broker.Event{Notice: &broker.Notice{Text: s, Session: "s1"}}})
		r.send(brokerMsg{broker.Event{Progress: &broker.Progress{Session: "s1", Step: s, Detail: s}}})
		for _, layer := range r.scene.Layers {
			for _, c := range layer.Cells {
				if c.Rune != 0 && (c.Rune < ' ' || c.Rune == 0x7f || c.Marks != "") {
					t.Fatalf("%q: cell %q%q", s, c.Rune, c.Marks)
				}
			}
		}
	}
}

// TestEverySurfaceIsHarmless puts hostile strings wherever a call, its answer, a rule, a
// receipt or a past decision is drawn or announced. Every cell is one plain rune, nothing
// is drawn outside of its layer, the cursor stays on the command line, and a notification
// decodes to the exact text.
func TestEverySurfaceIsHarmless(t *testing.T) {
	for _, s := range hostileStrings() {
		o := demo()
		o.Notify = "desktop"
		r := newHarness(t, 80, 24, o)
		r.broker.scopes = []broker.Scope{{Name: s, Text: s}}
		r.broker.grants = []broker.Grant{{Number: 1, Scope: s, Text: s, By: s}}
		r.broker.history = []broker.Decided{{Server: s, Tool: s, Rule: s, Decision: s, By: s, Reason: s, Detail: map[string]any{"quote": s, "remembered": s}}}
		e := escalation(1, "", "")
		e.Server, e.Tool, e.Rule, e.Reason, e.Digest = s, s, s, s, s
		e.Restored, e.Auto = true, &broker.AutoReview{Receipt: 1, Reason: s}
		if raw, err := json.Marshal(map[string]string{s: s}); err == nil {
			e.Arguments, e.Requested = raw, json.RawMessage(`"`+s+`"`)
		}
		r.send(brokerMsg{broker.Event{Escalation: &e}})
		if n := len(r.notified); n != 1 || !strings.HasSuffix(r.notified[0], text.Drawable(s+"/"+s)) {
			t.Fatalf("%q: notified %q", s, r.notified)
		}
		r.harmless(s) // with the strip
		r.send(brokerMsg{broker.Event{Receipt: &broker.Receipt{Number: 1, Session: "s1", Left: 1, ExpiresAt: r.now.Add(time.Minute)}}})
		r.keys("\x01")
		r.harmless(s)
		r.paint()
		r.keys("/approve+\r")
		r.harmless(s)
		r.keys("\x15/grants\r")
		r.harmless(s)
		r.keys("q\x01\x15/history\r")
		r.harmless(s)
		r.keys("q")
		r.send(brokerMsg{broker.Event{Resolution: &broker.Resolution{ID: "e1", Number: 1, Outcome: broker.Outcome(s), By: s}}})
		r.harmless(s)
		r.send(decidedMsg{id: "e1", err: errors.New(s)})
		r.harmless(s)
	}
}

// harmless checks the newest scene cell by cell.
func (r *harness) harmless(s string) {
	r.t.Helper()
	for _, layer := range r.scene.Layers {
		if at := layer.At; at.X < 0 || at.Y < 0 || at.X+at.W > 80 || at.Y+at.H > 24 || len(layer.Cells) != at.W*at.H {
			r.t.Fatalf("%q: a layer lies at %+v", s, at)
		}
		for _, c := range layer.Cells {
			if c.Rune != 0 && (c.Rune < ' ' || c.Rune >= 0x7f && c.Rune < 0xa0 || c.Marks != "" || uniseg.StringWidth(string(c.Rune)) != int(c.Width)) {
				r.t.Fatalf("%q: cell %U %q, %d wide\n%s", s, c.Rune, c.Marks, c.Width, view.CellText(layer.Cells))
			}
		}
	}
	if r.m.mode == modeCommand {
		if _, input := r.m.panelRect(); r.scene.Cursor == nil || r.scene.Cursor.Y < input.Y || r.scene.Cursor.Y >= input.Y+input.H {
			r.t.Fatalf("%q: the cursor is at %+v, the command line at %+v", s, r.scene.Cursor, input)
		}
	}
}

// unsanitize gives back the bytes that sanitize was given. It fails on text
// that sanitize cannot have made.
func unsanitize(s string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch r {
		case text.VisibleSpace:
			b.WriteByte(' ')
		case '\\':
			n, err := unescape(&b, s[i:])
			if err != nil {
				return "", fmt.Errorf("unsanitize: at byte %d: %w", i, err)
			}
			size = n
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String(), nil
}

// unescape decodes the escape at the start of s into b and returns its length.
func unescape(b *strings.Builder, s string) (int, error) {
	if len(s) < 2 {
		return 0, fmt.Errorf("escape cut short")
	}
	switch s[1] {
	case '\\':
		b.WriteByte('\\')
	case 'n':
		b.WriteByte('\n')
	case 'r':
		b.WriteByte('\r')
	case 't':
		b.WriteByte('\t')
	case 'e':
		b.WriteByte(0x1b)
	case 'x':
		if len(s) < 4 {
			return 0, fmt.Errorf("escape cut short")
		}
		v, err := strconv.ParseUint(s[2:4], 16, 8)
		if err != nil {
			return 0, err
		}
		b.WriteByte(byte(v))
		return 4, nil
	case 'u':
		end := strings.IndexByte(s, '}')
		if end < 4 || s[2] != '{' {
			return 0, fmt.Errorf("escape cut short")
		}
		v, err := strconv.ParseUint(s[3:end], 16, 32)
		if err != nil || v > unicode.MaxRune {
			return 0, fmt.Errorf("no such code point: %s", s[:end+1])
		}
		b.WriteRune(rune(v))
		return end + 1, nil
	default:
		return 0, fmt.Errorf("unknown escape %q", s[:2])
	}
	return 2, nil
}
