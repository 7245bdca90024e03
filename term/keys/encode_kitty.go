package keys

import (
	"strconv"
	"unicode/utf8"
)

// appendKitty writes a key in the kitty keyboard protocol with the flags that the
// program has set.
func appendKitty(dst []byte, k Key, m Modes) []byte {
	f := m.Kitty
	switch {
	case k.Action == Release && f&KittyEventTypes == 0:
		return dst
	case k.IsModifier() && f&KittyAllKeys == 0:
		return dst
	case k.Action != Release && k.Text != "" && f&KittyAllKeys == 0 && k.Mods&^(Shift|locks) == 0:
		return append(dst, k.Text...)
	case f&KittyDisambiguate == 0 && k.Code >= KeyPad0 && k.Code <= KeyPadBegin:
		k = plainKey(k)
	}
	mods := k.Mods
	if f&KittyAllKeys == 0 && !k.functional() {
		mods &^= locks
	}
	if f&KittyAllKeys == 0 {
		switch k.Code {
		case KeyEnter, KeyTab, KeyBackspace:
			if k.Action == Release {
				return dst
			}
			if mods&^locks == 0 {
				return appendLegacy(dst, Key{Code: k.Code}, m)
			}
		}
	}
	if f&(KittyDisambiguate|KittyEventTypes|KittyAllKeys) == 0 {
		k.Mods &^= locks
		return appendLegacy(dst, k, m)
	}
	if k.Code == KeyEscape && mods == 0 && f&(KittyDisambiguate|KittyAllKeys) == 0 && k.Action == Press {
		return append(dst, esc)
	}
	letter, number := functionForm(k.Code)
	switch {
	case k.Code == KeyF3:
		letter, number = '~', 13 // CSI R is the cursor report
	case letter == 0:
		letter, number = 'u', int(k.Code)
	}
	return appendCSI(dst, k, mods, letter, number, f)
}

// appendCSI writes CSI number:shifted:base ; mods:action ; text letter. It leaves out
// parts that the key does not have or the program did not ask for.
func appendCSI(dst []byte, k Key, mods Mods, letter byte, number int, f uint8) []byte {
	action := Press
	if f&KittyEventTypes != 0 {
		action = k.Action
	}
	text := ""
	if f&(KittyText|KittyAllKeys) == KittyText|KittyAllKeys && k.Action != Release {
		text = k.Text
	}
	var shifted, base rune
	if f&KittyAlternateKeys != 0 && letter == 'u' {
		if k.Mods&Shift != 0 {
			shifted = k.Shifted
		}
		base = k.Base
	}
	dst = append(dst, "\x1b["...)
	if number != 1 || mods != 0 || action != Press || text != "" {
		dst = strconv.AppendInt(dst, int64(number), 10)
	}
	if shifted != 0 || base != 0 {
		dst = append(dst, ':')
		if shifted != 0 {
			dst = strconv.AppendInt(dst, int64(shifted), 10)
		}
	}
	if base != 0 {
		dst = append(dst, ':')
		dst = strconv.AppendInt(dst, int64(base), 10)
	}
	if mods != 0 || action != Press || text != "" {
		dst = append(dst, ';')
	}
	if mods != 0 || action != Press {
		dst = strconv.AppendInt(dst, int64(mods)+1, 10)
	}
	if action != Press {
		dst = append(dst, ':', '1'+byte(action))
	}
	return append(appendCodePoints(dst, text), letter)
}

// appendCodePoints writes ; and the code points of text. For empty text it writes
// nothing.
func appendCodePoints(dst []byte, text string) []byte {
	for i, r := range text {
		if i == 0 {
			dst = append(dst, ';')
		} else {
			dst = append(dst, ':')
		}
		if r != utf8.RuneError {
			dst = strconv.AppendInt(dst, int64(r), 10)
		}
	}
	return dst
}
