package tui

import (
	"errors"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/notify"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/pane"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// onSize lays everything out for another size of the person's terminal. The
// first size opens the first tab.
func (m *Model) onSize(msg sizeMsg) tea.Cmd {
	first := m.cols == 0
	m.cols, m.rows, m.dirty = msg.cols, msg.rows, true
	m.lay, m.fits = view.LayOut(msg.cols, msg.rows)
	m.strip = view.Rect{}
	m.approvals.Unfocus() // the panel's rows change
	if !m.fits {
		m.question = nil // nobody can see what would be answered
	}
	m.arrange()
	if first && (!m.o.Detach || m.listed) {
		return m.begin()
	}
	return nil
}

// begin shows the tabs that exist, offers the agents that were left running or, when there are
// none, opens the first tab.
func (m *Model) begin() tea.Cmd {
	m.placed = true
	if m.o.Safe {
		return nil
	}
	some := len(m.tabs) > 0 && m.o.Detach
	if some {
		m.rearrange(m.o.Arrangement)
	}
	if !m.mayOperate() {
		m.show(m.indexOf(m.o.Show))
		return nil
	}
	if some && !m.o.Add {
		at := m.indexOf(m.o.Show)
		if !m.o.Profile.IsZero() {
			at = m.indexOfProfile()
		}
		m.show(at)
		if m.o.Here != nil {
			m.askHere()
			return nil
		}
		if at >= 0 || m.o.Profile.IsZero() {
			return nil
		}
	}
	m.placed = false
	if some || m.o.Offer == nil {
		return m.openFirst()
	}
	m.openPicker()
	m.picker.offer = true
	return m.fetchOffer()
}

// indexOfProfile returns the index of a tab that has the profile of Options and whose agent has not
// ended. It prefers the tab in front, then the first; -1: there is none.
func (m *Model) indexOfProfile() int {
	has := func(t *tab) bool { return t.session.Profile.Same(m.o.Profile) && t.running() }
	if t := m.current(); t != nil && has(t) {
		return m.active
	}
	return slices.IndexFunc(m.tabs, has)
}

// onBroker handles one event of the broker.
func (m *Model) onBroker(ev broker.Event) tea.Cmd {
	switch {
	case ev.Session != nil:
		return join(m.onSession(*ev.Session), m.followLog(ev.Session.ID))
	case ev.Progress != nil:
		if t := m.tabOf(ev.Progress.Session); t != nil {
			t.progressed(*ev.Progress)
			m.dirty = true
			return m.followLog(t.session.ID)
		}
	case ev.Escalation != nil:
		return m.onEscalation(*ev.Escalation)
	case ev.Resolution != nil:
		m.resolved(*ev.Resolution, false)
		m.dirty = true
	case ev.Ending != nil:
		m.onEnding(*ev.Ending)
	case ev.Budget != nil:
		m.onBudget(*ev.Budget)
	case ev.Moving != nil:
		if t := m.tabOf(ev.Moving.Session); t != nil {
			t.moving, m.dirty = *ev.Moving, true
		}
	case ev.AutoApproval != nil:
		return m.onAutoApproval(*ev.AutoApproval)
	case ev.Receipt != nil:
		m.onReceipt(*ev.Receipt)
	case ev.Notice != nil:
		m.onNotice(*ev.Notice)
	}
	return nil
}

// onSession stores a session's new state. It opens a tab for a session that has none and whose
// agent has a terminal, and removes the tab of a closed session.
func (m *Model) onSession(s broker.Session) tea.Cmd {
	if m.o.Safe {
		m.noteSession(s)
		return nil
	}
	t := m.tabOf(s.ID)
	if s.State == broker.StateClosed {
		if t == nil {
			return nil
		}
		return m.removeTab(t)
	}
	if t == nil && s.NoTerminal {
		return nil
	}
	if t == nil {
		return m.addTab(s)
	}
	if t.session.Life != s.Life { // it was resumed
		return m.renewTab(t, s)
	}
	was := t.session
	t.session, m.dirty = s, true
	if was.Tab != s.Tab {
		m.order()
	}
	if was.State != s.State {
		return m.onState(t, was.State)
	}
	return nil
}

// onState announces that an agent has ended. When an agent becomes idle, it has the model check
// later whether the agent is done.
func (m *Model) onState(t *tab, was broker.SessionState) tea.Cmd {
	t.changes++
	t.done = false
	switch {
	case t.session.State == broker.StateDead:
		t.unseen = t != m.current()
		m.announce(t, notify.Dead, t.endText())
		if t != m.current() {
			m.showInfo(fmt.Sprintf("%s: %s", t.name(), t.endText()))
		}
	case t.session.State == broker.StateIdle && was == broker.StateWorking:
		return m.after(notify.Settle, finishedMsg{t.session.ID, t.changes})
	}
	return nil
}

// addTab makes a tab for a session and starts to connect to its agent.
func (m *Model) addTab(s broker.Session) tea.Cmd {
	t := &tab{since: m.now(), session: s}
	cols, rows := m.firstSize(m.lay.Viewport)
	id := s.ID
	p, err := m.mux.View(s, term.Options{
		Cols:       cols,
		Rows:       rows,
		Foreground: m.foreground,
		Background: m.background,
	}, pane.Hooks{
		Wake:    func() { m.tasks.Run(m.sink.Wake) },
		Show:    func() { m.tasks.Run(m.sink.Show) },
		Changed: func() { m.post(changedMsg{}) },
		Ended:   func(err error) { m.post(endedMsg{id, err}) },
		Event:   func(ev term.Event) { m.post(paneMsg{id, ev}) },
	})
	if err != nil {
		m.showError(err)
		return nil
	}
	t.pane = p
	if !m.mayOperate() {
		p.Limit()
	}
	if p.Connected() {
		t.attached, t.attachedAt = true, m.now()
	}
	at := len(m.tabs)
	for at > 0 && m.tabs[at-1].session.Tab > s.Tab {
		at--
	}
	m.tabs = append(m.tabs, nil)
	copy(m.tabs[at+1:], m.tabs[at:])
	m.tabs[at] = t
	if at <= m.active && len(m.tabs) > 1 {
		m.active++
	}
	m.arrange()
	return join(m.attach(p, id), m.awaitReady(t))
}

// onListed replaces what is known about the sessions and the waiting calls by the broker's state.
func (m *Model) onListed(msg listedMsg) tea.Cmd {
	m.messages.Drop(aboutBroker)
	var cmd tea.Cmd
	m.sessions = nil
	alive := map[broker.SessionID]bool{}
	for _, s := range msg.sessions {
		alive[s.ID] = true
		cmd = join(cmd, m.onSession(s))
	}
	for _, t := range append([]*tab(nil), m.tabs...) {
		if !alive[t.session.ID] && t.since.Before(msg.at) {
			cmd = join(cmd, m.removeTab(t))
		}
	}
	m.mux.Keep(msg.sessions, msg.at)
	if !m.listed && m.o.Detach && len(msg.sessions) > 0 {
		m.touched = true // somebody has worked here, and the intro would cover their work
	}
	if !m.listed && m.o.Detach && m.cols > 0 {
		cmd = join(cmd, m.begin())
	}
	m.listed = true
	m.approvals.Replace(msg.pending)
	m.dirty = true
	return cmd
}

// onOpened handles the answer to a request for a session and shows its tab.
func (m *Model) onOpened(msg openedMsg) tea.Cmd {
	m.opening--
	m.placed, m.dirty = true, true
	if errors.Is(msg.err, broker.ErrNotAlone) { // another view has opened one
		if !m.o.Profile.IsZero() {
			m.show(m.indexOfProfile())
		}
		return nil
	}
	if msg.err != nil {
		m.say(view.Message{Text: explain(msg.err), Severity: view.Failure, Urgent: len(m.tabs) == 0})
		if len(msg.prompt) > 0 {
			m.line.PutBack(msg.line)
		}
		return nil
	}
	cmd := m.onSession(msg.session)
	t := m.tabOf(msg.session.ID)
	if t == nil {
		return cmd
	}
	if old := m.tabOf(msg.replace); old != nil {
		cmd = join(cmd, m.replaceTab(old, t))
	} else if msg.back {
		m.rearrange(m.o.Arrangement)
	} else {
		if of := m.tabOf(msg.beside.of); of != nil {
			if err := m.splitWith(of, t, msg.beside.down); err != nil { // the window is smaller now
				m.showError(err)
			}
		}
		m.show(m.indexOf(t.session.ID))
	}
	t.pane.Open(m.firstSize(m.focusedRect()))
	return join(cmd, m.expectPrompt(t, msg.prompt))
}

// onAttached handles the answer to an attempt to connect to an agent.
func (m *Model) onAttached(msg attachedMsg) {
	t := m.tabOf(msg.id)
	if t == nil {
		return
	}
	m.dirty = true
	if msg.err != nil {
		t.trouble = explain(msg.err)
		return
	}
	t.attached, t.attachedAt = true, m.now()
}

// onEnded notes an error with which an agent's terminal ended. How the agent ended is part
// of the session's state, which the broker reports.
func (m *Model) onEnded(msg endedMsg) {
	t := m.tabOf(msg.id)
	if t == nil {
		return
	}
	if msg.err != nil {
		t.trouble, m.dirty = explain(msg.err), true
	}
}

// removeTab removes a tab.
func (m *Model) removeTab(t *tab) tea.Cmd {
	i := m.indexOf(t.session.ID)
	if i < 0 {
		return nil
	}
	if i == m.active && m.mode == modeCopy {
		m.mode = modeTerminal
	}
	var heir broker.SessionID // the session whose pane gets the focus
	if i == m.active {
		heir = m.latest(m.panesOf(t).Heirs(t.session.ID))
	}
	closedHere := heir != "" && t.pane.HasSize()
	m.leaveGroup(t.session.ID)
	m.tabs = append(m.tabs[:i:i], m.tabs[i+1:]...)
	switch at := m.indexOf(heir); {
	case at >= 0:
		m.active = at
	case m.active > i || m.active >= len(m.tabs):
		m.active = max(0, m.active-1)
	}
	if m.pasting.to == t {
		m.pasting.to = nil
	}
	m.arrange()
	if closedHere {
		m.usePanes()
	}
	return m.closePane(t)
}
