package leak

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
)

// The least and the most characters in a row that are a part.
const (
	leastPart = 16
	mostPart  = 24
)

// Form is one encoding of a secret.
type Form struct {
	text     string
	from, to int // the range that is secret
	least    int // how many bytes of that range in a row count as a part
}

// Whole returns a form that only counts as a whole.
func Whole(text string) Form { return Form{text, 0, len(text), len(text)} }

// Plain returns the form of an unencoded secret.
func Plain(secret string) Form {
	from := private(secret)
	if from < 0 {
		return Whole(secret)
	}
	n := len(secret) - from
	return Form{secret, from, len(secret), min(n, max(leastPart, min(mostPart, (n+1)/2)))}
}

// private returns where the part of a text begins that others cannot know, or -1 if the
// text only counts as a whole.
func private(secret string) int {
	if strings.HasPrefix(secret, "eyJ") && strings.Count(secret, ".") == 2 { // {" in base64
		if signature := strings.LastIndexByte(secret, '.') + 1; len(secret)-signature >= leastPart {
			return signature
		}
		return -1
	}
	if strings.HasPrefix(secret, "/") || strings.HasPrefix(secret, "~/") || strings.Contains(secret, "://") || strings.ContainsAny(secret, " \t\r\n") {
		return -1
	}
	return 0
}

// Forms returns the encodings in which a server could echo a secret: unchanged, in lower
// case, in hex, reversed, and in base64 at each of its three alignments.
func Forms(secret string) []Form {
	p := Plain(secret)
	whole := p.least == len(secret)
	all := []Form{p, p.as(strings.ToLower(secret))}
	digits := Form{hex.EncodeToString([]byte(secret)), 2 * p.from, 2 * p.to, 2 * p.least}
	all = append(all, digits, digits.as(strings.ToUpper(digits.text)))
	backwards := []byte(secret)
	slices.Reverse(backwards)
	all = append(all, Form{string(backwards), 0, p.to - p.from, p.least})
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for align := range 3 {
			// Leave out characters that contain bits of the surrounding text.
			text, cut := enc.EncodeToString([]byte(strings.Repeat("\x00", align)+secret)), []int{0, 2, 3}[align]
			text = text[cut : len(text)-1]
			f := Form{text, (8*(p.from+align)+5)/6 - cut, len(text), (8*p.least - 4) / 6}
			if whole {
				f = Whole(text)
			}
			all = append(all, f)
		}
	}
	slices.SortStableFunc(all, func(a, b Form) int { return strings.Compare(a.text, b.text) })
	return slices.CompactFunc(all, func(a, b Form) bool { return a.text == b.text })
}

// as returns the form with another text of the same length.
func (f Form) as(text string) Form {
	f.text = text
	return f
}
