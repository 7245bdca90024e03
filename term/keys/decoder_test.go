package keys

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// decodeAll feeds the whole input and ends it.
func decodeAll(input string) []Event {
	var d Decoder
	return append(d.Feed([]byte(input)), d.Close()...)
}

func TestDecodeKeys(t *testing.T) {
	tests := []struct{ name, input, want string }{
		{"text", "aZ1 é漢", "a Z 1 space é 漢"},
		{
			"control characters", "\x00\x01\x08\x09\x0a\x0d\x1a\x1c\x1d\x1e\x1f\x7f",
			"ctrl+space ctrl+a ctrl+h tab ctrl+j enter ctrl+z ctrl+\\ ctrl+] ctrl+^ ctrl+_ backspace",
		},
		{"alt", "\x1ba\x1bA\x1b1\x1b\r\x1b\x7f\x1b\x01\x1bé\x1b ", "alt+a alt+shift+a alt+1 alt+enter alt+backspace ctrl+alt+a alt+é alt+space"},
		{"cursor keys", "\x1b[A\x1bOB\x1b[1;5C\x1b[1;2D\x1b[1;8H\x1b[1;3F", "up down ctrl+right shift+left ctrl+alt+shift+home alt+end"},
		{"rxvt cursor keys", "\x1b[a\x1bOa\x1b\x1b[A\x1b\x1bOA", "shift+up ctrl+up alt+up alt+up"},
		{"rxvt home and end", "\x1b[7~\x1b[8~\x1b[7$\x1b[8^\x1b[3@\x1b\x1b[3~", "home end shift+home ctrl+end ctrl+shift+delete alt+delete"},
		{"linux function keys", "\x1b[[A\x1b[[E\x1b[1~\x1b[4~", "f1 f5 home end"},
		{"vt220 function keys", "\x1b[11~\x1b[15~\x1b[24~\x1b[25~\x1b[34~", "f1 f5 f12 f13 f20"},
		{"xterm function keys", "\x1bOP\x1bOS\x1b[1;2P\x1b[1;5R\x1b[15;3~", "f1 f4 shift+f1 ctrl+f3 alt+f5"},
		{"old function keys with modifiers", "\x1bO5P\x1bO1;2Q\x1b[5A", "ctrl+f1 shift+f2 ctrl+up"},
		{"editing keys", "\x1b[2~\x1b[3;5~\x1b[5~\x1b[6~\x1b[Z\x1b[E", "insert ctrl+delete pgup pgdown shift+tab begin"},
		{"keypad", "\x1bOp\x1bOM\x1bOk", "kp0 kpenter kpplus"},
		{"modifyOtherKeys", "\x1b[27;2;13~\x1b[27;5;105~\x1b[27;5;32~\x1b[27;6;65~\x1b[27;3;49~\x1b[27;2;65~", "shift+enter ctrl+i ctrl+space ctrl+shift+a alt+1 A"},
		{"kitty", "\x1b[105;5u\x1b[13;2u\x1b[27u\x1b[9;5u\x1b[92;5u\x1b[49;3u\x1b[97;2u", "ctrl+i shift+enter esc ctrl+tab ctrl+\\ alt+1 A"},
		{"kitty function keys", "\x1b[57376u\x1b[57387;5u\x1b[13~\x1b[P\x1b[1;2Q\x1b[57362u\x1b[57414u", "f13 ctrl+f24 f3 f1 shift+f2 pause kpenter"},
		{"kitty with alternates", "\x1b[97:65;6u\x1b[1092:1060:97;5u\x1b[49:33;4u", "ctrl+shift+a ctrl+ф alt+shift+1"},
		{"kitty with text", "\x1b[97;2;65u\x1b[101;;233u\x1b[0;;128104:8205:128105u", "A é 👨‍👩"},
		{"formatOtherKeys", "\x1b[65;6u", "ctrl+shift+a"},
		{"locks change nothing", "\x1b[97;69u\x1b[1;133A", "ctrl+a ctrl+up"},
		{"brackets with alt", "\x1b]x\x1bPx\x1b_x\x1bXx\x1b^x", "alt+] x alt+shift+p x alt+_ x alt+shift+x x alt+^ x"},
		{"alone at the end", "\x1b", "esc"},
		{"double escape", "\x1b\x1b", "alt+esc"},
		{"alt and bracket at the end", "\x1b[", "alt+["},
		{"alt and O at the end", "\x1bO", "alt+shift+o"},
		{"escape before focus", "\x1b\x1b[I", "esc focus"},
		{"focus", "\x1b[I\x1b[O", "focus blur"},
		{"unknown sequences are one event", "\x1b[99z\x1b[1;2;3~\x1b[5 q\x1bOz\xff\x1b[12\x01", "unknown shift+home reply unknown unknown unknown ctrl+a"},
		{
			"answers", "\x1b[?62;22c\x1b[?1;1R\x1b[24;80R\x1b]11;rgb:0/0/0\x07\x1b]10;rgb:0/0/0\x1b\\\x1bP>|x(1)\x1b\\\x1b_Gi=1;OK\x1b\\\x1b[?2026;2$y\x1b[?5u\x1b[0n",
			strings.Repeat("reply ", 10),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, ev := range decodeAll(tt.input) {
				got = append(got, ev.String())
			}
			if diff := cmp.Diff(strings.Fields(tt.want), got); diff != "" {
				t.Errorf("decode %q (-want +got):\n%s", tt.input, diff)
			}
		})
	}
}

