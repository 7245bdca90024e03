package broker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/budget"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// AutoApprovals lists what was let through automatically in a session.
func (b *Broker) AutoApprovals(_ context.Context, id SessionID) ([]AutoApproval, error) {
	s, err := b.session(id)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.approvals), nil
}

// Budgets tells what the open sessions have used and may use.
func (b *Broker) Budgets(context.Context) (Budgets, error) {
	b.mu.Lock()
	open := append([]*session(nil), b.sessions...)
	b.mu.Unlock()
	out := Budgets{PricesDate: b.config.Prices.Date}
	for _, s := range open {
		if one, counted := s.budget(); counted {
			out.Sessions = append(out.Sessions, one)
		}
	}
	total, err := b.ledger.Total()
	if err != nil {
		return Budgets{}, err
	}
	out.Total = usageOf(total)
	return out, nil
}

// RaiseBudget lets a session use more.
func (b *Broker) RaiseBudget(_ context.Context, id SessionID, by string) (Budget, error) {
	s, err := b.session(id)
	if err != nil {
		return Budget{}, err
	}
	more, err := budget.ParseRaise(by)
	if err != nil {
		return Budget{}, err
	}
	s.mu.Lock()
	account := s.account
	s.mu.Unlock()
	switch {
	case account == nil:
		return Budget{}, errors.New("raise the budget: this tab talks to no model")
	case !account.Limited(more):
		return Budget{}, fmt.Errorf("raise the budget by %q: there is no such limit to raise", by)
	}
	account.Raise(more)
	one, _ := s.budget()
	return one, nil
}

// StartLog tells how a session was started.
func (b *Broker) StartLog(_ context.Context, id SessionID) (StartLog, error) {
	s, err := b.session(id)
	if err != nil {
		return StartLog{}, err
	}
	return s.starting.log(), nil
}

// Changes shows what has changed in a session's workspace since its start.
func (b *Broker) Changes(ctx context.Context, id SessionID) (Changes, error) {
	s, err := b.session(id)
	if err != nil {
		return Changes{}, err
	}
	c := Changes{Base: s.base()}
	if !s.adapter.Host {
		if c.Obeyed, err = s.obeyed(ctx, stored.LookTime); err != nil {
			c.Obeyed.Missed = err.Error()
		}
	}
	out, err := s.inside(ctx, showChanges, s.base())
	if err != nil && len(c.Obeyed.Lines()) == 0 {
		return Changes{}, fmt.Errorf("show changes: %w", err)
	}
	if err != nil {
		c.Trouble = describe(err)
	}
	c.Text, c.Cut = out, len(out) > changesLimit
	if c.Cut {
		c.Text = out[:changesLimit]
	}
	c.Text = strings.ToValidUTF8(c.Text, "�")
	return c, nil
}

// CheckTurns says whether an agent can carry out tasks without a terminal.
func (b *Broker) CheckTurns(name string) error {
	adapter, err := b.config.Agents.Named(name)
	if err != nil {
		return err
	}
	if adapter.Once == nil {
		return fault.New("open it in the multiplexer", "%s takes no tasks without a terminal", name)
	}
	return nil
}

// Turn gives an idle session's agent one task and waits for its answer. Turns
// of one session come after each other; each goes on with the conversation of
// those before. When ctx ends, so does the turn.
func (b *Broker) Turn(ctx context.Context, id SessionID, task string) (Turn, error) {
	s, err := b.session(id)
	if err != nil {
		return Turn{}, err
	}
	select {
	case <-s.started:
	case <-ctx.Done():
		return Turn{}, context.Cause(ctx)
	}
	s.turns.Lock()
	defer s.turns.Unlock()
	return s.turn(ctx, task)
}
