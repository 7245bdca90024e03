package broker

import "time"

// review is what user interfaces are told of the attempt; a reason says that it has
// failed.
func (a *attempt) review(reason string) AutoReview {
	return AutoReview{Receipt: a.receipt.Number, Since: time.Now(), Reason: reason}
}

// keepReview remembers what the automatic approval makes of an item, and tells
// everybody who has been told of the item already.
func (b *Broker) keepReview(id string, l AutoReview) {
	b.mu.Lock()
	before, again := b.reviews[id]
	if again {
		l.Since = before.Since
	}
	b.reviews[id] = l
	b.mu.Unlock()
	item, waits := b.approvals.Find(id)
	switch {
	case !waits:
		b.dropReview(id)
	case again:
		e := b.escalation(item)
		b.hub.publish(Event{Kind: EventEscalation, Escalation: &e})
	}
}

func (b *Broker) dropReview(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.reviews, id)
}

// reviewOf is what the automatic approval makes of an item, or nil.
func (b *Broker) reviewOf(id string) *AutoReview {
	b.mu.Lock()
	defer b.mu.Unlock()
	l, ok := b.reviews[id]
	if !ok {
		return nil
	}
	return &l
}