func TestDecodeKeyFields(t *testing.T) {
	tests := []struct {
		input string
		want  Key
	}{
		{"A", Key{Code: 'a', Mods: Shift, Shifted: 'A', Text: "A"}},
		{"É", Key{Code: 'é', Mods: Shift, Shifted: 'É', Text: "É"}},
		{"!", Key{Code: '!', Text: "!"}},
		{"\x1b[97:65:98;2:2;65u", Key{Code: 'a', Mods: Shift, Action: Repeat, Shifted: 'A', Base: 'b', Text: "A"}},
		{"\x1b[97;1:3u", Key{Code: 'a', Action: Release}},
		{"\x1b[1;1:3A", Key{Code: KeyUp, Action: Release}},
		{"\x1b[3;5:2~", Key{Code: KeyDelete, Mods: Ctrl, Action: Repeat}},
		{"\x1b[97;65u", Key{Code: 'a', Mods: CapsLock, Text: "A"}},
		{"\x1b[57400u", Key{Code: KeyPad0 + 1, Text: "1"}},
		{"\x1b[97;9u", Key{Code: 'a', Mods: Super}},
	}
	for _, tt := range tests {
		t.Run(tt.input, func(t *testing.T) {
			got := decodeAll(tt.input)
			if len(got) != 1 || got[0].Kind != KeyEvent || got[0].Key != tt.want {
				t.Errorf("decode %q: %+v, want %+v", tt.input, got, tt.want)
			}
		})
	}
}

