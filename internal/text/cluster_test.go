package text

import (
	"strings"
	"testing"
	"unicode"

	"github.com/rivo/uniseg"
)

func TestCluster(t *testing.T) {
	for _, whole := range []string{
		"a", "é", "e\u0301", "ש", "שּׁ", "م", "٣", "नि", "क्", "ดี", "\u1112\u1161\u11ab", "漢", "👍", "👍🏽", "👩‍👩‍👧", "🇩🇪", "❤️", "⚠️", "1️⃣", "#️⃣", "〰️",
	} {
		if got := Cluster(whole + "x"); got != whole {
			t.Errorf("of %+q there is %+q", whole, got)
		}
	}
	if got := Cluster("ی\u200cخ"); got != "ی\u200c" {
		t.Errorf("a joiner within a word: %+q", got)
	}
	for _, escaped := range []string{
		"", "\n", "\x1b", "\u0301", " \u0301", "-\u0301", "│\u0301", "a" + strings.Repeat("\u0301", 5), "a\u200d", "a\u200cb", "ی\u200c", "ی\u200c1", "a\ufe0f", "a\u034f", "👩\u200d", "👩\u200da",
		"\u200b", "\u202e", "\u2066", "\u061c", "\u0600", "\u00a0", "\u00ad", "\u2028", "\u115f", "\u1160", "\u1161", "\U000e0041", "🏴\U000e0067\U000e007f", "\U0001f3fd", "\xff",
	} {
		if got := Cluster(escaped); got != "" {
			t.Errorf("%+q stands as it is: %+q", escaped, got)
		}
	}
}

// Whatever stands as it is shows something, moves nothing but letters, and joins only what it has.
func TestClusterOfEachCharacter(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		c := Cluster(string(r))
		if Alone(r) && c != string(r) && uniseg.StringWidth(string(r)) > 0 {
			t.Fatalf("%x does not stand alone", r)
		}
		if c != "" && (unicode.IsMark(r) || unicode.In(r, unicode.Cf, unicode.Cc, unicode.Zs, unicode.Other_Default_Ignorable_Code_Point) && r != ' ') {
			t.Fatalf("%x stands as it is", r)
		}
	}
}
