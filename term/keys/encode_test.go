package keys

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// usual are the modes of a program that has asked for nothing.
var usual = Modes{BackarrowDelete: true}

func with(change func(*Modes)) Modes {
	m := usual
	change(&m)
	return m
}

func kitty(flags uint8) Modes { return with(func(m *Modes) { m.Kitty = flags }) }
func other(level uint8) Modes { return with(func(m *Modes) { m.ModifyOtherKeys = level }) }
func mouseModes(mode MouseMode, format MouseFormat) Modes {
	return with(func(m *Modes) { m.Mouse, m.MouseFormat = mode, format })
}

var (
	application = with(func(m *Modes) { m.ApplicationCursor, m.ApplicationKeypad = true, true })
	bracketed   = with(func(m *Modes) { m.BracketedPaste = true })
	allModes    = []Modes{
		{},
		usual, application, bracketed, other(1), other(2), kitty(1), kitty(5), kitty(7), kitty(15), kitty(31),
		mouseModes(MouseMotion, MouseLegacy), mouseModes(MouseDrag, MouseUTF8), mouseModes(MouseClick, MouseSGR),
	}
)

func translate(input string, m Modes) string {
	var out []byte
	for _, ev := range decodeAll(input) {
		out = AppendEncode(out, ev, m)
	}
	return string(out)
}

