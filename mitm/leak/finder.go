package leak

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
)

// MinSecret is the length of the shortest text that can be found.
const MinSecret = 6

// Run is a piece of the searched text that is a form or a part of one.
type Run struct {
	From, To int // in bytes
	Form     int // the index of the form in NewFinder's list
	apart    int // position in the text minus position in the form
}

// Finder finds forms. It does not change after it was made and is safe for concurrent
// use.
//
// The stride is so short that every part of a form contains the four bytes at some
// multiple of it. So the Finder only looks up every stride-th position of a text.
type Finder struct {
	forms   []Form
	texts   string // the texts of all forms, each followed by a zero byte
	chars   [256]bool
	stride  int
	some    [1 << 16 / 64]uint64 // a bit for each hash of four bytes that forms contain
	places  map[uint32][]place   // by their four bytes
	longest int                  // length of the longest form
}

// place is the position of four bytes in a form.
type place struct{ form, at int }

// gram is how many bytes are looked up at once.
const gram = 4

// NewFinder makes a finder. It ignores forms shorter than MinSecret.
func NewFinder(forms []Form) *Finder {
	f := &Finder{stride: mostPart, places: make(map[uint32][]place)}
	for i, form := range forms {
		if len(form.text) < MinSecret {
			form.text = ""
		}
		f.forms = append(f.forms, form)
		if form.text == "" {
			continue
		}
		f.texts += form.text + "\x00"
		f.longest = max(f.longest, len(form.text))
		f.stride = min(f.stride, form.least-gram+1)
		for _, c := range []byte(form.text) {
			f.chars[c] = true
		}
		for at := form.from; at+gram <= form.to; at++ {
			four := binary.LittleEndian.Uint32([]byte(form.text[at : at+gram]))
			f.places[four] = append(f.places[four], place{i, at})
			f.some[hash(four)/64] |= 1 << (hash(four) % 64)
		}
	}
	return f
}

func hash(four uint32) uint32 { return four * 0x9e3779b1 >> 16 }

// Empty reports whether there are no forms to find.
func (f *Finder) Empty() bool { return f.longest == 0 }

// Short reports whether a text of n bytes is too short to contain anything to find.
func (f *Finder) Short(n int) bool { return n < f.stride+gram-1 || f.Empty() }

// Runs appends to runs all pieces of text that are a part of a form, each as long as
// possible. They may overlap.
func (f *Finder) Runs(text []byte, runs []Run) []Run {
	if f.Short(len(text)) {
		return runs
	}
	before := len(runs)
	for i := 0; i+gram <= len(text); i += f.stride {
		four := binary.LittleEndian.Uint32(text[i:])
		if h := hash(four); f.some[h/64]&(1<<(h%64)) == 0 {
			continue
		}
		for _, p := range f.places[four] {
			runs = f.extend(text, i, p, runs, before)
		}
	}
	return runs
}

// extend appends the run around the four bytes at start, which are at place p of a form.
// The runs from index before on are of the same text.
func (f *Finder) extend(text []byte, start int, p place, runs []Run, before int) []Run {
	form := &f.forms[p.form]
	for i := len(runs) - 1; i >= before && i >= len(runs)-8; i-- { // the run may have been found at an earlier position
		if known := &runs[i]; known.Form == p.form && known.apart == start-p.at && start < known.To {
			return runs
		}
	}
	from, at := start, p.at
	for from > 0 && at > 0 && text[from-1] == form.text[at-1] {
		from, at = from-1, at-1
	}
	to, end := start+gram, p.at+gram
	for to < len(text) && end < len(form.text) && text[to] == form.text[end] {
		to, end = to+1, end+1
	}
	if min(end, form.to)-max(at, form.from) < form.least {
		return runs
	}
	return append(runs, Run{from, to, p.form, start - p.at})
}

// open returns how many bytes at the end of text must be held back until more text has
// come, because a form may continue after them. These are pieces of a form that are longer
// than shown bytes. If the end is not part of a found run, they are also shorter pieces that
// begin a form or contain text[marked].
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
			continue // it is the form's last character
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

// Merge sorts runs and joins those that overlap. A joined run gets the smallest form
// number of its runs.
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
