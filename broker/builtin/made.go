package builtin

import (
	"fmt"
	"slices"
)

// maxMade bounds the list of calls that a model is given, in bytes. No more is kept than that.
const maxMade = 16 << 10

// made are calls that took effect, or may have, in order. Those of one tool in a row that stand
// alike are one. The newest are there, as many as a model is given.
type made struct {
	calls []Call
	left  int // earlier ones that are not there any more
}

// add adds calls, before the first of which some were left out.
func (m *made) add(left int, more ...Call) {
	for _, one := range more {
		if last := len(m.calls) - 1; last >= 0 && left == 0 && m.calls[last].Tool == one.Tool && m.calls[last].State == one.State {
			m.calls[last].Alike += 1 + one.Alike
		} else {
			m.calls = append(m.calls, one)
		}
		m.left, left = m.left+left, 0
	}
	size, from := 0, len(m.calls)
	for from > 0 && size+len(m.calls[from-1].line()) < maxMade {
		from--
		size += len(m.calls[from].line()) + 1
	}
	m.left += from
	m.calls = slices.Delete(m.calls, 0, from)
}

// list lists the calls for a model.
func (m *made) list() string {
	if len(m.calls) == 0 {
		return "No call took effect."
	}
	text := "Calls that took effect, which are not to be repeated:"
	if m.left > 0 {
		text += fmt.Sprintf("\n(%d earlier lines are left out)", m.left)
	}
	for _, c := range m.calls {
		text += "\n" + c.line()
	}
	return text
}

// line is a call in that list.
func (c Call) line() string {
	line := "- " + c.Tool + " " + c.About
	if c.Alike > 0 {
		line += fmt.Sprintf(" and %d more of it", c.Alike)
	}
	switch c.State {
	case CallFailed:
		line += " (with an error)"
	case CallCut, CallRuns, CallWaits:
		line += " (cut off: not known)"
	case CallDone, CallRefused:
	}
	return line
}

// calls keeps how the calls of one program stand.
type calls []Call

// report takes the news of a call.
func (c *calls) report(news Call) {
	for len(*c) < news.Index && news.Index <= maxReported {
		*c = append(*c, Call{})
	}
	if news.Index >= 1 && news.Index <= len(*c) {
		(*c)[news.Index-1] = news
	}
}

// maxReported is more than a program makes calls.
const maxReported = 1000

// effective are those that took effect, or may have.
func (c calls) effective() *made {
	m := &made{}
	m.add(0, slices.DeleteFunc(slices.Clone(c), func(one Call) bool { return one.Tool == "" || one.State == CallRefused })...)
	return m
}
