package broker

import "time"

// look is what user interfaces are told of the attempt; a reason says that it has
// failed.
func (a *attempt) look(reason string) AutoLook {
	return AutoLook{Receipt: a.receipt.Number, Since: time.Now(), Reason: reason}
}

// keepLook remembers what the automatic approval makes of an item, and tells
// everybody who has been told of the item already.
func (b *Broker) keepLook(id string, l AutoLook) {
	b.mu.Lock()
	before, again := b.looks[id]
	if again {
		l.Since = before.Since
	}
	b.looks[id] = l
	b.mu.Unlock()
	item, waits := b.approvals.Find(id)
	switch {
	case !waits:
		b.forgetLook(id)
	case again:
		e := b.escalation(item)
		b.hub.publish(Event{Kind: EventEscalation, Escalation: &e})
	}
}

func (b *Broker) forgetLook(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.looks, id)
}

// lookAt is what the automatic approval makes of an item, or nil.
func (b *Broker) lookAt(id string) *AutoLook {
	b.mu.Lock()
	defer b.mu.Unlock()
	l, ok := b.looks[id]
	if !ok {
		return nil
	}
	return &l
}
