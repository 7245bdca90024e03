package keys

import (
	"bytes"
	"unicode"
)

// sequence is a control sequence in parts: CSI prefix body inter final.
type sequence struct {
	prefix byte   // one of < = > ?, or 0
	body   []byte // parameters: digits, semicolons, colons
	inter  byte   // the last intermediate byte, or 0
	final  byte
}

// maxNumber replaces every larger parameter.
const maxNumber = 10_000_000

// field returns parameter i (from 0), sub-parameter j; ok is false when it is missing.
func (s sequence) field(i, j int) (field []byte, ok bool) {
	rest := s.body
	for ; i >= 0; i-- {
		if rest == nil {
			return nil, false
		}
		field, rest = cut(rest, ';')
	}
	rest = field
	for ; j >= 0; j-- {
		if rest == nil {
			return nil, false
		}
		field, rest = cut(rest, ':')
	}
	return field, len(field) > 0
}

// cut splits b at the first sep; rest is nil when there is none.
func cut(b []byte, sep byte) (head, rest []byte) {
	if i := bytes.IndexByte(b, sep); i >= 0 {
		return b[:i], b[i+1 : len(b) : len(b)]
	}
	return b, nil
}

// number returns parameter i, sub-parameter j, or def when it is missing.
func (s sequence) number(i, j, def int) int {
	f, ok := s.field(i, j)
	if !ok {
		return def
	}
	return number(f)
}

func number(digits []byte) int {
	n := 0
	for _, c := range digits {
		if c < '0' || c > '9' {
			return n
		}
		n = min(n*10+int(c-'0'), maxNumber)
	}
	return n
}

// params returns all parameters without their sub-parameters, at most 32.
func (s sequence) params() []int {
	if len(s.body) == 0 {
		return nil
	}
	out := make([]int, 0, 4)
	for rest := s.body; rest != nil && len(out) < 32; {
		var f []byte
		f, rest = cut(rest, ';')
		out = append(out, number(f))
	}
	return out
}

// csi reads a control sequence.
func (d *Decoder) csi(buf []byte) (Event, int) {
	if len(buf) < 3 {
		return Event{}, 0
	}
	switch buf[2] {
	case 'M':
		return d.legacyMouse(buf)
	case '[':
		return linuxKey(buf)
	}
	s, n, ok := scan(buf)
	switch {
	case n == 0:
		return Event{}, 0
	case n == 2: // CSI cannot be followed by this byte, so it was Alt+[
		return Event{Kind: KeyEvent, Key: altKey(asciiKey('['))}, 2
	case n > maxSequence:
		return Event{Kind: ReplyEvent}, n
	case !ok:
		return Event{Kind: UnknownEvent}, n
	}
	ev := readSequence(s)
	if ev.Kind == PasteEvent {
		d.in = insidePaste
	}
	return ev, n
}

// scan splits the control sequence at the start of buf into its parts. n is zero when it
// is incomplete; ok is false when an invalid byte ends it after n bytes.
func scan(buf []byte) (s sequence, n int, ok bool) {
	n = 2
	if c := buf[n]; c >= '<' && c <= '?' {
		s.prefix = c
		n++
	}
	start := n
	for n < len(buf) && buf[n] >= 0x30 && buf[n] < 0x40 {
		n++
	}
	s.body = buf[start:n:n]
	for n < len(buf) && buf[n] >= 0x20 && buf[n] < 0x30 {
		s.inter = buf[n]
		n++
		if s.inter == '$' && s.rxvtShift() {
			s.final, s.inter = '$', 0
			return s, n, true
		}
	}
	if n == len(buf) {
		return s, 0, false
	}
	if buf[n] < 0x40 || buf[n] > 0x7e {
		return s, n, false
	}
	s.final = buf[n]
	return s, n + 1, true
}

// rxvtShift reports whether $ ends the sequence, as in rxvt's form of a key with Shift.
// In a mode report $ is not the end; such a report has two parameters.
func (s sequence) rxvtShift() bool {
	return s.prefix == 0 && len(s.body) > 0 && bytes.IndexByte(s.body, ';') < 0 && tildeKeys[s.number(0, 0, 0)] != 0
}

// readSequence turns a control sequence into an event.
func readSequence(s sequence) Event {
	switch {
	case s.prefix == '<' && s.inter == 0 && (s.final == 'M' || s.final == 'm'):
		return sgrMouse(s)
	case s.prefix != 0 || s.inter != 0:
		return readReply(s)
	}
	switch s.final {
	case 'I', 'O':
		if len(s.body) == 0 {
			return Event{Kind: FocusEvent, Focused: s.final == 'I'}
		}
	case 'u':
		return kittyKey(s)
	case 'M':
		return urxvtMouse(s)
	case '~', '^', '@', '$':
		return tildeKey(s)
	case 'c', 'n', 't', 'y', 'x':
		return readReply(s)
	case 'R':
		// F3 with modifiers looks like a cursor report of line 1. It is read as F3,
		// because this program only requests the report with CSI ?.
		if s.number(0, 0, 1) != 1 || s.number(1, 0, 1) > 256 || len(s.body) > 0 && bytes.IndexByte(s.body, ';') < 0 {
			return readReply(s)
		}
	}
	return letterKey(s)
}

// kittyKey reads CSI code:shifted:base ; mods:action ; text u.
func kittyKey(s sequence) Event {
	k := Key{
		Code:    rune(s.number(0, 0, 1)),
		Shifted: rune(s.number(0, 1, 0)),
		Base:    rune(s.number(0, 2, 0)),
	}
	k.Mods, k.Action = s.modifiers(1)
	if k.Code > unicode.MaxRune || k.Shifted > unicode.MaxRune || k.Base > unicode.MaxRune {
		return Event{Kind: UnknownEvent}
	}
	if text, ok := s.text(2); ok {
		k.Text = text
		return Event{Kind: KeyEvent, Key: k}
	}
	return Event{Kind: KeyEvent, Key: complete(k)}
}

// complete normalizes a key that was given by code and modifiers: a capital letter
// becomes the small one, and Text is derived.
func complete(k Key) Key {
	if lower, ok := capital(k.Code); ok && k.Mods&Shift != 0 {
		k.Code, k.Shifted = lower, k.Code
	}
	if k.Action != Release {
		k.Text = typed(k)
		if k.Mods&^locks == 0 && k.Text == "" {
			k.Text = keypadText(k.Code)
		}
	}
	return k
}

// modifiers reads parameter i: modifiers plus one, and the action after a colon.
func (s sequence) modifiers(i int) (Mods, Action) {
	m := s.number(i, 0, 1) - 1
	if m < 0 || m > 255 {
		m = 0
	}
	switch s.number(i, 1, 1) {
	case 2:
		return Mods(m), Repeat
	case 3:
		return Mods(m), Release
	}
	return Mods(m), Press
}

// text reads parameter i as code points, and reports whether there were any.
func (s sequence) text(i int) (string, bool) {
	var out []rune
	for j := range 64 {
		f, ok := s.field(i, j)
		if !ok {
			break
		}
		r := rune(number(f))
		if !validText(r) {
			return "", false
		}
		out = append(out, r)
	}
	return string(out), len(out) > 0
}