// TestTranslateKeys feeds a key in every encoding that terminals use for it, and checks
// what a program gets in each of its modes.
func TestTranslateKeys(t *testing.T) {
	const none = ""
	tests := []struct {
		key                       string
		sent                      []string // legacy, modifyOtherKeys, kitty …
		legacy, mok1, mok2, kitty string   // what the program gets
	}{
		{"a", []string{"a", "\x1b[97u", "\x1b[97;;97u"}, "a", "a", "a", "a"},
		{"A", []string{"A", "\x1b[27;2;65~", "\x1b[97:65;2u", "\x1b[97;2;65u"}, "A", "A", "A", "A"},
		{"é", []string{"é", "\x1b[233u"}, "é", "é", "é", "é"},
		{"Ctrl-A", []string{"\x01", "\x1b[27;5;97~", "\x1b[97;5u"}, "\x01", "\x01", "\x1b[27;5;97~", "\x1b[97;5u"},
		{"Ctrl-I", []string{"\x1b[27;5;105~", "\x1b[105;5u"}, "\t", "\t", "\x1b[27;5;105~", "\x1b[105;5u"},
		{"Ctrl-M", []string{"\x1b[27;5;109~", "\x1b[109;5u"}, "\r", "\r", "\x1b[27;5;109~", "\x1b[109;5u"},
		{"Ctrl-[", []string{"\x1b[27;5;91~", "\x1b[91;5u"}, "\x1b", "\x1b", "\x1b[27;5;91~", "\x1b[91;5u"},
		{"Ctrl-Space", []string{"\x00", "\x1b[27;5;32~", "\x1b[32;5u"}, "\x00", "\x00", "\x1b[27;5;32~", "\x1b[32;5u"},
		{"Ctrl-\\", []string{"\x1c", "\x1b[27;5;92~", "\x1b[92;5u"}, "\x1c", "\x1c", "\x1b[27;5;92~", "\x1b[92;5u"},
		{"Ctrl-]", []string{"\x1d", "\x1b[93;5u"}, "\x1d", "\x1d", "\x1b[27;5;93~", "\x1b[93;5u"},
		{"Ctrl-_", []string{"\x1f", "\x1b[95;5u"}, "\x1f", "\x1f", "\x1b[27;5;95~", "\x1b[95;5u"},
		{"Ctrl-/", []string{"\x1b[47;5u"}, "\x1f", "\x1f", "\x1b[27;5;47~", "\x1b[47;5u"},
		{"Ctrl-1", []string{"\x1b[27;5;49~", "\x1b[49;5u"}, "1", "\x1b[27;5;49~", "\x1b[27;5;49~", "\x1b[49;5u"},
		{"Ctrl-Shift-A", []string{"\x1b[27;6;65~", "\x1b[97:65;6u", "\x1b[97;6u"}, "\x01", "\x01", "\x1b[27;6;65~", "\x1b[97;6u"},
		{"Ctrl-ф", []string{"\x1b[1092::97;5u"}, "\x01", "\x1b[27;5;1092~", "\x1b[27;5;1092~", "\x1b[1092;5u"},
		{"Alt-a", []string{"\x1ba", "\x1b[27;3;97~", "\x1b[97;3u"}, "\x1ba", "\x1ba", "\x1b[27;3;97~", "\x1b[97;3u"},
		{"Alt-Shift-A", []string{"\x1bA", "\x1b[97:65;4u"}, "\x1bA", "\x1bA", "\x1b[27;4;65~", "\x1b[97;4u"},
		{"Alt-1", []string{"\x1b1", "\x1b[27;3;49~", "\x1b[49;3u"}, "\x1b1", "\x1b1", "\x1b[27;3;49~", "\x1b[49;3u"},
		{"Alt-9", []string{"\x1b9", "\x1b[57;3u"}, "\x1b9", "\x1b9", "\x1b[27;3;57~", "\x1b[57;3u"},
		{"Ctrl-Alt-a", []string{"\x1b\x01", "\x1b[97;7u"}, "\x1b\x01", "\x1b\x01", "\x1b[27;7;97~", "\x1b[97;7u"},
		{"Enter", []string{"\r", "\x1b[13u"}, "\r", "\r", "\r", "\r"},
		{"Shift-Enter", []string{"\x1b[27;2;13~", "\x1b[13;2u"}, "\r", "\x1b[27;2;13~", "\x1b[27;2;13~", "\x1b[13;2u"},
		{"Ctrl-Enter", []string{"\x1b[27;5;13~", "\x1b[13;5u"}, "\r", "\x1b[27;5;13~", "\x1b[27;5;13~", "\x1b[13;5u"},
		{"Alt-Enter", []string{"\x1b\r", "\x1b[27;3;13~", "\x1b[13;3u"}, "\x1b\r", "\x1b[27;3;13~", "\x1b[27;3;13~", "\x1b[13;3u"},
		{"Tab", []string{"\t", "\x1b[9u"}, "\t", "\t", "\t", "\t"},
		{"Shift-Tab", []string{"\x1b[Z", "\x1b[27;2;9~", "\x1b[9;2u"}, "\x1b[Z", "\x1b[Z", "\x1b[Z", "\x1b[9;2u"},
		{"Ctrl-Tab", []string{"\x1b[27;5;9~", "\x1b[9;5u"}, "\t", "\x1b[27;5;9~", "\x1b[27;5;9~", "\x1b[9;5u"},
		{"Backspace", []string{"\x7f", "\x1b[127u"}, "\x7f", "\x7f", "\x7f", "\x7f"},
		{"Ctrl-Backspace", []string{"\x1b[127;5u"}, "\b", "\b", "\b", "\x1b[127;5u"},
		{"Alt-Backspace", []string{"\x1b\x7f", "\x1b[127;3u"}, "\x1b\x7f", "\x1b\x7f", "\x1b[27;3;127~", "\x1b[127;3u"},
		{"Escape", []string{"\x1b", "\x1b[27u"}, "\x1b", "\x1b", "\x1b", "\x1b[27u"},
		{"Alt-Escape", []string{"\x1b\x1b", "\x1b[27;3u"}, "\x1b\x1b", "\x1b[27;3;27~", "\x1b[27;3;27~", "\x1b[27;3u"},
		{"Up", []string{"\x1b[A", "\x1bOA", "\x1b[1;1A"}, "\x1b[A", "\x1b[A", "\x1b[A", "\x1b[A"},
		{"Ctrl-Right", []string{"\x1b[1;5C", "\x1b[5C", "\x1bOc"}, "\x1b[1;5C", "\x1b[1;5C", "\x1b[1;5C", "\x1b[1;5C"},
		{"Alt-Up", []string{"\x1b[1;3A", "\x1b\x1b[A"}, "\x1b[1;3A", "\x1b[1;3A", "\x1b[1;3A", "\x1b[1;3A"},
		{"Home", []string{"\x1b[H", "\x1bOH", "\x1b[1~", "\x1b[7~"}, "\x1b[H", "\x1b[H", "\x1b[H", "\x1b[H"},
		{"End", []string{"\x1b[F", "\x1b[4~", "\x1b[8~"}, "\x1b[F", "\x1b[F", "\x1b[F", "\x1b[F"},
		{"Shift-Delete", []string{"\x1b[3;2~", "\x1b[3$"}, "\x1b[3;2~", "\x1b[3;2~", "\x1b[3;2~", "\x1b[3;2~"},
		{"F1", []string{"\x1bOP", "\x1b[11~", "\x1b[[A", "\x1b[P"}, "\x1bOP", "\x1bOP", "\x1bOP", "\x1b[P"},
		{"F3", []string{"\x1bOR", "\x1b[13~", "\x1b[R"}, "\x1bOR", "\x1bOR", "\x1bOR", "\x1b[13~"},
		{"Ctrl-F3", []string{"\x1b[1;5R", "\x1b[13;5~"}, "\x1b[1;5R", "\x1b[1;5R", "\x1b[1;5R", "\x1b[13;5~"},
		{"F5", []string{"\x1b[15~", "\x1b[[E"}, "\x1b[15~", "\x1b[15~", "\x1b[15~", "\x1b[15~"},
		{"F12", []string{"\x1b[24~"}, "\x1b[24~", "\x1b[24~", "\x1b[24~", "\x1b[24~"},
		{"F13", []string{"\x1b[57376u"}, "\x1b[1;2P", "\x1b[1;2P", "\x1b[1;2P", "\x1b[57376u"},
		{"F13 of a VT220", []string{"\x1b[25~"}, "\x1b[25~", "\x1b[25~", "\x1b[25~", "\x1b[57376u"},
		{"F13 as Shift-F1", []string{"\x1b[1;2P"}, "\x1b[1;2P", "\x1b[1;2P", "\x1b[1;2P", "\x1b[1;2P"},
		{"F17", []string{"\x1b[57380u"}, "\x1b[15;2~", "\x1b[15;2~", "\x1b[15;2~", "\x1b[57380u"},
		{"F24", []string{"\x1b[57387u"}, "\x1b[24;2~", "\x1b[24;2~", "\x1b[24;2~", "\x1b[57387u"},
		{"keypad 1", []string{"\x1b[57400u"}, "1", "1", "1", "1"},
		{"keypad Enter", []string{"\x1b[57414u", "\x1bOM"}, "\r", "\r", "\r", "\x1b[57414u"},
		{"keypad End", []string{"\x1b[57424u"}, "\x1b[F", "\x1b[F", "\x1b[F", "\x1b[57424u"},
		{"release", []string{"\x1b[97;1:3u", "\x1b[1;1:3A"}, none, none, none, none},
		{"repeat", []string{"\x1b[1;1:2A"}, "\x1b[A", "\x1b[A", "\x1b[A", "\x1b[A"},
		{"Caps Lock itself", []string{"\x1b[57358u"}, none, none, none, none},
		{"Super-a", []string{"\x1b[97;9u"}, none, "\x1b[27;9;97~", "\x1b[27;9;97~", "\x1b[97;9u"},
		{"unknown", []string{"\x1b[99z"}, "\x1b[99z", "\x1b[99z", "\x1b[99z", "\x1b[99z"},
		{"an answer", []string{"\x1b[?62c", "\x1b]11;rgb:0/0/0\x07", "\x1b[24;80R"}, none, none, none, none},
	}
	for _, tt := range tests {
		t.Run(tt.key, func(t *testing.T) {
			for _, sent := range tt.sent {
				for _, c := range []struct {
					program string
					modes   Modes
					want    string
				}{{"legacy", usual, tt.legacy}, {"modifyOtherKeys 1", other(1), tt.mok1}, {"modifyOtherKeys 2", other(2), tt.mok2}, {"kitty 1", kitty(1), tt.kitty}} {
					if got := translate(sent, c.modes); got != c.want {
						t.Errorf("%s sent as %q: a program in %s gets %q, want %q", tt.key, sent, c.program, got, c.want)
					}
				}
			}
		})
	}
}

