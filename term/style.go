package term

import "math/rand/v2"

// attrs is a Style with its link as a number. The style table stores and compares attrs.
type attrs struct {
	fg, bg, underlineColor Color
	link                   uint32
	attr                   Attr
	underline              Underline
}

// styleTable numbers the styles in use. Number 0 is the default style. Only the glyphs of
// the two screens contain style numbers, because packed lines contain the styles
// themselves. So a sweep has few cells to check.
type styleTable struct {
	entries []attrs
	slots   []uint32 // open addressing; number+1, 0 is empty
	free    []uint32 // unused numbers
	seed    uint64
	limit   int // sweep when this many numbers are in use
}

// minStyles is the number of styles that a table may hold before it is swept.
const minStyles = 1 << 15

func newStyleTable() *styleTable {
	t := &styleTable{seed: rand.Uint64() | 1, limit: minStyles} //nolint:gosec // the seed only spreads hash values
	t.reset()
	return t
}

func (t *styleTable) reset() {
	t.entries = append(t.entries[:0], attrs{})
	t.free = t.free[:0]
	t.slots = make([]uint32, 256)
	t.place(0)
}

func (t *styleTable) hash(a *attrs) uint64 {
	h := (uint64(a.fg)<<32 | uint64(a.bg)) * (t.seed | 1)
	h ^= h >> 29
	h += uint64(a.underlineColor)<<32 | uint64(a.attr)<<8 | uint64(a.underline)
	h *= 0x9e3779b97f4a7c15
	h ^= h >> 32
	h += uint64(a.link)
	h *= 0xbf58476d1ce4e5b9
	return h ^ h>>31
}

// number returns the style's number. It adds a style that the table does not have.
func (t *styleTable) number(a *attrs) uint32 {
	mask := uint64(len(t.slots) - 1)
	for i := t.hash(a) & mask; ; i = (i + 1) & mask {
		n := t.slots[i]
		if n == 0 {
			return t.add(a)
		}
		if t.entries[n-1] == *a {
			return n - 1
		}
	}
}

func (t *styleTable) add(a *attrs) uint32 {
	var n uint32
	if k := len(t.free); k > 0 {
		n = t.free[k-1]
		t.free = t.free[:k-1]
		t.entries[n] = *a
	} else {
		n = uint32(len(t.entries))
		t.entries = append(t.entries, *a)
	}
	if t.used()*2 > len(t.slots) {
		t.rehash(len(t.slots)*2, nil)
	} else {
		t.place(n)
	}
	return n
}

func (t *styleTable) place(n uint32) {
	mask := uint64(len(t.slots) - 1)
	i := t.hash(&t.entries[n]) & mask
	for t.slots[i] != 0 {
		i = (i + 1) & mask
	}
	t.slots[i] = n + 1
}

// used returns how many numbers are in use.
func (t *styleTable) used() int { return len(t.entries) - len(t.free) }

// full reports that a sweep is needed.
func (t *styleTable) full() bool { return t.used() >= t.limit }

// rehash rebuilds the slots from the entries that live marks or, if live is nil, from
// all that are not free.
func (t *styleTable) rehash(size int, live []bool) {
	t.slots = make([]uint32, size)
	if live == nil {
		live = make([]bool, len(t.entries))
		for i := range live {
			live[i] = true
		}
		for _, n := range t.free {
			live[n] = false
		}
	}
	for n, ok := range live {
		if ok {
			t.place(uint32(n))
		}
	}
}

// sweep frees every number that live does not mark. Number 0 stays.
func (t *styleTable) sweep(live []bool) {
	live[0] = true
	t.free = t.free[:0]
	for len(t.entries) > 1 && !live[len(t.entries)-1] {
		t.entries = t.entries[:len(t.entries)-1]
	}
	live = live[:len(t.entries)]
	for n := len(live) - 1; n > 0; n-- {
		if !live[n] {
			t.free = append(t.free, uint32(n))
			t.entries[n] = attrs{}
		}
	}
	size := 256
	for size < t.used()*4 {
		size *= 2
	}
	t.rehash(size, live)
	t.limit = max(minStyles, 2*t.used())
}
