package tui

import (
	"fmt"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// resolved notes that a call waits no longer, and says who decided it. The
// answer to the person's own decision and the broker's event may come in
// either order, and what became of the call before either; the second changes nothing.
func (m *Model) resolved(r broker.Resolution, own bool) {
	it := m.approvals.remove(r.ID)
	known := m.approvals.record(r)
	if it == nil && !own {
		return
	}
	text := resolutionText(r)
	if r.Outcome == broker.Approved && !r.Kept {
		text += ", under way"
	}
	if it != nil && it.sent && own && !r.Won {
		text = fmt.Sprintf("#%d was already %s by %s", r.Number, view.Sanitize(string(r.Outcome)), deciderName(r.By))
	}
	if own {
		text = m.approvals.batch.result(r, text)
	}
	if known.ending != nil && !known.ending.Expected() {
		if !m.flash.bad && !m.approvals.batch.member(r.ID) {
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

// resolutionText is the result line of a decision.
func resolutionText(r broker.Resolution) string {
	switch r.Outcome {
	case broker.Expired:
		return fmt.Sprintf("#%d expired: nobody decided in time, the call was refused", r.Number)
	case broker.Withdrawn:
		if r.By == "caller" {
			return fmt.Sprintf("#%d was withdrawn by the agent", r.Number)
		}
		return fmt.Sprintf("#%d was withdrawn: its session has ended", r.Number)
	}
	text := fmt.Sprintf("#%d %s by %s at %s", r.Number, view.Sanitize(string(r.Outcome)), deciderName(r.By), r.At.Local().Format("15:04:05"))
	if r.Grant > 0 {
		text += fmt.Sprintf(", remembered as grant #%d", r.Grant)
	}
	if r.Kept {
		text += "; kept 5 minutes for the same call, once"
	}
	return text
}

// onEnding notes what became of a call that was decided.
func (m *Model) onEnding(e broker.Ending) {
	s := m.approvals.settled(e.ID)
	if s == nil { // decided before anybody here listened
		s = &settledCall{Resolution: broker.Resolution{ID: e.ID, Number: e.Number, Outcome: broker.Approved}}
	}
	s.ending = &e
	m.showEnding(s)
}

// showEnding says what became of a call, unless that is just what was decided. One that
// did not become what it should stays until the next key, and no good news replaces it.
func (m *Model) showEnding(s *settledCall) {
	e := s.ending
	good := e.State == broker.EndDone
	switch {
	case e.Expected(), e.State == broker.EndKept, good && m.flash.urgent && m.flash.shown(m.now()):
		return // it has been said, or there is worse
	case good && m.approvals.batch.member(e.ID):
		if text := m.approvals.batch.done(); text != "" {
			m.showSuccess(text)
		}
		return
	}
	text := fmt.Sprintf("#%d", e.Number)
	if s.By != "" {
		text = resolutionText(s.Resolution)
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

// batch is what one command decided together.
type batch struct {
	calls   map[string]bool // by ID
	numbers []string        // of those that were decided so
	left    int             // how many waited and were left alone
	ended   int             // of how many it is known that they are done
}

// result is the result line of a decision of the person's own that was made with
// others: it names them all.
func (b *batch) result(r broker.Resolution, text string) string {
	if b == nil || !b.calls[r.ID] || !r.Won {
		return text
	}
	number := fmt.Sprintf("#%d", r.Number)
	b.numbers = append(b.numbers, number)
	return strings.Join(b.numbers, " ") + strings.TrimPrefix(text, number) + b.rest()
}

// rest says how many calls were left alone.
func (b *batch) rest() string {
	if b.left == 0 {
		return ""
	}
	return fmt.Sprintf("; %d not shown in full yet", b.left)
}

// member tells whether a call was decided together with others.
func (b *batch) member(id string) bool { return b != nil && len(b.calls) > 1 && b.calls[id] }

// done notes that one of the calls is done; it returns the result line for them all once
// they are.
func (b *batch) done() string {
	if b.ended++; b.ended < len(b.calls) {
		return ""
	}
	return fmt.Sprintf("all %d calls that you approved are done", b.ended) + b.rest()
}
