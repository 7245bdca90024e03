package term

import (
	"sync"
	"unicode"
)

// widthPage holds the widths of 256 consecutive code points.
type widthPage [256]uint8

// widthPages builds the width table on first use: a page for each 256 code points.
// Pages with a single width are shared.
var widthPages = sync.OnceValue(func() *[unicode.MaxRune>>8 + 1]*widthPage {
	var pages [unicode.MaxRune>>8 + 1]*widthPage
	var uniform [3]widthPage
	for w := range uniform {
		for i := range uniform[w] {
			uniform[w][i] = uint8(w)
		}
	}
	for i := range pages {
		pages[i] = &uniform[1]
	}
	set := func(lo, hi rune, w uint8) {
		for r := lo; r <= hi; {
			page := &pages[r>>8]
			if r&0xff == 0 && hi-r >= 0xff {
				*page = &uniform[w]
				r += 0x100
				continue
			}
			if *page == &uniform[0] || *page == &uniform[1] || *page == &uniform[2] {
				own := **page
				*page = &own
			}
			(*page)[r&0xff] = w
			r++
		}
	}
	for _, span := range wideRanges {
		set(span[0], span[1], 2)
	}
	for _, table := range []*unicode.RangeTable{unicode.Mn, unicode.Me, unicode.Cf} {
		for _, span := range table.R16 {
			for r := rune(span.Lo); r <= rune(span.Hi); r += rune(span.Stride) {
				set(r, r, 0)
			}
		}
		for _, span := range table.R32 {
			for r := rune(span.Lo); r <= rune(span.Hi); r += rune(span.Stride) {
				set(r, r, 0)
			}
		}
	}
	set(0x1160, 0x11ff, 0) // Hangul vowels and final consonants join the character before
	set(0x00ad, 0x00ad, 1) // the soft hyphen is drawn
	set(0x0890, 0x0891, 1) // the Arabic pound and piastre marks are drawn
	return &pages
})

// widths looks up how many columns code points take.
type widths struct {
	pages *[unicode.MaxRune>>8 + 1]*widthPage
}

func newWidths() widths { return widths{widthPages()} }

// of returns how many columns r takes by itself: 0 for marks that join the character
// before them, else 1 or 2.
func (w widths) of(r rune) int {
	if r < 0x300 || r > unicode.MaxRune {
		return 1
	}
	return int(w.pages[r>>8][r&0xff])
}
