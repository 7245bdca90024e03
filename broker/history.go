package broker

import (
	"context"
	"slices"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/session"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// decisive are the decisions about calls that were escalated, or that a grant or a receipt let
// through without asking.
var decisive = []audit.Decision{
	audit.EscalatedApproved, audit.EscalatedDenied, audit.EscalatedExpired, audit.EscalatedWithdrawn,
	audit.AutoApproved, audit.Granted,
}

// History lists the latest decisions of the open sessions, newest first.
func (b *Broker) History(ctx context.Context, limit int) ([]Decided, error) {
	var out []Decided
	for _, s := range b.openSessions() {
		if log, _ := s.Audit(); log == nil {
			continue // no audit: the session is still starting, or has no tools
		}
		lines, err := audit.Last(s.Files().Audit(), limit, func(l audit.Line) bool {
			return slices.Contains(decisive, l.Decision)
		})
		if err != nil {
			return nil, fault.New("check it with 'ironcurtain-mux audit verify'", "history: %w", err)
		}
		for _, l := range lines {
			out = append(out, decided(s, l))
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(out, func(a, b Decided) int { return b.At.Compare(a.At) })
	return out[:min(limit, len(out))], nil
}

// decided converts a line of the audit for user interfaces.
func decided(s *session.Session, l audit.Line) Decided {
	return Decided{
		At: l.Time, Session: s.ID(), Agent: s.Info().Agent, Server: l.Server, Tool: l.Tool, Arguments: l.Arguments,
		Decision: string(l.Decision), By: l.DecidedBy, Client: l.Client, Waited: time.Duration(l.WaitMs) * time.Millisecond,
		Rule: l.Rule, Reason: l.Reason, Detail: l.Detail,
	}
}
