package keys

// tildeKeys are the keys of CSI n ~, as VT220, xterm, rxvt and Linux number
// them.
var tildeKeys = map[int]rune{
	1: KeyHome, 2: KeyInsert, 3: KeyDelete, 4: KeyEnd, 5: KeyPageUp, 6: KeyPageDown, 7: KeyHome, 8: KeyEnd,
	11: KeyF1, 12: KeyF2, 13: KeyF3, 14: KeyF4, 15: KeyF5,
	17: KeyF6, 18: KeyF7, 19: KeyF8, 20: KeyF9, 21: KeyF10, 23: KeyF11, 24: KeyF12,
	25: KeyF13, 26: KeyF14, 28: KeyF15, 29: KeyF16, 31: KeyF17, 32: KeyF18, 33: KeyF19, 34: KeyF20,
}

// letterKeys are the keys of CSI letter and SS3 letter.
var letterKeys = map[byte]rune{
	'A': KeyUp, 'B': KeyDown, 'C': KeyRight, 'D': KeyLeft, 'E': KeyBegin, 'F': KeyEnd, 'H': KeyHome,
	'P': KeyF1, 'Q': KeyF2, 'R': KeyF3, 'S': KeyF4,
}

// keypadKeys are the keys of SS3 letter with the keypad in application mode.
var keypadKeys = map[byte]rune{
	'p': KeyPad0, 'q': KeyPad0 + 1, 'r': KeyPad0 + 2, 's': KeyPad0 + 3, 't': KeyPad0 + 4,
	'u': KeyPad0 + 5, 'v': KeyPad0 + 6, 'w': KeyPad0 + 7, 'x': KeyPad0 + 8, 'y': KeyPad9,
	'n': KeyPadDecimal, 'o': KeyPadDivide, 'j': KeyPadMultiply, 'm': KeyPadSubtract,
	'k': KeyPadAdd, 'M': KeyPadEnter, 'X': KeyPadEqual, 'l': KeyPadSeparator,
}

// tildeKey reads CSI n ; mods ~ and rxvt's CSI n $, ^ and @. Numbers 27 and
// 200 are modifyOtherKeys and the start of a paste.
func tildeKey(s sequence) Event {
	n := s.number(0, 0, 0)
	switch {
	case n == 27 && s.final == '~' && s.number(2, 0, 0) > 0:
		return otherKey(s)
	case n == 200 && s.final == '~':
		return Event{Kind: PasteEvent, Paste: Paste{Start: true}}
	case n == 201 && s.final == '~':
		return Event{Kind: ReplyEvent} // an end without a paste: no program gets it
	}
	k := Key{Code: tildeKeys[n]}
	if k.Code == 0 {
		return Event{Kind: UnknownEvent}
	}
	k.Mods, k.Action = s.modifiers(1)
	switch s.final {
	case '$':
		k.Mods |= Shift
	case '^':
		k.Mods |= Ctrl
	case '@':
		k.Mods |= Ctrl | Shift
	}
	return Event{Kind: KeyEvent, Key: k}
}

// otherKey reads xterm's modifyOtherKeys: CSI 27 ; mods ; code ~.
func otherKey(s sequence) Event {
	k := Key{Code: rune(s.number(2, 0, 0))}
	k.Mods, k.Action = s.modifiers(1)
	if k.Code > 0x10ffff {
		return Event{Kind: UnknownEvent}
	}
	return Event{Kind: KeyEvent, Key: complete(k)}
}

// letterKey reads CSI 1 ; mods letter, CSI mods letter, CSI Z and rxvt's small
// letters.
func letterKey(s sequence) Event {
	var k Key
	switch code := letterKeys[s.final]; {
	case s.final == 'Z':
		k = Key{Code: KeyTab, Mods: Shift}
	case s.final >= 'a' && s.final <= 'd' && len(s.body) == 0:
		k = Key{Code: letterKeys[s.final-'a'+'A'], Mods: Shift}
	case code != 0:
		k = Key{Code: code}
	default:
		return Event{Kind: UnknownEvent}
	}
	at := 1
	if _, ok := s.field(1, 0); !ok {
		at = 0 // CSI 5 A: the modifiers alone
	}
	mods, action := s.modifiers(at)
	k.Mods, k.Action = k.Mods|mods, action
	return Event{Kind: KeyEvent, Key: k}
}

// linuxKey reads the Linux console's F1 to F5: CSI [ A to E.
func linuxKey(buf []byte) (Event, int) {
	if len(buf) < 4 {
		return Event{}, 0
	}
	switch c := buf[3]; {
	case c >= 'A' && c <= 'E':
		return Event{Kind: KeyEvent, Key: Key{Code: KeyF1 + rune(c-'A')}}, 4
	case c >= 0x40 && c < 0x7f:
		return Event{Kind: UnknownEvent}, 4
	}
	return Event{Kind: UnknownEvent}, 3
}

// ss3 reads SS3 mods letter.
func ss3(buf []byte) (Event, int) {
	n := 2
	for n < len(buf) && (buf[n] >= '0' && buf[n] <= '9' || buf[n] == ';') {
		n++
	}
	switch {
	case n == len(buf):
		if n <= 8 {
			return Event{}, 0
		}
		fallthrough
	case n > 8, buf[n] < 0x20, buf[n] > 0x7e:
		return Event{Kind: KeyEvent, Key: altKey(asciiKey('O'))}, 2
	}
	s := sequence{body: buf[2:n:n], final: buf[n]}
	var k Key
	switch c := s.final; {
	case letterKeys[c] != 0:
		k.Code = letterKeys[c]
	case c >= 'a' && c <= 'd':
		k = Key{Code: letterKeys[c-'a'+'A'], Mods: Ctrl}
	case keypadKeys[c] != 0:
		k.Code = keypadKeys[c]
	case c == 'I':
		k.Code = KeyTab
	default:
		return Event{Kind: UnknownEvent}, n + 1
	}
	at := 1
	if _, ok := s.field(1, 0); !ok {
		at = 0
	}
	mods, _ := s.modifiers(at)
	k.Mods |= mods
	if text := keypadText(k.Code); k.Mods == 0 {
		k.Text = text
	}
	return Event{Kind: KeyEvent, Key: k}, n + 1
}

// keypadText returns what a keypad key types with the keypad in numeric mode.
func keypadText(code rune) string {
	if code >= KeyPad0 && code <= KeyPadSeparator && code != KeyPadEnter {
		const text = "0123456789./*-+\r=,"
		return text[code-KeyPad0 : code-KeyPad0+1]
	}
	return ""
}