func TestDecodeMouse(t *testing.T) {
	tests := []struct {
		input string
		utf8  bool
		want  Mouse
	}{
		{"\x1b[<0;1;1M", false, Mouse{Button: ButtonLeft}},
		{"\x1b[<2;200;50m", false, Mouse{X: 199, Y: 49, Button: ButtonRight, Action: MouseRelease}},
		{"\x1b[<32;5;6M", false, Mouse{X: 4, Y: 5, Button: ButtonLeft, Action: MouseMove}},
		{"\x1b[<35;5;6M", false, Mouse{X: 4, Y: 5, Action: MouseMove}},
		{"\x1b[<64;5;6M", false, Mouse{X: 4, Y: 5, Button: WheelUp}},
		{"\x1b[<67;5;6M", false, Mouse{X: 4, Y: 5, Button: WheelRight}},
		{"\x1b[<129;5;6M", false, Mouse{X: 4, Y: 5, Button: Button9}},
		{"\x1b[<28;5;6M", false, Mouse{X: 4, Y: 5, Button: ButtonLeft, Mods: Shift | Alt | Ctrl}},
		{"\x1b[M !!", false, Mouse{Button: ButtonLeft}},
		{"\x1b[M#!!", false, Mouse{Action: MouseRelease}},
		{"\x1b[M \xff\xff", false, Mouse{X: 222, Y: 222, Button: ButtonLeft}},
		{"\x1b[M \u0100!", true, Mouse{X: 223, Button: ButtonLeft}},
		{"\x1b[32;10;20M", false, Mouse{X: 9, Y: 19, Button: ButtonLeft}},
	}
	for _, tt := range tests {
		t.Run(tt.input, func(t *testing.T) {
			d := Decoder{UTF8Mouse: tt.utf8}
			got := d.Feed([]byte(tt.input))
			if len(got) != 1 || got[0].Kind != MouseEvent || got[0].Mouse != tt.want {
				t.Errorf("decode %q: %+v, want %+v", tt.input, got, tt.want)
			}
		})
	}
}

