package keys

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// names are the names of keys that have no visible character.
var names = map[rune]string{
	KeyTab: "tab", KeyEnter: "enter", KeyEscape: "esc", KeySpace: "space", KeyBackspace: "backspace",
	KeyUp: "up", KeyDown: "down", KeyRight: "right", KeyLeft: "left",
	KeyHome: "home", KeyEnd: "end", KeyInsert: "insert", KeyDelete: "delete",
	KeyPageUp: "pgup", KeyPageDown: "pgdown", KeyBegin: "begin",
	KeyCapsLock: "capslock", KeyScrollLock: "scrolllock", KeyNumLock: "numlock",
	KeyPrintScreen: "printscreen", KeyPause: "pause", KeyMenu: "menu",
	KeyPadDecimal: "kpdecimal", KeyPadDivide: "kpdivide", KeyPadMultiply: "kpmultiply",
	KeyPadSubtract: "kpminus", KeyPadAdd: "kpplus", KeyPadEnter: "kpenter",
	KeyPadEqual: "kpequal", KeyPadSeparator: "kpseparator",
	KeyPadLeft: "kpleft", KeyPadRight: "kpright", KeyPadUp: "kpup", KeyPadDown: "kpdown",
	KeyPadPageUp: "kppgup", KeyPadPageDown: "kppgdown", KeyPadHome: "kphome", KeyPadEnd: "kpend",
	KeyPadInsert: "kpinsert", KeyPadDelete: "kpdelete", KeyPadBegin: "kpbegin",
}

// modNames are the modifiers' names, in the order in which String writes them.
var modNames = []struct {
	mod  Mods
	name string
}{{Ctrl, "ctrl+"}, {Alt, "alt+"}, {Shift, "shift+"}, {Super, "super+"}, {Hyper, "hyper+"}, {Meta, "meta+"}}

// String names the key for bindings: its text if that is visible ("a", "A", "é"), else
// its modifiers in a fixed order and its name ("ctrl+a", "alt+1", "shift+enter",
// "ctrl+alt+f5"). It leaves out locks and the action.
func (k Key) String() string {
	if k.Mods&^(Shift|locks) == 0 && k.Text != "" && k.Text != " " && !k.functional() {
		return k.Text
	}
	var b strings.Builder
	for _, m := range modNames {
		if k.Mods&m.mod != 0 {
			b.WriteString(m.name)
		}
	}
	b.WriteString(codeName(k.Code))
	return b.String()
}

func codeName(c rune) string {
	switch {
	case names[c] != "":
		return names[c]
	case c >= KeyF1 && c <= KeyF12:
		return "f" + strconv.Itoa(int(c-KeyF1)+1)
	case c >= KeyF13 && c <= KeyF35:
		return "f" + strconv.Itoa(int(c-KeyF13)+13)
	case c >= KeyPad0 && c <= KeyPad9:
		return "kp" + strconv.Itoa(int(c-KeyPad0))
	case c >= KeyMediaFirst && c <= KeyMediaLast:
		return "media" + strconv.Itoa(int(c-KeyMediaFirst))
	case c >= KeyModifierFirst && c <= KeyModifierLast:
		return "modifier" + strconv.Itoa(int(c-KeyModifierFirst))
	}
	return string(c)
}

// codes are the keys that have names, by name.
var codes = func() map[string]rune {
	m := map[string]rune{}
	for c := range names {
		m[names[c]] = c
	}
	for _, r := range [][2]rune{{KeyF1, KeyF12}, {KeyF13, KeyF35}, {KeyPad0, KeyPad9}, {KeyMediaFirst, KeyMediaLast}} {
		for c := r[0]; c <= r[1]; c++ {
			m[codeName(c)] = c
		}
	}
	return m
}()

// Parse returns the key with the given name, in the form of String. It ignores case in
// names of more than one letter, and the order of the modifiers. It returns false if no
// key has that name.
func Parse(name string) (Key, bool) {
	var k Key
	rest := name
	if utf8.RuneCountInString(name) > 1 {
		rest = strings.ToLower(name)
	}
	for again := true; again; {
		again = false
		for _, m := range modNames {
			after, found := strings.CutPrefix(rest, m.name)
			if found && after != "" && k.Mods&m.mod == 0 {
				rest, again = after, true
				k.Mods |= m.mod
			}
		}
	}
	if c, ok := codes[rest]; ok {
		k.Code = c
		return k, true
	}
	r, size := utf8.DecodeRuneInString(rest)
	if size != len(rest) || size == 0 || !unicode.IsGraphic(r) || r == utf8.RuneError {
		return Key{}, false
	}
	k.Code = r
	if k.Mods == 0 {
		k.Text = rest
		if lower, ok := capital(r); ok {
			k.Code, k.Mods = lower, Shift
		}
	}
	return k, k.Mods != Shift || k.Text != "" // "shift+a" is written "A"
}

var buttonNames = [...]string{
	"mouse", "mouseleft", "mousemiddle", "mouseright", "wheelup", "wheeldown",
	"wheelleft", "wheelright", "mouse8", "mouse9", "mouse10", "mouse11",
}

// String names the button with its modifiers: "mouseleft", "ctrl+wheelup".
func (m Mouse) String() string {
	var b strings.Builder
	for _, n := range modNames {
		if m.Mods&n.mod != 0 {
			b.WriteString(n.name)
		}
	}
	if int(m.Button) < len(buttonNames) {
		b.WriteString(buttonNames[m.Button])
	}
	return b.String()
}
