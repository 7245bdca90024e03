package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// following is the log of a start that the list shows, and the state of the request for it.
type following struct {
	id      broker.SessionID // empty: another list is shown
	asked   bool             // the broker has not answered yet
	changed bool             // there was more progress since the request
}

// runLog is /log: it shows how the agent of this tab was started.
func (m *Model) runLog(string) (tea.Cmd, error) {
	t := m.current()
	if t == nil {
		return nil, errNoTab("whose start could be shown")
	}
	m.showHelp(startLogTitle(t), []view.Line{{Text: "looking at the log"}})
	m.following = following{id: t.session.ID}
	return m.askStartLog(), nil
}

// startLogTitle is the title of the log.
func startLogTitle(t *tab) string {
	return "how " + t.name() + " was started"
}

// askStartLog requests the log that is shown. It makes one request at a time.
func (m *Model) askStartLog() tea.Cmd {
	if m.following.asked {
		m.following.changed = true
		return nil
	}
	id := m.following.id
	m.following.asked, m.following.changed = true, false
	return m.do(func(ctx context.Context) tea.Msg {
		log, err := m.api.StartLog(ctx, id)
		return answerMsg(func() { m.showStartLog(id, log, err) })
	})
}

// followLog asks for the log again after progress of a session, if its log is shown.
func (m *Model) followLog(id broker.SessionID) tea.Cmd {
	if m.mode != modeHelp || m.following.id != id {
		return nil
	}
	return m.askStartLog()
}

// showStartLog shows the log, and below it how the agent has ended, unless the list was closed
// meanwhile. A list that shows its end still does so afterwards.
func (m *Model) showStartLog(id broker.SessionID, log broker.StartLog, err error) {
	if m.mode != modeHelp || m.following.id != id {
		return
	}
	if err != nil {
		m.leaveCommand()
		m.showError(err)
		return
	}
	m.following.asked = false
	end := m.help.AtBottom()
	m.help.Lines, m.dirty = startLogLines(log), true
	if t := m.tabOf(id); t != nil && t.dead() {
		m.help.Lines = append(m.help.Lines, view.Line{Text: t.endText(), Head: true})
	}
	m.help.Lay(m.listRect())
	if end {
		m.help.GotoBottom()
	}
	if m.following.changed {
		m.later = join(m.later, m.askStartLog())
	}
}

// startLogLines returns the sanitized lines of the log: the steps with the time since the
// start, and below each the output of its builder.
func startLogLines(log broker.StartLog) []view.Line {
	var out []view.Line
	if log.Cut > 0 {
		out = append(out, view.Line{Text: fmt.Sprintf("… %d earlier lines were not kept", log.Cut)})
	}
	for _, line := range log.Lines {
		if line.Step {
			out = append(out, view.Line{Text: text.Drawable(line.Text) + " · after " + view.Stopwatch(line.After.Truncate(time.Second)), Head: true})
			continue
		}
		out = append(out, view.Line{Text: strings.TrimSpace(text.Drawable(line.Text))})
	}
	if len(out) == 0 {
		out = append(out, view.Line{Text: "the log is empty"})
	}
	return out
}

// hasLog reports whether a builder has written something while the tab was started.
func (t *tab) hasLog() bool {
	for _, p := range t.progress {
		if p.Detail != "" || len(p.Tail) > 0 {
			return true
		}
	}
	return false
}

// drawStarting draws the steps of starting a session that has shown nothing yet, and below
// them the intro or the reason why the start failed.
func (m *Model) drawStarting(t *tab, at view.Rect) *view.Surface {
	s := view.NewSurface(at, m.theme.Body)
	at = m.above(m.stripRows(), at)
	r := &view.StyledRows{Width: max(1, at.W-2)}
	r.Add(startHeading(t), m.theme.Title)
	for _, n := range m.notices() {
		r.Add(n, m.theme.Notice)
	}
	if t.pane.First() != nil {
		r.Add("first prompt: "+text.Drawable(input.TextOf(t.pane.First())), m.theme.Body)
	}
	for _, p := range t.progress {
		m.addStep(r, p)
	}
	if t.blank() {
		r.Add("… waiting for "+text.Drawable(t.session.Agent)+" to show something", m.theme.Body)
	}
	switch {
	case t.session.State == broker.StateDead:
		if at.H >= 16 {
			r.Add(t.endText(), m.theme.Bad)
		} else { // the last lines of the builder are more useful
			r.AddUpTo(max(1, at.H/4), t.endText(), m.theme.Bad)
		}
		if at.H >= 6 { // otherwise the status line alone says it
			r.Add(m.restartHint(t), m.theme.Body)
		}
	case t.trouble != "":
		r.Add(t.trouble, m.theme.Bad)
	case t.session.Trouble != "":
		r.Add(text.Drawable(t.session.Trouble), m.theme.Bad)
	default:
		steps := len(r.Rows)
		for _, line := range m.intro(t) {
			r.Add(text.Drawable(line), m.theme.Body)
		}
		if len(r.Rows) > at.H { // the steps matter more than the intro
			r.Rows = r.Rows[:steps]
		}
	}
	lines := r.Rows
	// The newest lines matter most when there is little room.
	if over := len(lines) - at.H; over > 0 {
		lines = append([]view.StyledRow{{Text: view.Clip("… "+view.Counted(over+1, "line")+" above", r.Width), Style: m.theme.Muted}}, lines[over+1:]...)
	}
	for y, line := range lines {
		s.Text(1, y, line.Text, line.Style)
	}
	return s
}

// startHeading says which agent is being started, and in which directory.
func startHeading(t *tab) string {
	heading := "starting " + text.Drawable(t.session.Agent)
	if tree := t.session.Worktree; tree != nil && tree.Branch == "" { // the clone is not fetched yet
		return heading + " on " + text.Drawable(tree.Repository)
	} else if tree != nil {
		return heading + " on branch " + text.Drawable(tree.Branch) + " of " + text.Drawable(tree.Repository)
	}
	if t.session.Origin != "" {
		heading += " in a copy of " + text.Drawable(t.session.Origin)
	} else if t.session.Workspace != "" {
		heading += " in " + text.Drawable(t.session.Workspace)
	}
	return heading
}

// restartHint says what the person can do about a session whose start failed.
func (m *Model) restartHint(t *tab) string {
	text := input.DisplayKey(m.keys.CommandKey) + " then /restart starts it again, /close closes the tab"
	if log := m.keys.Hint(input.PlaceStarting, input.ActLog, "shows the whole log"); log != "" && t.hasLog() {
		text = log + "; " + text
	}
	return text
}

// addStep adds a step of starting: what it is, how long it has taken, and the last line of
// its builder or, when it has failed, the last lines.
func (m *Model) addStep(r *view.StyledRows, p broker.Progress) {
	mark, style := "…", m.theme.Body
	switch {
	case p.Done:
		mark = "✓"
	case p.Failed:
		mark, style = "✗", m.theme.Bad
	}
	took := ""
	if p.Elapsed >= time.Second {
		took = " · " + view.Stopwatch(p.Elapsed)
	}
	r.Clip(mark+" "+text.Drawable(p.Step), took, style)
	switch {
	case p.Failed && r.Width < 60:
		for _, line := range p.Tail {
			r.Clip("  "+text.Drawable(line), "", m.theme.Muted)
		}
	case p.Failed:
		for _, line := range p.Tail {
			r.Add("  "+text.Drawable(line), m.theme.Muted)
		}
	case p.Detail != "" && !p.Done:
		r.Clip("  "+text.Drawable(p.Detail), "", m.theme.Muted)
	}
}
