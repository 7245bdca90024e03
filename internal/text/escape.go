package text

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ASCII returns s in printable ASCII: every other character and the backslash become an
// escape as in Go, such as \n, \x1b or \u202e. Different strings have different results.
func ASCII(s string) string {
	out, _ := escape(s, math.MaxInt, func(r rune) bool { return r >= ' ' && r <= '~' && r != '\\' })
	return out
}

// Readable returns s with an escape for every invisible character; letters of all scripts
// stay. It cuts a result of more than limit bytes and adds the length of s.
func Readable(s string, limit int) string {
	out, whole := escape(s, limit, visible)
	if !whole {
		out += "… (" + strconv.Itoa(len(s)) + " bytes)"
	}
	return out
}

func visible(r rune) bool {
	return unicode.IsGraphic(r) && (r == ' ' || !unicode.IsSpace(r)) && !unicode.Is(unicode.Cf, r)
}

// escape returns s with an escape for each character that does not stay and for each
// byte that is not UTF-8. It stops when the result is longer than limit bytes, and
// reports whether it is whole.
func escape(s string, limit int, stays func(rune) bool) (out string, whole bool) {
	var b strings.Builder
	b.Grow(min(len(s), limit))
	for i := 0; i < len(s); {
		if b.Len() > limit {
			return b.String(), false
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if (r != utf8.RuneError || size != 1) && stays(r) {
			b.WriteString(s[i : i+size])
		} else {
			q := strconv.QuoteToASCII(s[i : i+size])
			b.WriteString(q[1 : len(q)-1])
		}
		i += size
	}
	return b.String(), true
}
