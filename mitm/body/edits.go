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

// apply carries out the edits.
func (j *judge) apply() []byte {
	if len(j.edits) == 0 {
		return j.data
	}
	slices.SortFunc(j.edits, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
	out := make([]byte, 0, len(j.data))
	at := 0
	for _, e := range j.edits {
		out = append(append(out, j.data[at:e.start]...), e.text...)
		at = e.end
	}
	return append(out, j.data[at:]...)
}

// filter walks the array at the cursor; elements for which keep returns false
// are taken out.
func (j *judge) filter(keep func() (bool, error)) error {
	kept, last := false, -1
	pending := -1 // start of leading elements to take out
	pendingEnd := -1
	err := j.array(func() error {
		start, marks := j.pos, len(j.edits)
		ok, err := keep()
		if err != nil {
			return err
		}
		switch {
		case ok && pending >= 0:
			j.edits = append(j.edits, edit{start: pending, end: start})
			pending = -1
		case !ok:
			j.edits = j.edits[:marks] // changes inside do not matter any more
			if kept {
				j.edits = append(j.edits, edit{start: last, end: j.pos})
			} else {
				if pending < 0 {
					pending = start
				}
				pendingEnd = j.pos
			}
		}
		kept, last = kept || ok, j.pos
		return nil
	})
	if err == nil && pending >= 0 {
		j.edits = append(j.edits, edit{start: pending, end: pendingEnd})
	}
	return err
}

// note remembers what was changed. The text may come from the agent.
func (j *judge) note(format string, args ...any) {
	const most = 32
	switch text := fmt.Sprintf(format, args...); {
	case len(j.removed) < most:
		j.removed = append(j.removed, clip(text))
	case len(j.removed) == most:
		j.removed = append(j.removed, "and more")
	}
}

// clip makes a text of the agent fit to print.
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