func TestTranslateOtherModes(t *testing.T) {
	newline := with(func(m *Modes) { m.Newline = true })
	tests := []struct {
		name, sent string
		modes      Modes
		want       string
	}{
		{"application cursor", "\x1b[A\x1b[H\x1b[1;5A", application, "\x1bOA\x1bOH\x1b[1;5A"},
		{"application keypad", "\x1b[57400u\x1b[57414u\x1b[57413u", application, "\x1bOq\x1bOM\x1bOk"},
		{"application keypad, other keys", "1\r", application, "1\r"},
		{"newline mode", "\r", newline, "\r\n"},
		{"backarrow sends backspace", "\x7f\x1b[127;5u", Modes{}, "\b\x7f"},
		{"kitty wins over modifyOtherKeys", "\x01", with(func(m *Modes) { m.Kitty, m.ModifyOtherKeys = 1, 2 }), "\x1b[97;5u"},
		{"kitty, all keys", "aA\r\x1b[A", kitty(9), "\x1b[97u\x1b[97;2u\x1b[13u\x1b[A"},
		{"kitty, with text", "aA", kitty(25), "\x1b[97;;97u\x1b[97;2;65u"},
		{"kitty, alternates", "A\x1b[97:65:113;6u", kitty(13), "\x1b[97:65;2u\x1b[97:65:113;6u"},
		{"kitty, base only", "\x1b[97::113;5u", kitty(5), "\x1b[97::113;5u"},
		{"kitty, event types", "\x1b[97;1:3u\x1b[1;1:3A\x1b[1;5:2A\x1b[13;1:3u", kitty(3), "\x1b[97;1:3u\x1b[1;1:3A\x1b[1;5:2A"},
		{"kitty, everything", "\x1b[97;1:3u\x1b[13;1:3u\x1b[57441;2u", kitty(31), "\x1b[97;1:3u\x1b[13;1:3u\x1b[57441;2u"},
		{"kitty, text over several code points", "\x1b[0;;128104:8205:128105u", kitty(31), "\x1b[0;;128104:8205:128105u"},
		{"kitty, alternates without disambiguation", "\x01\x1b[13;2u", kitty(4), "\x01\r"},
		{"focus asked for", "\x1b[I\x1b[O", with(func(m *Modes) { m.FocusEvents = true }), "\x1b[I\x1b[O"},
		{"focus not asked for", "\x1b[I\x1b[O", usual, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := translate(tt.sent, tt.modes); got != tt.want {
				t.Errorf("%s: %q becomes %q, want %q", tt.name, tt.sent, got, tt.want)
			}
		})
	}
}

