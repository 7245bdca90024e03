package preview

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// latinTwins maps letters of other scripts, and variants of Latin letters, to the Latin letters or
// digits that they look like: the characters of Unicode's list of confusables that a domain name can
// contain.
var latinTwins = map[rune]string{
	// Cyrillic
	'а': "a", 'ӓ': "a", 'ә': "e", 'б': "6", 'в': "b", 'ь': "b", 'ъ': "b", 'с': "c", 'ԁ': "d", 'е': "e", 'ё': "e", 'є': "e", 'ѐ': "e",
	'ғ': "f", 'г': "r", 'ԍ': "g", 'һ': "h", 'ћ': "h", 'ђ': "h", 'н': "h", 'і': "i", 'ї': "i", 'ј': "j", 'к': "k", 'қ': "k", 'ҝ': "k",
	'ӏ': "l", 'ⅼ': "l", 'м': "m", 'п': "n", 'ո': "n", 'о': "o", 'ӧ': "o", 'ө': "o", 'р': "p", 'ԛ': "q", 'ѕ': "s", 'т': "t", 'у': "y",
	'ў': "y", 'ү': "y", 'ұ': "y", 'ѵ': "v", 'ѡ': "w", 'ԝ': "w", 'ш': "w", 'х': "x", 'ҳ': "x", 'з': "3", 'ӡ': "3", 'ч': "4", 'ц': "u",
	// Greek
	'α': "a", 'ά': "a", 'β': "b", 'ϲ': "c", 'ε': "e", 'έ': "e", 'γ': "y", 'η': "n", 'ή': "n", 'ι': "i", 'ί': "i", 'ϳ': "j", 'κ': "k",
	'ν': "v", 'ο': "o", 'ό': "o", 'ρ': "p", 'σ': "o", 'τ': "t", 'υ': "u", 'ύ': "u", 'χ': "x", 'ω': "w", 'ώ': "w", 'μ': "u",
	// Armenian, Georgian, Hebrew, Cherokee, Lisu and others
	'ա': "w", 'գ': "q", 'զ': "q", 'հ': "h", 'յ': "j", 'ռ': "n", 'ս': "u", 'ց': "g", 'օ': "o", 'ք': "p", 'ყ': "y", 'ჿ': "o",
	'ס': "o", 'ו': "l", 'ן': "l", 'ه': "o", 'ة': "o", '०': "o", '০': "o", '੦': "o", '૦': "o", '౦': "o", '೦': "o", '൦': "o", 'ం': "o",
	'ഠ': "o", 'ဝ': "o", '၀': "o", 'ꮯ': "c", 'ꭺ': "a", 'ꮪ': "s", 'ꮃ': "w", 'ꮲ': "p",
	// variants of Latin letters
	'ɑ': "a", 'ƅ': "b", 'ɓ': "b", 'ƈ': "c", 'ɗ': "d", 'đ': "d", 'ɖ': "d", 'ɛ': "e", 'ǝ': "e", 'ƒ': "f", 'ɡ': "g", 'ɠ': "g", 'ħ': "h",
	'ɦ': "h", 'ı': "i", 'ɩ': "i", 'ɪ': "i", 'ʝ': "j", 'ȷ': "j", 'ƙ': "k", 'ĸ': "k", 'ł': "l", 'ɫ': "l", 'ǀ': "l", 'ɱ': "m", 'ɲ': "n",
	'ŋ': "n", 'ɳ': "n", 'ø': "o", 'ɵ': "o", 'ɔ': "c", 'ƥ': "p", 'þ': "p", 'ɋ': "q", 'ɼ': "r", 'ɾ': "r", 'ʂ': "s", 'ƨ': "2", 'ŧ': "t",
	'ƭ': "t", 'ʋ': "v", 'ʉ': "u", 'ɯ': "w", 'ɰ': "w", 'ƴ': "y", 'ʏ': "y", 'ƶ': "z", 'ȥ': "z", 'ʐ': "z", 'æ': "ae", 'œ': "oe", 'ß': "b",
	'ĳ': "ij", 'ǆ': "dz",
}

// ToLatin replaces every letter that looks like a Latin one by that, and removes accents.
func ToLatin(s string) string {
	var b strings.Builder
	for _, r := range norm.NFD.String(strings.ToLower(s)) {
		switch twin := latinTwins[r]; {
		case unicode.Is(unicode.Mn, r):
		case twin != "":
			b.WriteString(twin)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// skeleton returns the same text for names that look alike: in Latin letters, without digits and groups
// of letters that look like one letter.
func skeleton(s string) string {
	s = strings.NewReplacer("rn", "m", "vv", "w", "cl", "d", "0", "o", "1", "l", "i", "l", "5", "s", "8", "b").Replace(ToLatin(s))
	return s
}

// scriptsOf lists the scripts of a text's letters.
func scriptsOf(s string) []string {
	var out []string
	for _, r := range s {
		if !unicode.IsLetter(r) {
			continue
		}
		name := scriptOf(r)
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	if joined := strings.Join(out, " "); joined == "Han Hiragana" || joined == "Han Katakana" || joined == "Han Hiragana Katakana" || joined == "Hiragana Katakana" {
		return []string{"Japanese"}
	}
	return out
}

func scriptOf(r rune) string {
	best := "unknown"
	for name, table := range unicode.Scripts {
		if unicode.Is(table, r) && (best == "unknown" || name < best) {
			best = name
		}
	}
	return best
}
