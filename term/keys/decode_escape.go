package keys

import (
	"bytes"
	"unicode/utf8"
)

const (
	esc = 0x1b
	bel = 0x07
	can = 0x18
	sub = 0x1a
)

// escape reads an event that begins with ESC: a sequence, or a key with Alt.
func (d *Decoder) escape(buf []byte) (Event, int) {
	if len(buf) < 2 {
		return Event{}, 0
	}
	switch c := buf[1]; {
	case c == '[':
		return d.csi(buf)
	case c == 'O':
		return ss3(buf)
	case stringIntroducer(c):
		return stringReply(buf)
	case c == esc:
		return d.doubleEscape(buf)
	case c < utf8.RuneSelf:
		return Event{Kind: KeyEvent, Key: altKey(asciiKey(c))}, 2
	}
	if !utf8.FullRune(buf[1:]) {
		return Event{}, 0
	}
	r, n := utf8.DecodeRune(buf[1:])
	if r == utf8.RuneError && n == 1 {
		return Event{Kind: UnknownEvent}, 2
	}
	return Event{Kind: KeyEvent, Key: altKey(textKey(r))}, 1 + n
}

// doubleEscape reads ESC ESC: a key sequence with Alt in the form of rxvt and others,
// the Escape key followed by another sequence, or Alt+Escape.
func (d *Decoder) doubleEscape(buf []byte) (Event, int) {
	if len(buf) < 3 {
		return Event{}, 0
	}
	if buf[2] != '[' && buf[2] != 'O' {
		return Event{Kind: KeyEvent, Key: Key{Code: KeyEscape, Mods: Alt}}, 2
	}
	inner := Decoder{UTF8Mouse: d.UTF8Mouse}
	ev, n := inner.escape(buf[1:])
	switch {
	case n == 0:
		return Event{}, 0
	case ev.Kind == KeyEvent && inner.in == insideNothing:
		return Event{Kind: KeyEvent, Key: altKey(ev.Key)}, 1 + n
	}
	return Event{Kind: KeyEvent, Key: Key{Code: KeyEscape}}, 1
}

// stringIntroducer reports whether ESC c begins a string that ends with ST.
// SOS and PM are left out: no terminal sends them, and they are Alt+X and Alt+^.
func stringIntroducer(c byte) bool { return c == ']' || c == 'P' || c == '_' }

// stringBegins reports whether c can follow the introducer in an answer of a terminal.
// If not, a person pressed Alt+], Alt+P or Alt+_.
func stringBegins(introducer, c byte) bool {
	switch introducer {
	case ']':
		return c >= '0' && c <= '9' || c == 'l' || c == 'L' || c == 'I'
	case '_':
		return c == 'G'
	}
	return c >= '0' && c <= '9' || bytes.IndexByte([]byte("!$+>|?=<;"), c) >= 0
}

// stringReply reads an OSC, DCS or APC.
func stringReply(buf []byte) (Event, int) {
	if len(buf) < 3 {
		return Event{}, 0
	}
	if !stringBegins(buf[1], buf[2]) {
		return Event{Kind: KeyEvent, Key: altKey(asciiKey(buf[1]))}, 2
	}
	n, done := stringEnd(buf, 2)
	if !done {
		return Event{}, 0
	}
	if n > maxSequence {
		return Event{Kind: ReplyEvent}, n
	}
	body := buf[2:n]
	if i := bytes.IndexAny(body, "\x07\x18\x1a\x1b"); i >= 0 {
		body = body[:i]
	}
	return Event{Kind: ReplyEvent, Reply: readString(buf[1], body)}, n
}

// stringEnd finds the end of a string, starting at offset from: after BEL or ST, after CAN
// or SUB, or before an ESC that begins another sequence. If buf does not have the end, done
// is false and n is the length that certainly belongs to the string.
func stringEnd(buf []byte, from int) (n int, done bool) {
	for i := from; i < len(buf); i++ {
		switch buf[i] {
		case bel, can, sub:
			return i + 1, true
		case esc:
			if i+1 == len(buf) {
				return i, false
			}
			if buf[i+1] == '\\' {
				return i + 2, true
			}
			return i, true
		}
	}
	return len(buf), false
}

// asciiKey returns the key for one byte below 0x80 in the legacy encoding.
func asciiKey(c byte) Key {
	switch {
	case c == '\t', c == '\r', c == esc, c == 0x7f:
		return Key{Code: rune(c)}
	case c == 0:
		return Key{Code: KeySpace, Mods: Ctrl}
	case c <= 0x1a:
		return Key{Code: rune(c) + 'a' - 1, Mods: Ctrl}
	case c < 0x20:
		return Key{Code: rune(c) + '@', Mods: Ctrl}
	}
	return textKey(rune(c))
}

// textKey returns the key that types r: for a capital letter the small one with Shift.
// For other characters it returns r itself, because the keyboard layout is not known.
func textKey(r rune) Key {
	if lower, ok := capital(r); ok {
		return Key{Code: lower, Mods: Shift, Shifted: r, Text: string(r)}
	}
	return Key{Code: r, Text: asciiText(r)}
}

// altKey returns k with Alt held. With Alt a key types no text.
func altKey(k Key) Key {
	k.Mods |= Alt
	k.Text = ""
	return k
}
