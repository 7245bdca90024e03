package broker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/session"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/wholefile"
)

// The bar of every view has the tabs in the order of the broker's list. A tab is numbered by its
// place there, so its number changes when one before it goes or is moved. No call of API names a
// session by that number.

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
	b.arranged(moved)
	return nil
}

// insert adds a session to the list: where its former life was, after the session that it replaces,
// where the order of a former process has it, or at the end. The caller holds mu.
func (b *Broker) insert(s *session.Session) {
	at := func(id SessionID) int {
		return slices.IndexFunc(b.sessions, func(other *session.Session) bool { return other.ID() == id })
	}
	if i := at(s.ID()); i >= 0 {
		delete(b.leaving, b.sessions[i])
		b.sessions[i] = s
	} else if i := at(s.Replaces()); i >= 0 {
		s.Inherit(b.sessions[i])
		b.sessions = slices.Insert(b.sessions, i+1, s)
	} else {
		b.sessions = slices.Insert(b.sessions, b.formerIndex(s.ID()), s)
	}
}

// leave takes a session that ends out of the bar. If it is resumed, it gets the last place.
func (b *Broker) leave(s *session.Session) {
	b.mu.Lock()
	if slices.Contains(b.sessions, s) {
		b.leaving[s] = true
	}
	b.formerBar = slices.DeleteFunc(b.formerBar, func(id SessionID) bool { return id == s.ID() })
	moved := b.number()
	b.mu.Unlock()
	b.arranged(moved)
}

// formerIndex returns the index at which a session is inserted: before the sessions that came after it
// in a former process. The caller holds mu.
func (b *Broker) formerIndex(id SessionID) int {
	if was := slices.Index(b.formerBar, id); was >= 0 {
		behind := func(s *session.Session) bool { return slices.Index(b.formerBar, s.ID()) > was }
		if i := slices.IndexFunc(b.sessions, behind); i >= 0 {
			return i
		}
	}
	return len(b.sessions)
}

// inBar reports whether a session has a place in the bar. The caller holds mu.
func (b *Broker) inBar(s *session.Session) bool {
	return !s.NoTerminal() && !b.leaving[s] && s.Info().State != StateClosed
}

// number numbers the sessions in the bar and returns those whose number has changed. The caller
// holds mu, and announces them after it has released it.
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

// arranged announces the sessions whose places have changed, starting with the last: a view has
// moved the tabs behind a new one before it hears of the new one. It also stores the order, for a
// process that takes the agents back.
func (b *Broker) arranged(moved []*session.Session) {
	for _, s := range slices.Backward(moved) {
		s.Announce()
	}
	b.keeping.Lock()
	defer b.keeping.Unlock()
	order := []SessionID{}
	b.mu.Lock()
	for _, s := range b.sessions {
		if b.inBar(s) {
			order = append(order, s.ID())
		}
	}
	b.mu.Unlock()
	if slices.Equal(order, b.kept) {
		return
	}
	data, err := json.Marshal(order)
	if err == nil {
		err = wholefile.Write(b.orderFile(), data, 0o600)
	}
	if err != nil {
		b.log.Warn("the order of the tabs was not stored", "error", err)
	}
	b.kept = order
}

func (b *Broker) orderFile() string { return filepath.Join(b.config.Home, "order.json") }

// formerOrder returns the order that a former process has kept; nil: none.
func (b *Broker) formerOrder() (order []SessionID) {
	data, err := os.ReadFile(b.orderFile())
	if err == nil {
		err = json.Unmarshal(data, &order)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		b.log.Warn("the former order of the tabs cannot be read", "error", err)
		return nil
	}
	return order
}