func TestDecodeReplies(t *testing.T) {
	tests := []struct {
		input string
		want  Reply
	}{
		{"\x1b[?62;22c", Reply{ReplyAttributes, []int{62, 22}, "?"}},
		{"\x1b[>1;10;0c", Reply{ReplyAttributes, []int{1, 10, 0}, ">"}},
		{"\x1b[?3;4R", Reply{ReplyCursor, []int{3, 4}, ""}},
		{"\x1b[24;80R", Reply{ReplyCursor, []int{24, 80}, ""}},
		{"\x1b[?997;2n", Reply{ReplyStatus, []int{997, 2}, ""}},
		{"\x1b[?2026;1$y", Reply{ReplyMode, []int{2026, 1}, ""}},
		{"\x1b[?7u", Reply{ReplyKeyboard, []int{7}, ""}},
		{"\x1b[8;24;80t", Reply{ReplyWindow, []int{8, 24, 80}, ""}},
		{"\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\", Reply{ReplyColor, []int{11}, "rgb:1e1e/1e1e/1e1e"}},
		{"\x1bP>|xterm(388)\x1b\\", Reply{ReplyVersion, nil, "xterm(388)"}},
		{"\x1b]52;c;YQ==\x07", Reply{ReplyOther, nil, "52;c;YQ=="}},
	}
	for _, tt := range tests {
		t.Run(tt.input, func(t *testing.T) {
			got := decodeAll(tt.input)
			if len(got) != 1 || got[0].Kind != ReplyEvent {
				t.Fatalf("decode %q: %+v", tt.input, got)
			}
			if diff := cmp.Diff(tt.want, got[0].Reply); diff != "" {
				t.Errorf("decode %q (-want +got):\n%s", tt.input, diff)
			}
		})
	}
}

func TestDecodePaste(t *testing.T) {
	const body = "line\r\n\x1b[20\x1b[A é \x1b[201"
	input := "x\x1b[200~" + body + "\x1b[201~y"
	for size := 1; size <= len(input); size++ {
		var d Decoder
		var data []byte
		var trace []string
		for rest := []byte(input); len(rest) > 0; {
			n := min(size, len(rest))
			for _, ev := range d.Feed(rest[:n]) {
				if ev.Kind != PasteEvent {
					trace = append(trace, ev.String())
					continue
				}
				if bytes.HasSuffix(ev.Paste.Data, []byte("\r")) && !ev.Paste.End {
					t.Errorf("chunks of %d: CR LF was split", size)
				}
				data = append(data, ev.Paste.Data...)
				if ev.Paste.Start {
					trace = append(trace, "start")
				}
				if ev.Paste.End {
					trace = append(trace, "end")
				}
			}
			if d.in == insidePaste && (d.Wait() != 0 || d.Flush() != nil) {
				t.Fatalf("chunks of %d: quiet time ended something within a paste", size)
			}
			rest = rest[n:]
		}
		if got := strings.Join(trace, " "); got != "x start end y" || string(data) != body {
			t.Errorf("chunks of %d: %s with %q", size, got, data)
		}
	}
}

func TestDecodeLargePasteStreams(t *testing.T) {
	var d Decoder
	d.Feed(pasteStart)
	chunk := bytes.Repeat([]byte("0123456789abcde\n"), 4096)
	total := 0
	for range 160 { // 10 MB
		for _, ev := range d.Feed(chunk) {
			total += len(ev.Paste.Data)
		}
		if len(d.held) > len(pasteEnd) {
			t.Fatalf("%d bytes held back", len(d.held))
		}
	}
	if total != 160*len(chunk) {
		t.Errorf("%d bytes came out, %d went in", total, 160*len(chunk))
	}
}

func TestDecodeBoundsHostileInput(t *testing.T) {
	for name, input := range map[string]string{
		"digits":       "\x1b[" + strings.Repeat("9", 2e5) + "A",
		"parameters":   "\x1b[" + strings.Repeat("1;", 2e5) + "u",
		"OSC":          "\x1b]11;" + strings.Repeat("x", 2e5) + "\x1b\\",
		"OSC unended":  "\x1b]11;" + strings.Repeat("x", 2e5),
		"DCS":          "\x1bP1+r" + strings.Repeat("x", 2e5) + "\x1b\\",
		"double":       "\x1b\x1b[" + strings.Repeat("9", 2e5) + "A",
		"SS3":          "\x1bO" + strings.Repeat("1", 1e4),
		"broken UTF-8": strings.Repeat("\xf0\x9f", 1e4),
	} {
		t.Run(name, func(t *testing.T) {
			var whole, chunked Decoder
			events := append(whole.Feed([]byte(input)), whole.Close()...)
			var pieces []Event
			for rest := []byte(input); len(rest) > 0; {
				n := min(1000, len(rest))
				pieces = append(pieces, chunked.Feed(rest[:n])...)
				if len(chunked.held) > maxSequence+1000 {
					t.Fatalf("%s: %d bytes held", name, len(chunked.held))
				}
				rest = rest[n:]
			}
			pieces = append(pieces, chunked.Close()...)
			checkRaw(t, input, events)
			if !reflect.DeepEqual(merge(events), merge(pieces)) {
				t.Errorf("%s: whole and in pieces differ", name)
			}
		})
	}
}

// fataler is what checks need of a test.
type fataler interface{ Fatalf(string, ...any) }

// checkRaw checks that nothing of the input was lost, added or moved.
func checkRaw(t fataler, input string, events []Event) {
	var raw strings.Builder
	for _, ev := range events {
		raw.Write(ev.Raw)
	}
	if raw.String() != input {
		t.Fatalf("events hold %q\nof input      %q", raw.String(), input)
	}
}

// merge joins the pieces of a paste and of an overlong sequence, whose borders
// follow the reads.
func merge(events []Event) []Event {
	var out []Event
	for _, ev := range events {
		if n := len(out) - 1; n >= 0 {
			last := &out[n]
			if ev.Kind == PasteEvent && last.Kind == PasteEvent && !last.Paste.End {
				last.Raw = append(last.Raw[:len(last.Raw):len(last.Raw)], ev.Raw...)
				last.Paste.Data = append(last.Paste.Data[:len(last.Paste.Data):len(last.Paste.Data)], ev.Paste.Data...)
				last.Paste.End = ev.Paste.End
				continue
			}
			if anonymous(ev) && anonymous(*last) {
				last.Raw = append(last.Raw[:len(last.Raw):len(last.Raw)], ev.Raw...)
				continue
			}
		}
		if ev.Kind == PasteEvent && len(ev.Paste.Data) == 0 {
			ev.Paste.Data = nil
		}
		out = append(out, ev)
	}
	return out
}

func anonymous(ev Event) bool {
	return ev.Kind == ReplyEvent && ev.Reply.Kind == ReplyOther && ev.Reply.Params == nil && ev.Reply.Text == ""
}

// tokens are pieces of input that make the generator find corner cases.
var tokens = []string{
	"a", "é", "漢", "\x1b", "\x1b[", "\x1bO", "\x1b]", "\x1bP", "\x1b_", "\x1b\\", "\x07", "[", "O", "A", "u", "~", "M", "m", "R",
	"0", "1", "27", "200~", "201~", "\x1b[200~", "\x1b[201~", ";", ":", "<", "?", "$", "\r", "\n", "\x00", "\x7f", "\xff", "\xe6", "\xbc",
	"\x1b[1;5A", "\x1b[<0;3;4M", "\x1b[M !!", "\x1b[97;5u", "\x1b\x1b[A", "11;rgb:0/0/0",
}

func TestDecodeAnyChunking(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		input := strings.Join(rapid.SliceOfN(rapid.SampledFrom(tokens), 0, 30).Draw(t, "tokens"), "")
		cuts := rapid.SliceOf(rapid.IntRange(1, 7)).Draw(t, "cuts")
		checkChunking(t, input, cuts)
	})
}