func TestTranslatePaste(t *testing.T) {
	tests := []struct {
		name, sent string
		modes      Modes
		want       string
	}{
		{"bracketed", "\x1b[200~a\nb\x1b[201~", bracketed, "\x1b[200~a\nb\x1b[201~"},
		{"typed", "\x1b[200~a\nb\r\nc\rd\x1b[201~", usual, "a\rb\rc\rd"},
		{"empty", "\x1b[200~\x1b[201~", bracketed, "\x1b[200~\x1b[201~"},
		{"an end without a start", "\x1b[201~x", bracketed, "x"},
		{"an eight-bit end inside", "\x1b[200~a\x9b201~b\u009b201~c\x1b[201~", bracketed, "\x1b[200~a\ufffd201~b\ufffd201~c\x1b[201~"},
		{"a character that ends like CSI", "\x1b[200~雛201~\x1b[201~", bracketed, "\x1b[200~雛201~\x1b[201~"},
		{"nothing after the end is pasted", "\x1b[200~a\x1b[20\x1b[201~1~", bracketed, "\x1b[200~a\x1b[20\x1b[201~1~"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := translate(tt.sent, tt.modes); got != tt.want {
				t.Errorf("%s: %q becomes %q, want %q", tt.name, tt.sent, got, tt.want)
			}
		})
	}
	own := Event{Kind: PasteEvent, Paste: Paste{Start: true, End: true, Data: []byte("a\x1b[20\x1b[201~1~b")}}
	if got := string(Encode(own, bracketed)); got != "\x1b[200~a\x1b[20\ufffd201~1~b\x1b[201~" {
		t.Errorf("nested end markers survive: %q", got)
	}
}

