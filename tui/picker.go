package tui

import (
	"errors"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/shortid"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/panel"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// picker is the list of stored sessions that a person chooses from.
type picker struct {
	rows   []broker.StoredSession
	at     int // the chosen row
	top    int // the first row shown
	loaded bool
	offer  bool // the list is shown before the first tab, and has only agents left running
}

// runResume is /resume [ID].
func (m *Model) runResume(args string) (tea.Cmd, error) {
	if strings.ContainsAny(args, " /") {
		return nil, fmt.Errorf("/resume %s: takes the start of a session's id, or nothing for the list", args)
	}
	if args == "" {
		m.openPicker()
	}
	return m.fetchStored(args), nil
}

// openPicker shows the list, empty until the sessions are known.
func (m *Model) openPicker() {
	m.picker = picker{}
	m.mode, m.dirty = modePicker, true
}

// onStored handles the list of sessions on disk: for the picker, or to resume the session
// that was named.
func (m *Model) onStored(msg storedMsg) tea.Cmd {
	m.dirty = true
	if msg.err != nil {
		m.showError(fmt.Errorf("list sessions: %w", msg.err))
		if m.mode == modePicker && msg.prefix == "" {
			return m.leavePicker()
		}
		return nil
	}
	if msg.prefix != "" {
		return m.resumeNamed(msg)
	}
	if m.mode == modePicker {
		fresh := !m.picker.loaded
		m.picker.fill(m.choosable(msg.sessions))
		if t := m.current(); fresh && t != nil && t.dead() {
			m.picker.choose(t.session.ID) // most likely the person wants to resume this session
		}
		if m.picker.offer && len(m.picker.rows) == 0 {
			return m.leavePicker()
		}
	}
	return nil
}

// leavePicker closes the list. If the list was shown before the first tab, it opens that tab.
func (m *Model) leavePicker() tea.Cmd {
	offer := m.picker.offer
	m.picker = picker{}
	m.leaveCommand()
	if offer {
		return m.openFirst()
	}
	return nil
}

// looking reports whether the list is an offer that is not loaded yet.
func (p *picker) looking() bool { return p.offer && !p.loaded }

// choosable returns the sessions that can be resumed and do not run in a tab. For an offer, it returns
// only sessions that were left running.
func (m *Model) choosable(all []broker.StoredSession) []broker.StoredSession {
	var out []broker.StoredSession
	for _, s := range all {
		if m.picker.offer && (!s.Detached || s.Owned) {
			continue
		}
		if t := m.tabOf(s.ID); !s.Ephemeral && (t == nil || t.dead()) {
			out = append(out, s)
		}
	}
	return out
}

// fill sets the rows. The chosen session stays chosen.
func (p *picker) fill(rows []broker.StoredSession) {
	var chosen broker.SessionID
	if p.at < len(p.rows) {
		chosen = p.rows[p.at].ID
	}
	p.rows, p.loaded = rows, true
	p.at = min(p.at, max(0, len(rows)-1))
	p.choose(chosen)
}

// choose chooses a session, if it is in the list.
func (p *picker) choose(id broker.SessionID) {
	for i, s := range p.rows {
		if s.ID == id {
			p.at = i
		}
	}
}

// resumeNamed resumes the session whose id begins with the prefix.
func (m *Model) resumeNamed(msg storedMsg) tea.Cmd {
	ones := make([]shortid.One, len(msg.sessions))
	for i, s := range msg.sessions {
		ones[i].ID = s.ID
	}
	switch at, found, err := shortid.Find("session", msg.prefix, ones); {
	case err != nil:
		m.showError(err)
	case !found:
		m.showError(fault.New("/resume lists them", "no session has an id that begins with %s%s", msg.prefix, shortid.DidYouMean(msg.prefix, ones)))
	default:
		return m.open(tabRequest{resume: msg.sessions[at].ID})
	}
	return nil
}

// chosen returns the chosen session, or nil.
func (p *picker) chosen() *broker.StoredSession {
	if p.at < 0 || p.at >= len(p.rows) {
		return nil
	}
	return &p.rows[p.at]
}

// onPickerKey handles a key in the list of sessions.
func (m *Model) onPickerKey(name string) tea.Cmd {
	m.dirty = true
	p := &m.picker
	page := max(1, m.listRect().H-2)
	last := max(0, len(p.rows)-1)
	switch m.keys.At(input.PlacePicker, name) {
	case input.ActPickDown:
		p.at = min(p.at+1, last)
	case input.ActPickUp:
		p.at = max(p.at-1, 0)
	case input.ActPickPage:
		p.at = min(p.at+page, last)
	case input.ActPickPageUp:
		p.at = max(p.at-page, 0)
	case input.ActPick:
		return m.pick()
	case input.ActPickEnd:
		return m.askToEnd()
	case input.ActPickAll:
		return m.pickAll()
	case input.ActLeave:
		return m.leavePicker()
	}
	return nil
}

// pickAll takes back every agent that was left running.
func (m *Model) pickAll() tea.Cmd {
	var cmd tea.Cmd
	for _, s := range m.picker.rows {
		if s.Detached && !s.Owned {
			cmd = join(cmd, m.open(tabRequest{resume: s.ID, back: true}))
		}
	}
	if cmd == nil {
		m.showError(errors.New("no agent was left running"))
		return nil
	}
	m.picker = picker{}
	m.leaveCommand()
	return cmd
}

// pick resumes the chosen session.
func (m *Model) pick() tea.Cmd {
	s := m.picker.chosen()
	switch {
	case s == nil && !m.picker.loaded:
		return nil // the list is not known yet
	case s == nil:
		return m.leavePicker()
	case s.Owned && s.NoTerminal && m.tabOf(s.ID) == nil:
		m.showError(fault.New("wait until its task has ended", "the agent of that session has no terminal"))
		return nil
	case s.Owned && m.tabOf(s.ID) == nil:
		m.showError(fault.New("use it there, or close it there first", "that session is open in another multiplexer"))
		return nil
	}
	id := s.ID
	m.picker = picker{}
	m.leaveCommand()
	return m.open(tabRequest{resume: id})
}

// pickerHints returns what the person can do in the list.
func (m *Model) pickerHints() []string {
	back := m.keys.Hint(input.PlacePicker, input.ActLeave, "back")
	chosen := m.picker.chosen()
	if chosen == nil {
		return input.NonEmpty(back)
	}
	choose := m.keys.KeyFor(input.PlacePicker, input.ActPickUp) + m.keys.KeyFor(input.PlacePicker, input.ActPickDown) + " choose"
	if chosen.Detached {
		all := ""
		if m.picker.offer && len(m.picker.rows) > 1 {
			all = m.keys.Hint(input.PlacePicker, input.ActPickAll, "all of them")
		}
		return input.NonEmpty(m.keys.Hint(input.PlacePicker, input.ActPick, "takes it back"), all, m.keys.Hint(input.PlacePicker, input.ActPickEnd, "ends it"), choose, back)
	}
	return input.NonEmpty(m.keys.Hint(input.PlacePicker, input.ActPick, "continues it in a tab"), choose, back)
}

// askToEnd asks whether to end an agent that was left running.
func (m *Model) askToEnd() tea.Cmd {
	s := m.picker.chosen()
	if s == nil || !s.Detached || s.Owned {
		m.showError(errors.New("only an agent that was left running can be ended here"))
		return nil
	}
	id := s.ID
	m.ask(fmt.Sprintf("end %s of session %s%s? it can be resumed later", text.Drawable(s.Agent), broker.ShortID(id), panel.LostCalls(s.Waiting)), func(m *Model) tea.Cmd {
		return m.endStored(id)
	})
	return nil
}

// drawPicker draws the list of sessions over the viewport.
func (m *Model) drawPicker() *view.Surface {
	s := view.NewSurface(m.listRect(), m.theme.Body)
	p := &m.picker
	title := "sessions, those used last first"
	switch {
	case p.looking():
		title = "looking for agents that were left running"
	case !p.loaded:
		title = "looking for sessions"
	case p.offer:
		title = "these agents still run although their multiplexer was killed"
	case len(p.rows) == 0:
		title = "there is no ended session to continue"
	}
	height := max(1, s.At.H-1)
	p.top = min(max(p.top, p.at-height+1), p.at)
	if below := len(p.rows) - p.top - height; below > 0 {
		title += fmt.Sprintf(" · %d more ↓", below)
	}
	s.Heading(title, m.theme)
	states := 0 // the width of the longest state, in columns
	for _, row := range p.rows {
		states = max(states, view.TextWidth(m.storedState(row)))
	}
	for y := 0; y < height && p.top+y < len(p.rows); y++ {
		style := m.theme.Body
		if p.top+y == p.at {
			style = m.theme.Selection
			s.Fill(1+y, style)
		}
		s.Text(1, 1+y, view.Clip(m.pickerRow(p.rows[p.top+y], states), s.At.W-2), style)
	}
	return s
}

// pickerRow describes a session in one line: its id, agent, state and age, its workspace
// unless that is its own sandbox, and the last prompt.
func (m *Model) pickerRow(s broker.StoredSession, states int) string {
	parts := []string{
		broker.ShortID(s.ID),
		fmt.Sprintf("%-12s", text.Drawable(s.Agent)),
		fmt.Sprintf("%-*s", states, m.storedState(s)),
		fmt.Sprintf("%-8s", view.Age(m.now().Sub(s.LastActivity))),
	}
	if tree := s.Worktree; tree != nil {
		parts = append(parts, view.PlaceColumn(tree.Repository), text.Drawable(tree.Branch))
	} else if !strings.HasSuffix(s.Workspace, s.ID+"/sandbox") {
		parts = append(parts, view.PlaceColumn(s.Place()))
		if s.Unlanded != "" {
			parts = append(parts, s.Unlanded+" not landed")
		}
	}
	if s.LastPrompt != "" {
		parts = append(parts, "“"+text.Drawable(s.LastPrompt)+"”")
	}
	return strings.Join(parts, "  ")
}

// storedState returns the words for the state of a stored session.
func (m *Model) storedState(s broker.StoredSession) string {
	switch t := m.tabOf(s.ID); {
	case t != nil:
		return t.session.StateWords() + ", in a tab"
	case s.Owned && s.NoTerminal:
		return s.StateWords() + ", without a terminal"
	case s.Owned:
		return "open elsewhere"
	}
	return s.StateWords()
}
