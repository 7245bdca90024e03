package text

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"golang.org/x/text/unicode/bidi"
	"golang.org/x/text/unicode/norm"
)

// VisibleSpace replaces a space that a person could not see or count: at either end of a text,
// in a run of spaces, or at the end of a drawn row.
const VisibleSpace = '·'

// Drawable makes any string of bytes safe to draw and impossible to misread.
// Every rune of the result takes one or two columns by itself. None moves the
// cursor, joins its neighbor, changes the direction of writing or is
// invisible. Other characters become an escape: \n \r \t \e, \u{20ac} for
// a code point, \xff for a byte that is not UTF-8, \\ for the backslash.
//
// The mapping is injective: the drawn text can be turned back into the exact
// bytes, as the tests do, so two different strings never look the same.
func Drawable(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		if c := s[i]; c > ' ' && c < 0x7f && c != '\\' {
			b.WriteByte(c)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == ' ':
			if lonelySpace(s, i) {
				b.WriteRune(' ')
			} else {
				b.WriteRune(VisibleSpace)
			}
		case plain(r):
			b.WriteRune(r)
		default:
			b.WriteString(escapeRune(r))
		}
		i += size
	}
	return b.String()
}

// lonelySpace reports whether the space at i is between two other characters, where it can
// be seen.
func lonelySpace(s string, i int) bool {
	return i > 0 && i+1 < len(s) && s[i-1] != ' ' && s[i+1] != ' '
}

// escapeRune returns the escape of a rune.
func escapeRune(r rune) string {
	switch r {
	case '\\':
		return `\\`
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	case 0x1b:
		return `\e`
	}
	return `\u{` + strconv.FormatInt(int64(r), 16) + `}`
}

// plain reports whether r may be drawn as itself.
func plain(r rune) bool {
	return r != '\\' && r != VisibleSpace && Alone(r) && (r < utf8.RuneSelf || standsForItself(r))
}

// Alone reports whether r, drawn as itself, is visible, takes one or two columns and moves
// nothing beside it. Other characters may look the same, as is usual in prose.
func Alone(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= ' ' && r != 0x7f
	}
	return unicode.IsPrint(r) && !unicode.IsMark(r) && !joins(r) && !blank(r) && !rightToLeft(r)
}

// joins reports whether r can form one cluster with its neighbors: conjoining jamo, flags
// of two letters, skin tones, prepended signs.
func joins(r rune) bool {
	switch {
	case r >= 0x1100 && r <= 0x11ff, r >= 0xa960 && r <= 0xa97f, r >= 0xd7b0 && r <= 0xd7ff,
		r >= 0x1f1e6 && r <= 0x1f1ff, r >= 0x1f3fb && r <= 0x1f3ff:
		return true
	}
	// r must be a cluster of its own between two letters. This is tried, because the tables of
	// Unicode versions differ.
	s := "a" + string(r) + "a"
	return uniseg.GraphemeClusterCount(s) != 3
}

// blank reports whether r counts as printable but is invisible.
func blank(r rune) bool {
	switch r {
	case 0x115f, 0x1160, 0x2800, 0x3164, 0xffa0, 0x1d159, 0xfffc:
		return true
	}
	w := uniseg.StringWidth(string(r))
	return w < 1 || w > 2
}

// rightToLeft reports whether a terminal that knows the bidirectional
// algorithm could move r, or its neighbors because of it.
func rightToLeft(r rune) bool {
	p, size := bidi.LookupRune(r)
	if size == 0 {
		return true
	}
	switch p.Class() {
	case bidi.R, bidi.AL, bidi.AN, bidi.LRE, bidi.RLE, bidi.LRO, bidi.RLO, bidi.PDF,
		bidi.LRI, bidi.RLI, bidi.FSI, bidi.PDI, bidi.BN, bidi.NSM:
		return true
	default:
		return false
	}
}

// standsForItself reports whether r is not merely another form of other
// characters, such as a full-width slash or a mathematical letter.
func standsForItself(r rune) bool {
	s := string(r)
	return norm.NFKC.String(s) == s
}
