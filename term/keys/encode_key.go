package keys

import (
	"strconv"
	"unicode"
	"unicode/utf8"
)

// Flags of the kitty keyboard protocol, as in Modes.Kitty.
const (
	KittyDisambiguate  uint8 = 1 << iota // keys that type nothing are unambiguous
	KittyEventTypes                      // repeats and releases are reported
	KittyAlternateKeys                   // the shifted key and the US layout's key
	KittyAllKeys                         // every key is an escape sequence
	KittyText                            // together with the text that it types
)

// appendKey writes a key in the encoding that the program chose.
func appendKey(dst []byte, ev Event, m Modes) []byte {
	k := ev.Key
	switch {
	case m.Kitty != 0:
		return appendKitty(dst, k, m)
	case k.Action == Release:
		return dst
	case k.Code >= KeyPad0 && k.Code <= KeyPadBegin:
		if m.ApplicationKeypad && k.Mods&^NumLock == 0 && k.Code <= KeyPadSeparator {
			return append(dst, "\x1bO"+string(keypadLetters[k.Code-KeyPad0])...)
		}
		k = plainKey(k)
	}
	k.Mods &^= locks
	if extended(k, m) {
		return appendOther(dst, k)
	}
	if vt220(ev) {
		return append(dst, ev.Raw...)
	}
	return appendLegacy(dst, k, m)
}

// keypadLetters are the SS3 letters of KeyPad0 to KeyPadSeparator.
const keypadLetters = "pqrstuvwxynojmkMXl"

// plainPad are the main keyboard's keys for KeyPadLeft to KeyPadBegin.
var plainPad = [...]rune{
	KeyLeft, KeyRight, KeyUp, KeyDown, KeyPageUp, KeyPageDown, KeyHome, KeyEnd, KeyInsert, KeyDelete, KeyBegin,
}

// plainKey returns the key of the main keyboard with the same meaning as a keypad key.
func plainKey(k Key) Key {
	switch {
	case k.Code == KeyPadEnter:
		k.Code = KeyEnter
	case k.Code >= KeyPadLeft && k.Code <= KeyPadBegin:
		k.Code = plainPad[k.Code-KeyPadLeft]
	case keypadText(k.Code) != "":
		text := keypadText(k.Code)
		k.Code = rune(text[0])
		if k.Mods&^(Shift|locks) == 0 {
			k.Text = text
		}
	}
	return k
}

// vt220 reports whether ev is one of F13 to F20 in the VT220 form. xterm sends this form
// for the real keys, and programs understand it as well as Shift with F1 to F12.
func vt220(ev Event) bool {
	k := ev.Key
	return k.Code >= KeyF13 && k.Code <= KeyF20 && k.Mods == 0 && len(ev.Raw) == 5 && ev.Raw[4] == '~'
}

// appendLegacy writes a key as xterm does when a program has set no keyboard mode.
func appendLegacy(dst []byte, k Key, m Modes) []byte {
	if k.Code >= KeyF13 && k.Code <= KeyF24 { // terminfo's kf13 to kf24
		k.Code, k.Mods = k.Code-KeyF13+KeyF1, k.Mods|Shift
	}
	if letter, number := functionForm(k.Code); letter != 0 {
		return appendFunction(dst, k, letter, number, m)
	}
	if k.Mods&(Super|Hyper|Meta) != 0 {
		return dst // there is no legacy form, and without the modifier it would be another key
	}
	if k.Mods&Alt != 0 && (!k.functional() || k.Code < utf8.RuneSelf) {
		dst = append(dst, esc)
	}
	switch k.Code {
	case KeyEnter:
		if m.Newline && k.Mods&Alt == 0 {
			return append(dst, "\r\n"...)
		}
		return append(dst, '\r')
	case KeyTab:
		if k.Mods&Shift != 0 {
			return append(dst, "\x1b[Z"...)
		}
		return append(dst, '\t')
	case KeyEscape:
		return append(dst, esc)
	case KeyBackspace:
		if m.BackarrowDelete == (k.Mods&Ctrl != 0) {
			return append(dst, '\b')
		}
		return append(dst, 0x7f)
	case KeyMenu:
		return append(dst, "\x1b[29~"...)
	}
	if k.functional() {
		return dst
	}
	if k.Mods&Ctrl != 0 {
		return appendControl(dst, k)
	}
	return append(dst, legacyText(k)...)
}

// legacyText returns what a key types, ignoring Alt.
func legacyText(k Key) string {
	if k.Text != "" {
		return k.Text
	}
	k.Mods &= Shift
	return typed(k)
}

