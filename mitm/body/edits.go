package body

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// edit replaces data[start:end].
type edit struct {
	start, end int
	text       string
}

// apply makes the edits.
func apply(data []byte, edits []edit) []byte {
	if len(edits) == 0 {
		return data
	}
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
	out := make([]byte, 0, len(data))
	at := 0
	for _, e := range edits {
		out = append(append(out, data[at:e.start]...), e.text...)
		at = e.end
	}
	return append(out, data[at:]...)
}

// filter reads the array at the cursor and removes the elements for which keep returns
// false.
func (j *judge) filter(keep func() (bool, error)) error {
	kept, last := false, -1
	pending := -1 // start of leading elements to remove
	pendingEnd := -1
	err := j.array(func() error {
		start, marks := j.Pos(), len(j.edits)
		ok, err := keep()
		if err != nil {
			return err
		}
		switch {
		case ok && pending >= 0:
			j.edits = append(j.edits, edit{start: pending, end: start})
			pending = -1
		case !ok:
			j.edits = j.edits[:marks] // drop edits inside the removed element
			if kept {
				j.edits = append(j.edits, edit{start: last, end: j.Pos()})
			} else {
				if pending < 0 {
					pending = start
				}
				pendingEnd = j.Pos()
			}
		}
		kept, last = kept || ok, j.Pos()
		return nil
	})
	if err == nil && pending >= 0 {
		j.edits = append(j.edits, edit{start: pending, end: pendingEnd})
	}
	return err
}

// note records a change for the audit. The text may come from the agent.
func (j *judge) note(format string, args ...any) {
	const most = 32
	switch text := fmt.Sprintf(format, args...); {
	case len(j.removed) < most:
		j.removed = append(j.removed, clip(text))
	case len(j.removed) == most:
		j.removed = append(j.removed, "and more")
	}
}

// clip makes a text from the agent safe to print: at most 80 characters of printable ASCII.
func clip(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
	if len(s) > 80 {
		s = s[:80]
	}
	return s
}