func checkChunking(t fataler, input string, cuts []int) {
	whole := decodeAll(input)
	checkRaw(t, input, whole)
	var d Decoder
	var pieces []Event
	rest := []byte(input)
	for _, n := range cuts {
		n = min(n, len(rest))
		pieces = append(pieces, d.Feed(rest[:n])...)
		rest = rest[n:]
	}
	pieces = append(append(pieces, d.Feed(rest)...), d.Close()...)
	checkRaw(t, input, pieces)
	if want, got := merge(whole), merge(pieces); !reflect.DeepEqual(want, got) {
		t.Fatalf("%q cut at %v (-whole +pieces):\n%s", input, cuts, cmp.Diff(want, got))
	}
}

func FuzzDecoder(f *testing.F) {
	for _, s := range tokens {
		f.Add([]byte(s), uint8(1))
	}
	f.Add([]byte("\x1b[200~abc\r\n\x1b[201~x\x1b]11;rgb:1/2/3\x1b\\"), uint8(3))
	f.Fuzz(func(t *testing.T, input []byte, size uint8) {
		var cuts []int
		for n := 0; n < len(input); n += int(size)%8 + 1 {
			cuts = append(cuts, int(size)%8+1)
		}
		checkChunking(t, string(input), cuts)
		for _, ev := range decodeAll(string(input)) {
			_ = ev.String()
			for _, m := range allModes {
				Encode(ev, m)
			}
		}
	})
}

func TestFlushResolvesOnlyWhatItMust(t *testing.T) {
	tests := []struct {
		held string
		wait bool // for a short time
		want string
	}{
		{"\x1b", true, "esc"},
		{"\x1b\x1b", true, "alt+esc"},
		{"\x1b[", true, "alt+["},
		{"\x1b]", true, "alt+]"},
		{"\x1b\x1b[", false, "esc alt+["},
		{"\x1b[1;", false, "unknown"},
		{"\x1b]11;rgb", false, "reply"},
		{"\xe6\xbc", false, "unknown"},
	}
	for _, tt := range tests {
		t.Run(tt.held, func(t *testing.T) {
			var d Decoder
			if got := d.Feed([]byte(tt.held)); len(got) != 0 {
				t.Errorf("feed %q: %v before it was complete", tt.held, got)
			}
			want := sequenceWait
			if tt.wait {
				want = escapeWait
			}
			if d.Wait() != want {
				t.Errorf("%q waits %v, want %v", tt.held, d.Wait(), want)
			}
			var got []string
			for _, ev := range d.Flush() {
				got = append(got, ev.String())
			}
			if strings.Join(got, " ") != tt.want || d.Wait() != 0 {
				t.Errorf("flush %q: %v (wait %v), want %s", tt.held, got, d.Wait(), tt.want)
			}
		})
	}
}
