package leak

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
)

// MinSecret is the length of the shortest text that can be looked for.
const MinSecret = 6

// Run is a stretch of text that is a part of a form, or the whole.
type Run struct {
	From, To int // in bytes
	Form     int // the number of the form
	apart    int // how far the form's beginning is behind the text's
}

// Finder looks for forms. It is fixed after it is made and safe for concurrent use.
//
// Every part of a form holds one of its anchors, which are all equally long and so
// close to each other that this is so. They are looked for as Wu and Manber do: by the
// two bytes at the end of the window it is known how far the window may jump.
type Finder struct {
	forms   []Form
	texts   string // all of them, each with a zero byte behind it
	chars   [256]bool
	window  int // the length of an anchor
	shift   [1 << 16]uint8
	anchors map[uint32][]anchor // by their first four bytes
	longest int
}

// anchor is a piece of a form, with the window's length.
type anchor struct{ form, at int }

// NewFinder makes a finder. Forms shorter than MinSecret are not looked for.
func NewFinder(forms []Form) *Finder {
	f := &Finder{window: mostPart, anchors: make(map[uint32][]anchor)}
	for _, form := range forms {
		if len(form.text) < MinSecret {
			form.text = ""
		}
		f.forms = append(f.forms, form)
		if form.text == "" {
			continue
		}
		f.texts += form.text + "\x00"
		f.longest = max(f.longest, len(form.text))
		f.window = min(f.window, windowOf(form.least))
		for _, c := range []byte(form.text) {
			f.chars[c] = true
		}
	}
	for i := range f.shift {
		f.shift[i] = uint8(f.window - 1)
	}
	for i, form := range f.forms {
		if form.text != "" {
			f.anchor(i, form)
		}
	}
	return f
}

// windowOf is a length of anchors that suits a form: long ones let the search jump
// far, short ones need not be many.
func windowOf(least int) int {
	if least < leastPart {
		return least
	}
	return 2 * least / 3
}

// anchor adds the anchors of a form.
func (f *Finder) anchor(number int, form Form) {
	for at := form.from; at+f.window <= form.to; at += form.least - f.window + 1 {
		text := form.text[at : at+f.window]
		head := binary.LittleEndian.Uint32([]byte(text))
		f.anchors[head] = append(f.anchors[head], anchor{number, at})
		for i := range f.window - 1 {
			pair := uint16(text[i])<<8 | uint16(text[i+1])
			f.shift[pair] = min(f.shift[pair], uint8(f.window-2-i))
		}
	}
}

// Empty says whether there is nothing to look for.
func (f *Finder) Empty() bool { return f.longest == 0 }

// Short says whether a text of n bytes holds nothing for sure.
func (f *Finder) Short(n int) bool { return n < f.window || f.Empty() }

// Runs appends to runs all stretches of text that are a part of a form, as long as
// they go. They may overlap.
func (f *Finder) Runs(text []byte, runs []Run) []Run {
	if f.Short(len(text)) {
		return runs
	}
	before := len(runs)
	for i := f.window - 2; i+1 < len(text); {
		if skip := f.shift[uint16(text[i])<<8|uint16(text[i+1])]; skip > 0 {
			i += int(skip)
			continue
		}
		start := i - (f.window - 2)
		for _, a := range f.anchors[binary.LittleEndian.Uint32(text[start:])] {
			runs = f.extend(text, start, a, runs, before)
		}
		i++
	}
	return runs
}

// extend appends the run around an anchor that may stand at start. The runs from
// before on are of the same text.
func (f *Finder) extend(text []byte, start int, a anchor, runs []Run, before int) []Run {
	form := &f.forms[a.form]
	if string(text[start:start+f.window]) != form.text[a.at:a.at+f.window] {
		return runs
	}
	for i := len(runs) - 1; i >= before && i >= len(runs)-8; i-- { // a run has many anchors
		if known := &runs[i]; known.Form == a.form && known.apart == start-a.at && start < known.To {
			return runs
		}
	}
	from, at := start, a.at
	for from > 0 && at > 0 && text[from-1] == form.text[at-1] {
		from, at = from-1, at-1
	}
	to, end := start+f.window, a.at+f.window
	for to < len(text) && end < len(form.text) && text[to] == form.text[end] {
		to, end = to+1, end+1
	}
	if min(end, form.to)-max(at, form.from) < form.least {
		return runs
	}
	return append(runs, Run{from, to, a.form, start - a.at})
}

// open returns how many bytes at the end of text must be seen together with what
// comes next: more than shown of a form or, unless they are found already, fewer with
// which one begins or among which is text[marked].
func (f *Finder) open(text []byte, marked int, found bool) int {
	n, best := len(text), 0
	if n == 0 || !f.chars[text[n-1]] {
		return 0
	}
	for at := 0; ; at++ {
		next := strings.IndexByte(f.texts[at:], text[n-1])
		if next < 0 {
			return best
		}
		if at += next; f.texts[at+1] == 0 {
			continue // nothing can follow
		}
		k := 1
		for k < n && k <= at && f.texts[at-k] != 0 && text[n-1-k] == f.texts[at-k] {
			k++
		}
		begins := k > at || f.texts[at-k] == 0
		if k > shown || !found && (begins || n-k <= marked) {
			best = max(best, k)
		}
	}
}

// Merge makes one run of those that overlap, with the smallest number of a form
// among theirs, and sorts them.
func Merge(runs []Run) []Run {
	if len(runs) < 2 {
		return runs
	}
	slices.SortFunc(runs, func(a, b Run) int { return cmp.Or(a.From-b.From, a.To-b.To, a.Form-b.Form) })
	merged := runs[:1]
	for _, r := range runs[1:] {
		last := &merged[len(merged)-1]
		if r.From >= last.To {
			merged = append(merged, r)
			continue
		}
		last.To, last.Form = max(last.To, r.To), min(last.Form, r.Form)
	}
	return merged
}
