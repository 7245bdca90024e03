package tui

import (
	"fmt"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/panel"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// resolved notes that a call waits no longer, and says who decided it. The
// answer to the person's own decision and the broker's event may come in
// either order, and what became of the call before either; the second changes nothing.
func (m *Model) resolved(r broker.Resolution, own bool) {
	it := m.approvals.Remove(r.ID)
	known := m.approvals.Record(r)
	if it == nil && !own {
		return
	}
	text := panel.ResolutionText(r)
	if r.Outcome == broker.Approved && !r.Kept {
		text += ", under way"
	}
	if it != nil && it.Sent && own && !r.Won {
		text = fmt.Sprintf("#%d was already %s by %s", r.Number, view.Sanitize(string(r.Outcome)), panel.DeciderName(r.By))
	}
	if own {
		text = m.approvals.Batch.Result(r, text)
	}
	if known.Ending != nil && !known.Ending.Expected() {
		if !m.flash.bad && !m.approvals.Batch.Member(r.ID) {
			m.showEnding(known)
		}
		return
	}
	if r.Outcome == broker.Approved {
		m.showSuccess(text)
	} else {
		m.showInfo(text)
	}
}

// onEnding notes what became of a call that was decided.
func (m *Model) onEnding(e broker.Ending) {
	s := m.approvals.Settled(e.ID)
	if s == nil { // decided before anybody here listened
		s = &panel.SettledCall{Resolution: broker.Resolution{ID: e.ID, Number: e.Number, Outcome: broker.Approved}}
	}
	s.Ending = &e
	m.showEnding(s)
}

// showEnding says what became of a call, unless that is just what was decided. One that
// did not become what it should stays until the next key, and no good news replaces it.
func (m *Model) showEnding(s *panel.SettledCall) {
	e := s.Ending
	good := e.State == broker.EndDone
	switch {
	case e.Expected(), e.State == broker.EndKept, good && m.flash.urgent && m.flash.shown(m.now()):
		return // it has been said, or there is worse
	case good && m.approvals.Batch.Member(e.ID):
		if text := m.approvals.Batch.Done(); text != "" {
			m.showSuccess(text)
		}
		return
	}
	text := fmt.Sprintf("#%d", e.Number)
	if s.By != "" {
		text = panel.ResolutionText(s.Resolution)
	}
	text += ": " + view.Sanitize(e.Text())
	if good {
		m.showSuccess(text)
		return
	}
	if m.flash.bad && m.flash.shown(m.now()) && len(m.flash.text) < maxBadNews {
		text = m.flash.text + " · " + text
	}
	m.setFlash(text, sevError, errorTime)
	m.flash.urgent, m.flash.bad = true, true
}

// maxBadNews is how long a message is, in bytes, to which no more is added.
const maxBadNews = 600
