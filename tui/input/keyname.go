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

// KeyName is the name a key has in the registry. The keypad's Enter is Enter. The
// Shift that makes a symbol is part of it: for Ctrl-_ some terminals send one
// byte, xterm says Ctrl and Shift with "_", and others the same with the key, "-",
// most of them beside what it makes on this person's keyboard.
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
