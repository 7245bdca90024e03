package policy

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxShown bounds a value in a trace or reason, in bytes.
const maxShown = 4096

// sanitize makes text safe to print: whatever is not plainly visible becomes
// an escape that is, and what is too long is cut with a mark.
func sanitize(s string) string {
	clean := len(s) <= maxShown
	for i := 0; clean && i < len(s); i++ {
		clean = s[i] >= 0x20 && s[i] < 0x7f
	}
	if clean {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if b.Len() > maxShown {
			b.WriteString("… (" + strconv.Itoa(len(s)) + " bytes)")
			break
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if (r == utf8.RuneError && size == 1) || !unicode.IsGraphic(r) || (unicode.IsSpace(r) && r != ' ') || unicode.Is(unicode.Cf, r) {
			quoted := strconv.QuoteToASCII(s[i : i+size])
			b.WriteString(quoted[1 : len(quoted)-1])
		} else {
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}
