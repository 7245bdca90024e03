package broker

import (
	"context"
	"errors"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Pending lists what waits for a person, oldest first.
func (b *Broker) Pending(context.Context) ([]Escalation, error) {
	var out []Escalation
	for _, item := range b.approvals.Pending() {
		out = append(out, b.escalation(item))
	}
	return out, nil
}

// Decide answers one escalation.
func (b *Broker) Decide(_ context.Context, d Decision) (Resolution, error) {
	b.deciding.RLock()
	defer b.deciding.RUnlock()
	if b.undecided {
		return Resolution{}, fault.New("decide again in a moment", "decide: the multiplexer is being upgraded")
	}
	answer := approval.Answer{Approve: d.Approve, Effect: d.Effect, By: d.By, Client: d.Client, Reason: d.Reason}
	remember, err := b.prepareGrant(d)
	if err != nil {
		return Resolution{}, err
	}
	if remember != nil {
		answer.Remembered = remember.text()
	}
	r, won, err := b.approvals.Answer(d.ID, d.Digest, answer)
	switch {
	case errors.Is(err, approval.ErrUnknown):
		return Resolution{}, fault.New("list them with 'ironcurtain-mux pending'", "decide: %w: %q", err, d.ID)
	case errors.Is(err, approval.ErrDigest), errors.Is(err, approval.ErrEffect):
		return Resolution{}, fault.New("look at it again", "decide: %w", err)
	case err != nil:
		return Resolution{}, fault.New("", "decide: %w", err)
	}
	out := resolution(r)
	out.Won = won
	if won && remember != nil {
		if out.Grant, err = remember.keep(); err != nil {
			return out, fault.New("look at /grants", "decide: the call is approved, but not remembered: %w", err)
		}
	}
	return out, nil
}

// relayApprovals turns changes of the queue into events and session states
// until the broker ends. When the queue closes the stream because the broker fell
// behind, relayApprovals subscribes again and relays every waiting call once more;
// user interfaces recognize calls by their ids.
func (b *Broker) relayApprovals() {
	for b.ctx.Err() == nil {
		waiting, changes := b.approvals.Subscribe(b.ctx)
		b.dropSettled()
		for _, item := range waiting {
			b.relay(approval.Change{Asked: &item})
		}
		for change := range changes {
			b.relay(change)
		}
	}
}

func (b *Broker) relay(change approval.Change) {
	switch {
	case change.Asked != nil:
		if !change.Asked.Restored {
			b.keepWaiting(*change.Asked) // before it is shown: a call that a person has seen must survive a kill
		}
		e := b.escalation(*change.Asked)
		b.recount(e.Session)
		b.hub.publish(Event{Kind: EventEscalation, At: e.AskedAt, Escalation: &e})
		if e.Confirm != nil {
			b.work.Go(e.Confirm)
		}
	case change.Grown != nil:
		e := b.escalation(*change.Grown)
		b.hub.publish(Event{Kind: EventEscalation, Escalation: &e})
	case change.Settled != nil:
		// A call that was approved is let through a moment later, when its record is durable. If this
		// process is killed before that, the call waits again.
		if change.Settled.Outcome != approval.Approved || change.Settled.Ticket == "" {
			b.dropWaiting(change.Settled.Session, change.Settled.ID)
		}
		r := resolution(*change.Settled)
		b.recount(r.Session)
		b.hub.publish(Event{Kind: EventResolution, At: r.At, Resolution: &r})
	case change.Ended != nil:
		b.dropWaiting(change.Ended.Session, change.Ended.ID)
		b.hub.publish(Event{Kind: EventEnding, Ending: change.Ended})
	}
}

// recount tells a session how many of its calls wait in the queue.
func (b *Broker) recount(id SessionID) {
	s, err := b.session(id)
	if err != nil {
		return // its tab was closed meanwhile
	}
	n := 0
	for _, item := range b.approvals.Pending() {
		if item.Session == id {
			n++
		}
	}
	s.SetWaiting(n)
}

// escalation returns the queue's item with its session's agent, which the queue does not
// know.
func (b *Broker) escalation(e Escalation) Escalation {
	if s, err := b.session(e.Session); err == nil {
		e.Agent = s.Info().Agent
	}
	return e
}

func resolution(r approval.Resolution) Resolution {
	return Resolution{
		ID:      r.ID,
		Number:  r.Number,
		Session: r.Session,
		Outcome: r.Outcome,
		By:      r.By,
		Client:  r.Client,
		At:      r.At,
		Kept:    r.Kept,
	}
}
