package broker

import (
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/session"
)

// publisher implements session.Events: it publishes what happens in sessions to all user
// interfaces.
type publisher struct{ *Broker }

func (p publisher) Changed(s Session) {
	p.hub.publish(Event{Kind: EventSession, Session: &s})
}

func (p publisher) Progressed(step Progress) {
	p.hub.publish(Event{Kind: EventProgress, Progress: &step})
}

func (p publisher) Spent(b Budget) {
	p.hub.publish(Event{Kind: EventBudget, Budget: &b})
}

func (p publisher) Moved(m Moving) {
	p.hub.publish(Event{Kind: EventMoving, Moving: &m})
}

func (p publisher) AutoApproved(a AutoApproval) {
	p.hub.publish(Event{Kind: EventAutoApproval, At: a.At, AutoApproval: &a})
}

func (p publisher) Noticed(n Notice) {
	p.hub.publish(Event{Kind: EventNotice, Notice: &n})
}

// Tell shows a text to the person in every view, or in the next one if there is none, until it is
// read.
func (b *Broker) Tell(text string) {
	b.hub.publish(Event{Kind: EventNotice, Notice: &Notice{Urgent: true, Text: text}})
}

// Left keeps the lines for EndNotices.
func (p publisher) Left(id SessionID, about session.EndTopic, lines ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := endNotice{id, about}
	if p.endNotices[key] = lines; len(lines) == 0 {
		delete(p.endNotices, key)
	}
}
