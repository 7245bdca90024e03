package broker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/grant"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/timespan"
)

// pendingGrant is an approval that is about to be remembered.
type pendingGrant struct {
	broker *Broker
	item   approval.Escalation
	offer  grant.Offer
	by     string
	client Client
	limit  time.Duration
}

// prepareGrant prepares the grant that a decision asks for. It returns nil when the
// decision asks for none, or when the call waits no longer: then the queue's answer says
// why.
func (b *Broker) prepareGrant(d Decision) (*pendingGrant, error) {
	if d.Remember == nil {
		return nil, nil
	}
	if !d.Approve {
		return nil, fault.New("approve it, or deny it without remembering that", "decide: only an approval can be remembered")
	}
	limit := time.Duration(min(d.Remember.Seconds, int(timespan.Max/time.Second)+1)) * time.Second
	if err := grant.Check(limit); err != nil {
		return nil, fault.New("give another time", "decide: %w", err)
	}
	item, ok := b.approvals.Find(d.ID)
	if !ok {
		return nil, nil
	}
	var names []string
	for _, o := range item.Offers {
		if string(o.Scope) == d.Remember.Scope {
			return &pendingGrant{b, item, o, d.By, d.Client, limit}, nil
		}
		names = append(names, string(o.Scope))
	}
	if len(names) == 0 {
		return nil, fault.New("approve it for this once", "decide: the approval of this call cannot be remembered")
	}
	return nil, fault.New("give one of: "+strings.Join(names, ", "), "decide: this call has no scope %q", d.Remember.Scope)
}

// text describes the grant for the record.
func (r *pendingGrant) text() string {
	limit := r.limit
	if limit == 0 {
		limit = grant.DefaultTime
	}
	return fmt.Sprintf("%s, for %v: %s", r.offer.Scope, limit, r.offer.Text)
}

// keep puts the grant into force, unless its session has ended meanwhile.
func (r *pendingGrant) keep() (int, error) {
	s, err := r.broker.session(r.item.Session)
	if err != nil {
		return 0, err
	}
	g, err := r.broker.grants.Add(r.item.Session, r.offer, r.by, r.client, r.item.ID, r.limit)
	if err != nil {
		return 0, err
	}
	select {
	case <-s.Ended(): // it may be resumed with the same id, but without its grants
		if err := r.broker.grants.Close(r.item.Session); err != nil {
			return 0, err
		}
	default:
		r.letWaiting(g)
	}
	return g.Number, nil
}

// letWaiting approves the calls that already wait and that the new grant covers. Each is
// judged again like any approved call.
func (r *pendingGrant) letWaiting(g grant.Grant) {
	for _, item := range r.broker.approvals.Pending() {
		if item.Session != g.Session || !r.offer.Matches(item.Call) {
			continue
		}
		used, err := r.broker.grants.Use(g.Number, item.Call)
		if err != nil {
			return // the grant has ended meanwhile
		}
		// If somebody has answered before, that answer counts.
		_, _, _ = r.broker.approvals.Answer(item.ID, item.Digest, approval.Answer{
			Approve: true, Effect: item.Fingerprint(), By: r.by, Client: r.client, Grant: g.Number, Evidence: used.Evidence(),
		})
	}
}

// Grants lists the grants in force, oldest first.
func (b *Broker) Grants(context.Context) ([]Grant, error) {
	var out []Grant
	for _, g := range b.grants.List() {
		out = append(out, b.grant(g))
	}
	return out, nil
}

// Revoke ends a grant and records in the session's audit who did it. The grant ends even
// if the record cannot be written.
func (b *Broker) Revoke(ctx context.Context, r Revocation) (Grant, error) {
	g, unkept := b.grants.Revoke(r.Number)
	if errors.Is(unkept, grant.ErrNone) {
		return Grant{}, fault.New("list them with 'ironcurtain-mux grants' or /grants", "%w", unkept)
	}
	out := b.grant(g)
	s, err := b.session(out.Session)
	if err != nil {
		return out, nil // its tab was closed, and its grants with it
	}
	log, engine := s.Audit()
	err = log.Append(ctx, audit.Record{
		Plane: audit.PlaneHost, Decision: audit.Noted, Session: g.Session, DecidedBy: r.By, Client: r.Client, EscalationID: g.Escalation,
		Reason: "a grant was revoked", PolicyHash: engine.Hash(),
		Detail: map[string]any{"grant": g.Number, "scope": string(g.Scope), "used": g.Used},
	})
	switch {
	case unkept != nil:
		return out, fault.New("close its tab to be sure", "revoke: the grant has ended, but may be in force again if the multiplexer is killed: %w", unkept)
	case err != nil:
		return out, fault.New("", "revoke: the grant has ended, but that is not recorded: %w", err)
	}
	return out, nil
}

// grant converts a grant for user interfaces.
func (b *Broker) grant(g grant.Grant) Grant {
	r := Grant{
		Number: g.Number, Session: g.Session, Scope: string(g.Scope), Text: g.Text,
		By: g.By, Client: g.Client, At: g.At, ExpiresAt: g.ExpiresAt, Used: g.Used,
	}
	if s, err := b.session(r.Session); err == nil {
		r.Agent = s.Info().Agent
	}
	return r
}