// appendControl writes a key with Ctrl: its control character if it has one, else the
// key without Ctrl, as terminals have always done.
func appendControl(dst []byte, k Key) []byte {
	candidates := [...]rune{k.Code, k.Shifted, k.Base}
	if k.Mods&Shift != 0 && k.Shifted != 0 {
		candidates[0], candidates[1] = k.Shifted, k.Code
	}
	for _, c := range candidates {
		if c0, ok := control(c); ok {
			return append(dst, c0)
		}
	}
	k.Text = ""
	return append(dst, legacyText(k)...)
}

// control returns the control character of Ctrl with c.
func control(c rune) (byte, bool) {
	switch {
	case c >= 'a' && c <= 'z':
		return byte(c - 'a' + 1), true
	case c >= '@' && c <= '_':
		return byte(c - '@'), true
	case c == ' ', c == '2':
		return 0, true
	case c >= '3' && c <= '7':
		return byte(c-'3') + 0x1b, true
	case c == '8', c == '?':
		return 0x7f, true
	case c == '/', c == '-':
		return 0x1f, true
	case c == '~':
		return 0x1e, true
	}
	return 0, false
}

// functionForm returns how a function key is written: a letter with number 1, or ~ with
// the key's number. letter is 0 for all other keys.
func functionForm(code rune) (letter byte, number int) {
	switch code {
	case KeyUp:
		return 'A', 1
	case KeyDown:
		return 'B', 1
	case KeyRight:
		return 'C', 1
	case KeyLeft:
		return 'D', 1
	case KeyBegin:
		return 'E', 1
	case KeyEnd:
		return 'F', 1
	case KeyHome:
		return 'H', 1
	case KeyF1, KeyF2, KeyF3, KeyF4:
		return "PQRS"[code-KeyF1], 1
	case KeyInsert:
		return '~', 2
	case KeyDelete:
		return '~', 3
	case KeyPageUp:
		return '~', 5
	case KeyPageDown:
		return '~', 6
	}
	if code >= KeyF5 && code <= KeyF12 {
		return '~', int([]byte{15, 17, 18, 19, 20, 21, 23, 24}[code-KeyF5])
	}
	return 0, 0
}

// appendFunction writes CSI number ; mods letter. Without modifiers it writes the short
// forms: SS3 for F1 to F4 and, in application mode, for the cursor keys.
func appendFunction(dst []byte, k Key, letter byte, number int, m Modes) []byte {
	switch {
	case k.Mods != 0:
		dst = append(dst, "\x1b["...)
		dst = strconv.AppendInt(dst, int64(number), 10)
		dst = append(dst, ';')
		dst = strconv.AppendInt(dst, int64(k.Mods)+1, 10)
	case letter == '~':
		dst = append(dst, "\x1b["...)
		dst = strconv.AppendInt(dst, int64(number), 10)
	case letter >= 'P' || m.ApplicationCursor:
		dst = append(dst, "\x1bO"...)
	default:
		dst = append(dst, "\x1b["...)
	}
	return append(dst, letter)
}

// extended reports whether xterm, at the program's level of modifyOtherKeys, writes the
// key as CSI 27. k must not contain locks.
func extended(k Key, m Modes) bool {
	if m.ModifyOtherKeys == 0 || k.Mods == 0 || k.functional() && k.Code >= utf8.RuneSelf {
		return false
	}
	switch k.Code {
	case KeyTab:
		return k.Mods != Shift
	case KeyEnter:
		return true
	case KeyBackspace:
		return m.ModifyOtherKeys >= 2 && k.Mods&^Ctrl != 0
	case KeyEscape:
		return true
	}
	if m.ModifyOtherKeys >= 2 {
		return k.Mods != Shift || k.Code == KeySpace
	}
	if k.Mods&Ctrl == 0 {
		return k.Mods&^(Shift|Alt) != 0
	}
	_, c0 := control(unicode.ToLower(k.Code))
	return !c0 || k.Mods&^(Ctrl|Shift|Alt) != 0
}

// appendOther writes a key in the form of modifyOtherKeys: CSI 27 ; mods ; code ~.
func appendOther(dst []byte, k Key) []byte {
	code := k.Code
	switch {
	case k.Mods&Shift != 0 && k.Shifted != 0:
		code = k.Shifted
	case k.Mods&Shift != 0 && k.Code < utf8.RuneSelf:
		code = unicode.ToUpper(code)
	}
	dst = append(dst, "\x1b[27;"...)
	dst = strconv.AppendInt(dst, int64(k.Mods)+1, 10)
	dst = append(dst, ';')
	dst = strconv.AppendInt(dst, int64(code), 10)
	return append(dst, '~')
}