func TestTranslateMouse(t *testing.T) {
	sgr := func(mode MouseMode) Modes { return mouseModes(mode, MouseSGR) }
	wheel := with(func(m *Modes) { m.AlternateScroll, m.AltScreen = true, true })
	wheelApp := wheel
	wheelApp.ApplicationCursor = true
	const press, release, drag, motion, up = "\x1b[<0;3;4M", "\x1b[<0;3;4m", "\x1b[<32;3;4M", "\x1b[<35;3;4M", "\x1b[<64;3;4M"
	const all = press + release + drag + motion + up
	tests := []struct {
		name, sent string
		modes      Modes
		want       string
	}{
		{"off", all, usual, ""},
		{"X10", all, mouseModes(MouseX10, MouseLegacy), "\x1b[M #$"},
		{"X10 without modifiers", "\x1b[<4;3;4M", mouseModes(MouseX10, MouseLegacy), "\x1b[M #$"},
		{"clicks", all, sgr(MouseClick), press + release + up},
		{"drag", all, sgr(MouseDrag), press + release + drag + up},
		{"motion", all, sgr(MouseMotion), all},
		{"pixels of the middle of a cell", "\x1b[<0;1;1M\x1b[<0;3;4m", mouseModes(MouseClick, MousePixels), "\x1b[<0;5;10M\x1b[<0;25;70m"},
		{"legacy", all, mouseModes(MouseMotion, MouseLegacy), "\x1b[M #$\x1b[M##$\x1b[M@#$\x1b[MC#$\x1b[M`#$"},
		{"legacy to SGR", "\x1b[M #$", sgr(MouseClick), press},
		{"legacy cannot say it", "\x1b[<0;224;1M", mouseModes(MouseClick, MouseLegacy), ""},
		{"legacy limit", "\x1b[<0;222;1M", mouseModes(MouseClick, MouseLegacy), "\x1b[M \xfe!"},
		{"UTF-8", "\x1b[<0;300;1M", mouseModes(MouseClick, MouseUTF8), "\x1b[M \u014c!"},
		{"modifiers and extra buttons", "\x1b[<153;3;4M", sgr(MouseClick), "\x1b[<153;3;4M"},
		{"wheel to cursor keys", up, wheel, "\x1b[A\x1b[A\x1b[A"},
		{"wheel to application cursor keys", "\x1b[<65;3;4M", wheelApp, "\x1bOB\x1bOB\x1bOB"},
		{"wheel on the main screen", up, with(func(m *Modes) { m.AlternateScroll = true }), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := translate(tt.sent, tt.modes); got != tt.want {
				t.Errorf("%s: %q becomes %q, want %q", tt.name, tt.sent, got, tt.want)
			}
		})
	}
	outside := Event{Kind: MouseEvent, Mouse: Mouse{X: -1, Button: ButtonLeft}}
	if got := Encode(outside, sgr(MouseMotion)); got != nil {
		t.Errorf("a click left of the pane becomes %q", got)
	}
}

