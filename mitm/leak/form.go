package leak

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
)

// The bounds of how many characters in a row are a part.
const (
	leastPart = 16
	mostPart  = 24
)

// Form is a text by which a secret is known.
type Form struct {
	text     string
	from, to int // the range that only those know who know the secret
	least    int // how many bytes of that range in a row count as a part
}

// Whole is a text of which no part counts.
func Whole(text string) Form { return Form{text, 0, len(text), len(text)} }

// Plain is a secret as it is.
func Plain(secret string) Form {
	from := private(secret)
	if from < 0 {
		return Whole(secret)
	}
	n := len(secret) - from
	return Form{secret, from, len(secret), min(n, max(leastPart, min(mostPart, (n+1)/2)))}
}

// private says from where on a secret is known to nobody else; -1 if no part of it
// can be told from other text.
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

// Forms are the texts in which a server could echo a secret: as it is, in lower case,
// in hex, backwards, and in base64 at each of its three alignments.
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
			// Characters that mix in bits of what stands around are left out.
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

// as is the form with another spelling of the same length.
func (f Form) as(text string) Form {
	f.text = text
	return f
}
