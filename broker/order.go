package broker

import (
	"context"
	"fmt"
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/session"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// The bar of every view has the tabs in the order of the broker's list. A tab is numbered by its
// place there, so its number changes when one before it goes or is moved. Nothing that is done to a
// session names it by that number.

// Move puts a session's tab at a place in the bar, from 1, in all views.
func (b *Broker) Move(_ context.Context, id SessionID, place int) error {
	s, err := b.session(id)
	if err != nil {
		return fmt.Errorf("move tab: %w", err)
	}
	b.mu.Lock()
	rest := slices.DeleteFunc(slices.Clone(b.sessions), func(other *session.Session) bool { return other == s })
	if len(rest) == len(b.sessions) || !b.inBar(s) || place < 1 {
		b.mu.Unlock()
		return fault.New("give a place from 1", "move tab: session %s cannot have place %d of the bar", s.ShortID(), place)
	}
	at := 0
	for before := 1; at < len(rest) && before < place; at++ {
		if b.inBar(rest[at]) {
			before++
		}
	}
	b.sessions = slices.Insert(rest, at, s)
	moved := b.number()
	b.mu.Unlock()
	announce(moved)
	return nil
}

// insert adds a session to the list: in the place of its former life, behind the one that it
// replaces, or at the end. The caller holds mu.
func (b *Broker) insert(s *session.Session) {
	at := func(id SessionID) int {
		return slices.IndexFunc(b.sessions, func(other *session.Session) bool { return other.ID() == id })
	}
	if i := at(s.ID()); i >= 0 {
		delete(b.leaving, b.sessions[i])
		b.sessions[i] = s
	} else if i := at(s.Replaces()); i >= 0 {
		b.sessions = slices.Insert(b.sessions, i+1, s)
	} else {
		b.sessions = append(b.sessions, s)
	}
}

// inBar reports whether a session has a place in the bar. The caller holds mu.
func (b *Broker) inBar(s *session.Session) bool { return !s.NoTerminal() && !b.leaving[s] }

// number gives the sessions their places in the bar, and returns those that have another one now.
// The caller holds mu, and announces them after it has given that up.
func (b *Broker) number() (moved []*session.Session) {
	place := 0
	for _, s := range b.sessions {
		if !b.inBar(s) {
			continue
		}
		if place++; s.SetTab(place) {
			moved = append(moved, s)
		}
	}
	return moved
}

// announce announces sessions, the last one first: so a view hears of a new tab when those behind it
// have made room.
func announce(sessions []*session.Session) {
	for _, s := range slices.Backward(sessions) {
		s.Announce()
	}
}
