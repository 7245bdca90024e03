package builtin

import (
	"fmt"
	"slices"
)

// maxMade bounds the list of calls that is sent to a model, in bytes.
const maxMade = 16 << 10

// made is a list of calls that took effect or may have, in order. Consecutive calls of the same tool
// and state are one entry (Call.Alike). Only the newest are kept, as many as maxMade allows.
type made struct {
	calls []Call
	left  int // earlier ones that were dropped
}

// add appends calls. left is how many calls before them were left out.
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

// list returns the list as text for a model.
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

// line returns the call's line in that text.
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

// calls are the states of the calls of one program.
type calls []Call

// report records the new state of a call.
func (c *calls) report(news Call) {
	for len(*c) < news.Index && news.Index <= maxReported {
		*c = append(*c, Call{})
	}
	if news.Index >= 1 && news.Index <= len(*c) {
		(*c)[news.Index-1] = news
	}
}

// maxReported is more than the number of calls that a program can make.
const maxReported = 1000

// effective returns the calls that took effect or may have.
func (c calls) effective() *made {
	m := &made{}
	m.add(0, slices.DeleteFunc(slices.Clone(c), func(one Call) bool { return one.Tool == "" || one.State == CallRefused })...)
	return m
}
