package input

import (
	"strings"
	"unicode"

	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
)

// plainSymbols are the keys of a US keyboard that make, with Shift, the
// shiftedSymbols in the same order.
const (
	plainSymbols   = "`1234567890-=[]\\;',./"
	shiftedSymbols = "~!@#$%^&*()_+{}|:\"<>?"
)

// KeyName returns the name of a key in the table of bindings. The keypad's Enter is named
// Enter. A Shift that makes a symbol is not named; the symbol is. Terminals report such
// keys differently: for Ctrl-_ some send one byte, xterm reports Ctrl and Shift with "_",
// and others report Ctrl and Shift with the key "-", mostly together with the symbol that
// the key makes on this person's keyboard.
func KeyName(k keys.Key) string {
	if k.Mods&(keys.Ctrl|keys.Alt) != 0 && k.Mods&keys.Shift != 0 {
		symbol := k.Code
		if i := strings.IndexRune(plainSymbols, k.Code); k.Shifted != 0 {
			symbol = k.Shifted
		} else if i >= 0 {
			symbol = rune(shiftedSymbols[i])
		}
		if symbol != k.Code && !unicode.IsLetter(symbol) || strings.ContainsRune(shiftedSymbols, symbol) {
			k.Code, k.Mods = symbol, k.Mods&^keys.Shift
		}
	}
	return strings.Replace(k.String(), "kpenter", "enter", 1)
}

// DisplayKey writes a key's name the way people do: "Ctrl-A", "Alt-1".
func DisplayKey(name string) string {
	if name == "space" {
		return "Space"
	}
	parts := strings.Split(name, "+")
	if name == "+" || strings.HasSuffix(name, "++") {
		parts = append(strings.Split(strings.TrimSuffix(name, "+"), "+")[:strings.Count(name, "+")-1], "+")
	}
	for i, p := range parts {
		switch {
		case i < len(parts)-1:
			parts[i] = strings.ToUpper(p[:1]) + p[1:]
		case p == "pgup":
			parts[i] = "PgUp"
		case p == "pgdown":
			parts[i] = "PgDn"
		case len(p) > 1:
			parts[i] = strings.ToUpper(p[:1]) + p[1:]
		case len(parts) > 1:
			parts[i] = strings.ToUpper(p)
		}
	}
	switch shown := strings.Join(parts, "-"); shown {
	case "Left":
		return "←"
	case "Right":
		return "→"
	case "Up":
		return "↑"
	case "Down":
		return "↓"
	default:
		return shown
	}
}