// TestSameDialectIsExact checks that a program in a mode gets unchanged what xterm sends
// in that mode, and that a program with a kitty keyboard gets what kitty sends.
func TestSameDialectIsExact(t *testing.T) {
	legacy := []string{
		"a", "Z", "é", " ", "\x00", "\x01", "\t", "\r", "\x1a", "\x1c", "\x1f", "\x7f", "\x1ba", "\x1b1", "\x1b\r", "\x1b\x7f", "\x1b\x01",
		"\x1b[A", "\x1b[H", "\x1b[F", "\x1b[Z", "\x1b[1;2A", "\x1b[1;5D", "\x1b[1;6H", "\x1bOP", "\x1bOS", "\x1b[1;2P", "\x1b[1;5R", "\x1b[2~", "\x1b[3~", "\x1b[3;3~",
		"\x1b[5~", "\x1b[6;5~", "\x1b[15~", "\x1b[17;2~", "\x1b[24~", "\x1b[24;6~", "\x1b[25~", "\x1b[34~", "\x1b[29~", "\x08", "\x0a",
	}
	kitties := []string{
		"a", "A", "é", "\r", "\t", "\x7f", "\x1b[27u", "\x1b[97;5u", "\x1b[97:65;6u", "\x1b[13;2u", "\x1b[9;2u", "\x1b[32;5u", "\x1b[A", "\x1b[1;5A",
		"\x1b[P", "\x1b[13~", "\x1b[3;5~", "\x1b[57376u", "\x1b[57399;5u", "\x1b[57414u", "\x1b[57424u", "\x1b[1092::97;5u", "\x1b[57428u", "\x1b[57362;2u",
	}
	rapid.Check(t, func(t *rapid.T) {
		send := func(from []string) string {
			s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(from), 1, 8).Draw(t, "keys"), "")
			return s
		}
		if s := send(legacy); translate(s, usual) != s {
			t.Fatalf("legacy %q becomes %q", s, translate(s, usual))
		}
		if s := send(kitties); translate(s, kitty(5)) != s {
			t.Fatalf("kitty %q becomes %q", s, translate(s, kitty(5)))
		}
	})
}

func TestEncodeAllocatesNothing(t *testing.T) {
	events := decodeAll("a\x01\x1b[A\x1b[<0;3;4M\x1b[13;2u")
	dst := make([]byte, 0, 256)
	m := with(func(m *Modes) { m.Kitty, m.Mouse, m.MouseFormat = 31, MouseMotion, MouseSGR })
	if n := testing.AllocsPerRun(100, func() {
		dst = dst[:0]
		for _, ev := range events {
			dst = AppendEncode(dst, ev, m)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkKey(b *testing.B) {
	var d Decoder
	dst := make([]byte, 0, 64)
	in := []byte("a")
	b.ReportAllocs()
	for b.Loop() {
		for _, ev := range d.Feed(in) {
			dst = AppendEncode(dst[:0], ev, usual)
		}
	}
}

// However reads split a paste, a program gets exactly one end marker, at the end, and
// everything that was pasted.
func TestPasteNeverEndsItself(t *testing.T) {
	ends := func(text string) bool {
		head, _, found := strings.Cut(text, "\x9b201~")
		r, _ := utf8.DecodeLastRuneInString(head + "\x9b")
		return strings.Contains(text, "\x1b[201~") || found && (r == utf8.RuneError || r == '\u009b')
	}
	for _, body := range []string{
		"a\x9b201~b", "a\u009b201~b", "雛201~b漢字", "\x1b[20\x9b201~1~b", "\x1b[\u009b201~b", "\x1b\x1b[20x\x9b\x9b201~201~b", "漢\x9b201~",
	} {
		t.Run(body, func(t *testing.T) {
			input := "\x1b[200~" + body + "\x1b[201~"
			for first := range len(input) {
				for second := first; second <= len(input); second++ {
					var d Decoder
					var out []byte
					for _, read := range []string{input[:first], input[first:second], input[second:]} {
						for _, ev := range d.Feed([]byte(read)) {
							out = AppendEncode(out, ev, bracketed)
							if data := ev.Paste.Data; utf8.ValidString(body) && !utf8.Valid(data) {
								t.Fatalf("%q cut at %d and %d: the piece %q cuts a character", input, first, second, data)
							}
						}
					}
					text, found := strings.CutSuffix(string(out), "\x1b[201~")
					if !found || ends(text) {
						t.Fatalf("%q cut at %d and %d becomes %q", input, first, second, out)
					}
					if want := string(AppendEncode(nil, Event{Kind: PasteEvent, Paste: Paste{Start: true, End: true, Data: []byte(body)}}, bracketed)); string(out) != want {
						t.Fatalf("%q cut at %d and %d becomes %q, and in one piece %q", input, first, second, out, want)
					}
				}
			}
		})
	}
}
