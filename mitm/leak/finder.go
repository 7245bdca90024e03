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
// The stride is so short that any part of a form covers four bytes of text at some
// multiple of it. So only every stride-th place of a text is looked up.
type Finder struct {
	forms   []Form
	texts   string // all of them, each with a zero byte behind it
	chars   [256]bool
	stride  int
	some    [1 << 16 / 64]uint64 // which hashes of four bytes there are
	places  map[uint32][]place   // by their four bytes
	longest int
}

// place is where in a form four bytes are.
type place struct{ form, at int }

// gram is how many bytes are looked up at once.
const gram = 4

// NewFinder makes a finder. Forms shorter than MinSecret are not looked for.
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

// Empty says whether there is nothing to look for.
func (f *Finder) Empty() bool { return f.longest == 0 }

// Short says whether a text of n bytes holds nothing for sure.
func (f *Finder) Short(n int) bool { return n < f.stride+gram-1 || f.Empty() }

// Runs appends to runs all stretches of text that are a part of a form, as long as
// they go. They may overlap.
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

// extend appends the run around the four bytes at start, which are those of a form. The
// runs from before on are of the same text.
func (f *Finder) extend(text []byte, start int, p place, runs []Run, before int) []Run {
	form := &f.forms[p.form]
	for i := len(runs) - 1; i >= before && i >= len(runs)-8; i-- { // a run has many places
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

// open returns how many bytes at the end of text must be held back until more has come,
// because a form may continue there. That is any piece of a form longer than shown;
// a shorter one, unless it is found already, only if a form begins with it or if it
// contains text[marked].
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
