package broker

import (
	"context"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/session"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// AutoApprovals lists what was let through automatically in a session.
func (b *Broker) AutoApprovals(_ context.Context, id SessionID) ([]AutoApproval, error) {
	s, err := b.session(id)
	if err != nil {
		return nil, err
	}
	return s.AutoApprovals(), nil
}

// Servers returns the state of a session's tool servers.
func (b *Broker) Servers(_ context.Context, id SessionID) ([]ServerStatus, error) {
	s, err := b.session(id)
	if err != nil {
		return nil, err
	}
	return s.Servers(), nil
}

// Rename gives a session's tab a name.
func (b *Broker) Rename(_ context.Context, id SessionID, name string) error {
	s, err := b.session(id)
	if err != nil {
		return err
	}
	return s.Rename(name)
}

// Registries returns the package registries of a session, and what its agent got from them.
func (b *Broker) Registries(_ context.Context, id SessionID) (Registries, error) {
	s, err := b.session(id)
	if err != nil {
		return Registries{}, err
	}
	return s.Registries()
}

// ReleasePackage forgets that the person has denied a version of a package.
func (b *Broker) ReleasePackage(_ context.Context, id SessionID, version string) error {
	s, err := b.session(id)
	if err != nil {
		return err
	}
	return s.ReleasePackage(version)
}

// TurnServer starts a tool server of a session again, or turns it off.
func (b *Broker) TurnServer(_ context.Context, id SessionID, name string, off bool) error {
	s, err := b.session(id)
	if err != nil {
		return err
	}
	return s.TurnServer(name, off)
}

// AddServer adds a tool server to the configuration, to this session and to those that open
// from now on.
func (b *Broker) AddServer(ctx context.Context, id SessionID, name string, words []string) error {
	const op = "add server"
	s, err := b.session(id)
	if err == nil {
		err = s.TakesServers()
	}
	if err != nil {
		return fault.Wrap(op, err, "")
	}
	b.applying.Lock()
	defer b.applying.Unlock()
	c, err := s.ConfigureServer(name, words)
	if err != nil {
		return fault.Wrap(op, err, "")
	}
	b.deps().Know(name, c)
	return fault.Wrap(op, s.AddServer(ctx, name, c), "/servers lists the servers of this tab")
}

// AnswerOffer keeps the person's answer to the toolchains that were offered in a session.
func (b *Broker) AnswerOffer(_ context.Context, id SessionID, yes bool) error {
	s, err := b.session(id)
	if err != nil {
		return err
	}
	return s.AnswerOffer(yes)
}

// Budgets returns what the open sessions have used and may use.
func (b *Broker) Budgets(context.Context) (Budgets, error) {
	b.mu.Lock()
	open := append([]*session.Session(nil), b.sessions...)
	b.mu.Unlock()
	out := Budgets{PricesDate: b.settings.Load().config.Prices.Date}
	for _, s := range open {
		if one, counted := s.Budget(); counted {
			out.Sessions = append(out.Sessions, one)
		}
	}
	total, err := b.ledger.Total()
	if err != nil {
		return Budgets{}, err
	}
	out.Total = session.UsageOf(total)
	return out, nil
}

// RaiseBudget lets a session use more.
func (b *Broker) RaiseBudget(_ context.Context, id SessionID, by string) (Budget, error) {
	s, err := b.session(id)
	if err != nil {
		return Budget{}, err
	}
	return s.RaiseBudget(by)
}

// StartLog returns the log of a session's start.
func (b *Broker) StartLog(_ context.Context, id SessionID) (StartLog, error) {
	s, err := b.session(id)
	if err != nil {
		return StartLog{}, err
	}
	return s.StartLog(), nil
}

// Changes shows what has changed in a session's workspace since its start.
func (b *Broker) Changes(ctx context.Context, id SessionID) (Changes, error) {
	s, err := b.session(id)
	if err != nil {
		return Changes{}, err
	}
	return s.Changes(ctx)
}

// Landing compares a session's copy of the person's directory with that directory.
func (b *Broker) Landing(ctx context.Context, id SessionID, which Which) (Landing, error) {
	s, err := b.session(id)
	if err != nil {
		return Landing{}, err
	}
	return s.Landing(ctx, which)
}

// Land writes what was shown of a session's copy into the person's directory.
func (b *Broker) Land(ctx context.Context, id SessionID, landing string) (Landed, error) {
	s, err := b.session(id)
	if err != nil {
		return Landed{}, err
	}
	return s.Land(ctx, landing)
}

// CheckTurns says whether an agent can carry out tasks without a terminal.
func (b *Broker) CheckTurns(name string) error {
	adapter, err := b.settings.Load().config.Agents.Named(name)
	if err != nil {
		return err
	}
	if !adapter.TakesTasks() {
		return fault.New("open it in the multiplexer", "%s takes no tasks without a terminal", name)
	}
	return nil
}

// Turn gives an idle session's agent one task and waits for its answer. Turns of one
// session run one after the other; each continues the conversation of the turns before.
// The turn is stopped when ctx ends. What the person typed of the task is the session's
// receipt until the turn ends.
func (b *Broker) Turn(ctx context.Context, id SessionID, task Task) (Turn, error) {
	s, err := b.session(id)
	if err != nil {
		return Turn{}, err
	}
	if len(task.Text) > maxTrustedText {
		task.Spans = nil
	}
	return s.Turn(ctx, task)
}

// CheckServers starts every tool server in its sandbox, as a session in an
// empty directory would, and compares the tools that they offer with the policy's
// annotations.
func (b *Broker) CheckServers(ctx context.Context) (ServerCheck, error) {
	return session.CheckServers(ctx, b.deps())
}
