package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"golang.org/x/text/unicode/bidi"
)

// maxMarks is how many marks a letter may have. More would be drawn over neighboring lines.
const maxMarks = 4

// Cluster returns the first character of s as a reader sees it, such as a letter with its marks or an
// emoji of several parts, if prose may contain it unchanged: it is visible, and hides nothing except
// what joins its parts. Otherwise Cluster returns "".
//
// Letters of right-to-left scripts are allowed: a terminal that knows the bidirectional algorithm may
// move them, but not beyond their line.
func Cluster(s string) string {
	if len(s) > 0 && s[0] < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf) {
		if Alone(rune(s[0])) {
			return s[:1]
		}
		return ""
	}
	c, _, width, _ := uniseg.FirstGraphemeClusterInString(s, -1)
	first, size := utf8.DecodeRuneInString(c)
	if first == utf8.RuneError && size == 1 || width < 1 || width > 2 || !begins(first) {
		return ""
	}
	var next rune // the letter that follows
	if r, _ := utf8.DecodeRuneInString(s[len(c):]); unicode.IsLetter(r) {
		next = r
	}
	parts := []rune(c[size:])
	marks := 0
	for i, r := range parts {
		after := next
		if i+1 < len(parts) {
			after = parts[i+1]
		}
		if unicode.IsMark(r) {
			marks++
		}
		if marks > maxMarks || !continues(first, r, after) {
			return ""
		}
	}
	return c
}

// begins reports whether a cluster may begin with r.
func begins(r rune) bool {
	if Alone(r) {
		return true
	}
	if r < utf8.RuneSelf || !unicode.IsPrint(r) || unicode.IsMark(r) || blank(r) {
		return false
	}
	p, _ := bidi.LookupRune(r)
	switch p.Class() {
	case bidi.R, bidi.AL, bidi.AN:
		return true
	default:
		return jamo(r) && r < 0x115f || r >= 0x1f1e6 && r <= 0x1f1ff // a part of a syllable, half a flag
	}
}

// continues reports whether a cluster that begins with first may contain r, followed by after.
func continues(first, r, after rune) bool {
	switch {
	case r == 0xfe0e, r == 0xfe0f: // variation selectors: show the previous character as text or as a picture
		return pictured(first)
	case r == 0x200d && pictured(first):
		return unicode.IsSymbol(after)
	case r == 0x200c, r == 0x200d: // separate or join letters of cursive scripts
		return first >= 0x600 && first < 0x1100 && unicode.IsLetter(first) && unicode.IsLetter(after)
	case unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
		return false
	case r == 0x20e3: // draws a key around a digit
		return pictured(first)
	case unicode.IsMark(r):
		return unicode.IsLetter(first) || unicode.IsDigit(first) && first >= utf8.RuneSelf
	}
	return unicode.IsSymbol(r) && pictured(first) || jamo(r) // skin tones are symbols, too
}

// pictured reports whether a character can be an emoji or a part of one.
func pictured(r rune) bool {
	return r >= utf8.RuneSelf && unicode.IsSymbol(r) || strings.ContainsRune("0123456789#*‼⁉ℹ〰〽", r)
}

// jamo reports whether r is a part of a Korean syllable.
func jamo(r rune) bool { return r >= 0x1100 && r <= 0x11ff && r != 0x115f && r != 0x1160 }
