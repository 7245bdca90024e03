package tui

import (
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/notify"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/panel"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/tour"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// runApprove is /approve.
func (m *Model) runApprove(args string) (tea.Cmd, error) {
	which, rest := panel.SplitTarget(args)
	if rest != "" {
		return nil, fmt.Errorf("/approve %s: takes a number, all, or nothing for the call shown", args)
	}
	return m.decideOn(which, panel.Decision{Approve: true})
}

// runDeny is /deny. The agent is told the reason.
func (m *Model) runDeny(args string) (tea.Cmd, error) {
	which, reason := panel.SplitTarget(args)
	return m.decideOn(which, panel.Decision{Reason: reason})
}

// decideOn decides the call shown, the call with a number, or all calls that
// were seen in full.
func (m *Model) decideOn(which string, d panel.Decision) (tea.Cmd, error) {
	if len(m.approvals.Items) > 0 && !m.panelFits() {
		return nil, fault.New("make it larger, or use ironcurtain-mux pending and approve in another terminal", "the terminal is too small to show what would be decided")
	}
	chosen, err := m.approvals.Chosen(which, d.Approve, m.now(), m.keys)
	if err != nil {
		return nil, err
	}
	m.did(tour.Decided)
	var cmds []tea.Cmd
	for _, it := range chosen {
		it.Sent = true
		cmds = append(cmds, m.decide(it.Call, d))
	}
	return tea.Batch(cmds...), nil
}

// onFocusedKey handles a key while the panel has the keyboard. It reports false for a key that the
// command line handles; unless that key moves in the panel, the line gets the keyboard back.
func (m *Model) onFocusedKey(name string) (cmd tea.Cmd, taken bool) {
	p := &m.approvals
	a := m.keys.At(input.PlaceDecide, name)
	switch {
	case p.LostFocus():
		p.Unfocus()
		if a == "" || p.Current() == nil {
			return nil, false
		}
		m.showError(fault.New("look at it first", "nothing was decided, because the call shown changed by itself: it is now #%d", p.Current().Call.Number))
		return nil, true
	case !p.Focused():
		return nil, false
	}
	switch a {
	case input.ActApprove:
		return m.decideByKey(true), true
	case input.ActDeny:
		return m.decideByKey(false), true
	case input.ActChooseYes:
		p.Choose(panel.ChooseApprove)
		return nil, true
	case input.ActChooseNo:
		p.Choose(panel.ChooseDeny)
		return nil, true
	case input.ActDecide:
		if p.Choice() == panel.ChooseNothing {
			m.showInfo("nothing is chosen yet, so nothing was decided")
			return nil, true
		}
		return m.decideByKey(p.Choice() == panel.ChooseApprove), true
	}
	if !m.panelTakes(name) {
		p.Unfocus()
	}
	return nil, false
}

// decideByKey decides the call shown with one key. The panel stays open while other calls wait.
func (m *Model) decideByKey(approve bool) tea.Cmd {
	if !m.mayOperate() {
		m.showError(errReadOnly("decide"))
		return nil
	}
	it, err := m.approvals.ByKey(approve, m.quiet, m.now(), m.keys)
	var cmd tea.Cmd
	if err == nil {
		cmd, err = m.decideOn("", panel.Decision{Approve: approve, Key: true})
	}
	if err != nil {
		m.showError(err)
		return nil
	}
	m.approvals.Unfocus()
	m.answered = m.pressedKey
	if !slices.ContainsFunc(m.approvals.Items, func(x *panel.Item) bool { return x != it && !x.Sent }) {
		m.leaveCommand()
	}
	return cmd
}

// onDecided handles the answer to a decision.
func (m *Model) onDecided(msg decidedMsg) tea.Cmd {
	if msg.err != nil {
		if it := m.approvals.Find(msg.id); it != nil {
			it.Sent = false
		}
		m.showError(fmt.Errorf("decide #%d: %w", msg.number, msg.err))
		return nil
	}
	m.resolved(msg.resolution, true)
	return nil
}

// onEscalation adds or updates a call that waits. It announces the call when it is new, and again
// when half of its time is over. It never changes what has the keyboard.
func (m *Model) onEscalation(e broker.Escalation) tea.Cmd {
	t := m.tabOf(e.Session)
	m.dirty = true
	if it := m.approvals.Find(e.ID); it != nil {
		if e.HalfOver && !it.Call.HalfOver {
			m.announce(t, notify.Escalated, notify.Call(e))
		}
		it.Update(e)
		return nil
	}
	m.approvals.Add(e)
	m.messages.Drop(aboutNothing)
	if t != m.current() && t != nil {
		t.unseen = true
	}
	m.announce(t, notify.Escalated, notify.Call(e))
	return m.tick()
}

// tick requests a tickMsg in a second, if something on the screen depends on the time.
func (m *Model) tick() tea.Cmd {
	if m.ticking || !m.counting() {
		return nil
	}
	m.ticking = true
	return m.after(time.Second, tickMsg{})
}

// counting reports whether anything on the screen depends on the time.
func (m *Model) counting() bool {
	if t := m.current(); t != nil && m.receiptLeft(t) != "" {
		return true
	}
	return len(m.toasts.Fresh(m.now())) > 0 || len(m.approvals.Items) > 0 || m.messages.Changes(m.now())
}

// resolved notes that a call no longer waits, and shows who decided it. The answer to the person's
// own decision and the broker's event may come in either order, and the event that the call has
// ended may come before both.
func (m *Model) resolved(r broker.Resolution, own bool) {
	m.messages.Drop(r.ID)
	it := m.approvals.Remove(r.ID)
	known := m.approvals.Record(r)
	if it == nil && !own {
		return
	}
	shown := panel.ResolutionText(r, m.o.Client)
	if r.Outcome == broker.Approved && !r.Kept {
		shown += ", under way"
	}
	if it != nil && it.Sent && own && !r.Won {
		shown = fmt.Sprintf("#%d was already %s by %s", r.Number, text.Drawable(string(r.Outcome)), panel.DeciderName(r.By, r.Client, m.o.Client))
	}
	if own {
		shown = m.approvals.Batch.Result(r, shown)
	}
	if known.Ending != nil && !known.Ending.Expected() {
		if m.said().About != aboutEndings && !m.approvals.Batch.Member(r.ID) {
			m.showEnding(known)
		}
		return
	}
	if r.Outcome == broker.Approved {
		m.say(view.Message{Text: shown, Severity: view.Success, About: m.underWay(r.ID)})
	} else {
		m.say(view.Message{Text: shown, Urgent: r.Outcome == broker.Expired})
	}
}

// underWay returns Message.About of the message that an approved call is under way. Calls that were
// decided together share one message.
func (m *Model) underWay(id string) string {
	if m.approvals.Batch.Member(id) {
		id = "batch"
	}
	return "under way: " + id
}

// onEnding notes and shows how a decided call has ended.
func (m *Model) onEnding(e broker.Ending) {
	s := m.approvals.Settled(e.ID)
	if s == nil { // it was decided before we subscribed to events
		s = &panel.SettledCall{Resolution: broker.Resolution{ID: e.ID, Number: e.Number, Outcome: broker.Approved}}
	}
	s.Ending = &e
	over := m.underWay(e.ID)
	switch {
	case e.State == broker.EndKept: // it has not ended yet
	case e.State != broker.EndDone:
		m.messages.Drop(over) // otherwise it would come back after the message about the failure
		m.showEnding(s)
	default:
		m.showEnding(s)
		if !m.approvals.Batch.Member(e.ID) { // other calls of a batch may still be under way
			m.messages.Drop(over)
		}
	}
}

// showEnding shows how a call has ended, unless the decision said so already. The message about a
// failure stays until the next key, and no message of success replaces it.
func (m *Model) showEnding(s *panel.SettledCall) {
	e := s.Ending
	good := e.State == broker.EndDone
	switch {
	case e.Expected(), e.State == broker.EndKept, good && m.said().Urgent:
		return // the person knows already, or a failure is on the screen
	case good && m.approvals.Batch.Member(e.ID):
		if shown := m.approvals.Batch.Done(); shown != "" {
			m.showSuccess(shown)
		}
		return
	}
	shown := fmt.Sprintf("#%d", e.Number)
	if s.By != "" {
		shown = panel.ResolutionText(s.Resolution, m.o.Client)
	}
	shown += ": " + text.Drawable(e.Text())
	if good {
		m.showSuccess(shown)
		return
	}
	if said := m.said(); said.About == aboutEndings && len(said.Text) < maxFailures {
		shown = said.Text + " · " + shown
		m.messages.Drop(aboutEndings)
	}
	m.say(view.Message{Text: shown, Severity: view.Failure, Urgent: true, About: aboutEndings})
}

// Message.About of messages about calls that were approved and have failed, and of the message that
// nothing waits for a decision.
const (
	aboutEndings = "endings"
	aboutNothing = "nothing waits"
)

// maxFailures is the length in bytes at which no further failure is added to a message.
const maxFailures = 600
