package tui

import (
	"fmt"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// startRow is a row about a session that has no screen yet.
type startRow struct {
	text  string
	style term.Style
}

// startRows are laid out for a width.
type startRows struct {
	width int
	rows  []startRow
}

// add wraps a text.
func (r *startRows) add(text string, style term.Style) {
	for _, row := range view.WrapWords(text, r.width) {
		r.rows = append(r.rows, startRow{row, style})
	}
}

// clip adds one row, whatever the text's length; the end is shown in full.
func (r *startRows) clip(text, end string, style term.Style) {
	r.rows = append(r.rows, startRow{view.Clip(text, max(1, r.width-view.TextWidth(end))) + end, style})
}

// addUpTo wraps a text over so many rows at most.
func (r *startRows) addUpTo(most int, text string, style term.Style) {
	before := len(r.rows)
	r.add(text, style)
	if len(r.rows)-before > most {
		last := &r.rows[before+most-1]
		last.text = view.Clip(last.text+" "+r.rows[before+most].text, r.width)
		r.rows = r.rows[:before+most]
	}
}

// drawStarting shows the steps of a session that has no screen yet, what to
// try once it runs, and why it does not when it does not.
func (m *Model) drawStarting(t *tab, at view.Rect) *view.Surface {
	s := view.NewSurface(at, m.theme.Body)
	r := &startRows{width: max(1, at.W-2)}
	r.add(startHeading(t), m.theme.Label)
	for _, n := range m.notices() {
		r.add(n, m.theme.Changed)
	}
	if len(t.first) > 0 {
		r.add("first prompt: "+view.Sanitize(input.TextOf(t.first)), m.theme.Body)
	}
	for _, p := range t.progress {
		m.addStep(r, p)
	}
	if t.blank() {
		r.add("… waiting for "+view.Sanitize(t.session.Agent)+" to show something", m.theme.Body)
	}
	switch {
	case t.session.State == broker.StateDead:
		if at.H >= 16 {
			r.add(t.endText(), m.theme.Bad)
		} else { // the builder's last words tell more
			r.addUpTo(max(1, at.H/4), t.endText(), m.theme.Bad)
		}
		if at.H >= 6 { // otherwise the status line alone says it
			r.add(m.afterDeath(t), m.theme.Body)
		}
	case t.trouble != "":
		r.add(t.trouble, m.theme.Bad)
	case t.session.Trouble != "":
		r.add(view.Sanitize(t.session.Trouble), m.theme.Bad)
	default:
		steps := len(r.rows)
		for _, line := range m.o.Intro {
			r.add(view.Sanitize(line), m.theme.Label)
		}
		if len(r.rows) > at.H { // what happens matters more than what to try
			r.rows = r.rows[:steps]
		}
	}
	lines := r.rows
	// The newest lines matter most when there is little room.
	if over := len(lines) - at.H; over > 0 {
		lines = append([]startRow{{view.Clip("… "+view.Counted(over+1, "line")+" above", r.width), m.theme.Label}}, lines[over+1:]...)
	}
	for y, line := range lines {
		s.Text(1, y, line.text, line.style)
	}
	return s
}

// startHeading says what is being started and where it works.
func startHeading(t *tab) string {
	heading := "starting " + view.Sanitize(t.session.Agent)
	if tree := t.session.Worktree; tree != nil {
		return heading + " on branch " + view.Sanitize(tree.Branch) + " of " + view.Sanitize(tree.Repository)
	}
	if t.session.Workspace != "" {
		heading += " in " + view.Sanitize(t.session.Workspace)
	}
	return heading
}

// afterDeath is what can be done about a session whose agent has never run.
func (m *Model) afterDeath(t *tab) string {
	text := input.DisplayKey(m.keys.CommandKey) + " then /restart begins anew, /close closes the tab"
	if log := m.keys.Hint(input.PlaceStarting, input.ActLog, "shows the whole log"); log != "" && t.hasLog() {
		text = log + "; " + text
	}
	return text
}

// addStep is one step of starting: what it is, how long it takes or took, and
// what its builder said last, all that in the end when it has failed.
func (m *Model) addStep(r *startRows, p broker.Progress) {
	mark, style := "…", m.theme.Body
	switch {
	case p.Done:
		mark = "✓"
	case p.Failed:
		mark, style = "✗", m.theme.Bad
	}
	took := ""
	if p.Elapsed >= time.Second {
		took = " · " + stopwatch(p.Elapsed)
	}
	r.clip(mark+" "+view.Sanitize(p.Step), took, style)
	switch {
	case p.Failed && r.width < 60:
		for _, line := range p.Tail {
			r.clip("  "+view.Sanitize(line), "", m.theme.Label)
		}
	case p.Failed:
		for _, line := range p.Tail {
			r.add("  "+view.Sanitize(line), m.theme.Label)
		}
	case p.Detail != "" && !p.Done:
		r.clip("  "+view.Sanitize(p.Detail), "", m.theme.Label)
	}
}

// stopwatch is a time in seconds, or in minutes and seconds: "12 s", "2:07".
func stopwatch(d time.Duration) string {
	s := int(d / time.Second)
	if s < 60 {
		return fmt.Sprintf("%d s", s)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}
