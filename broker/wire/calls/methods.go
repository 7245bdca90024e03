package calls

import (
	"context"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

var _ broker.Calls = (*Client)(nil)

// Agents implements broker.Calls.
func (c *Client) Agents(ctx context.Context) ([]broker.Agent, error) {
	return call[[]broker.Agent](ctx, c, "Agents")
}

// Open implements broker.Calls.
func (c *Client) Open(ctx context.Context, r broker.OpenRequest) (broker.Session, error) {
	return call[broker.Session](ctx, c, "Open", r)
}

// Close implements broker.Calls.
func (c *Client) Close(ctx context.Context, id broker.SessionID) error {
	return doCall(ctx, c, "Close", id)
}

// Sessions implements broker.Calls.
func (c *Client) Sessions(ctx context.Context) ([]broker.Session, error) {
	return call[[]broker.Session](ctx, c, "Sessions")
}

// Stored implements broker.Calls.
func (c *Client) Stored(ctx context.Context) ([]broker.StoredSession, error) {
	return call[[]broker.StoredSession](ctx, c, "Stored")
}

// Changes implements broker.Calls.
func (c *Client) Changes(ctx context.Context, id broker.SessionID) (broker.Changes, error) {
	return call[broker.Changes](ctx, c, "Changes", id)
}

// Landing implements broker.Calls.
func (c *Client) Landing(ctx context.Context, id broker.SessionID, which broker.Which) (broker.Landing, error) {
	return call[broker.Landing](ctx, c, "Landing", id, which)
}

// Land implements broker.Calls.
func (c *Client) Land(ctx context.Context, id broker.SessionID, landing string) (broker.Landed, error) {
	return call[broker.Landed](ctx, c, "Land", id, landing)
}

// StartLog implements broker.Calls.
func (c *Client) StartLog(ctx context.Context, id broker.SessionID) (broker.StartLog, error) {
	return call[broker.StartLog](ctx, c, "StartLog", id)
}

// Pending implements broker.Calls.
func (c *Client) Pending(ctx context.Context) ([]broker.Escalation, error) {
	return call[[]broker.Escalation](ctx, c, "Pending")
}

// Decide implements broker.Calls.
func (c *Client) Decide(ctx context.Context, d broker.Decision) (broker.Resolution, error) {
	return call[broker.Resolution](ctx, c, "Decide", d)
}

// Scopes implements broker.Calls.
func (c *Client) Scopes(ctx context.Context, id string) ([]broker.Scope, error) {
	return call[[]broker.Scope](ctx, c, "Scopes", id)
}

// Grants implements broker.Calls.
func (c *Client) Grants(ctx context.Context) ([]broker.Grant, error) {
	return call[[]broker.Grant](ctx, c, "Grants")
}

// Revoke implements broker.Calls.
func (c *Client) Revoke(ctx context.Context, r broker.Revocation) (broker.Grant, error) {
	return call[broker.Grant](ctx, c, "Revoke", r)
}

// History implements broker.Calls.
func (c *Client) History(ctx context.Context, limit int) ([]broker.Decided, error) {
	return call[[]broker.Decided](ctx, c, "History", limit)
}

// AutoApprovals implements broker.Calls.
func (c *Client) AutoApprovals(ctx context.Context, id broker.SessionID) ([]broker.AutoApproval, error) {
	return call[[]broker.AutoApproval](ctx, c, "AutoApprovals", id)
}

// Forget implements broker.Calls.
func (c *Client) Forget(ctx context.Context, id broker.SessionID) error {
	return doCall(ctx, c, "Forget", id)
}

// Budgets implements broker.Calls.
func (c *Client) Budgets(ctx context.Context) (broker.Budgets, error) {
	return call[broker.Budgets](ctx, c, "Budgets")
}

// RaiseBudget implements broker.Calls.
func (c *Client) RaiseBudget(ctx context.Context, id broker.SessionID, by string) (broker.Budget, error) {
	return call[broker.Budget](ctx, c, "RaiseBudget", id, by)
}

// ReviewPolicy implements broker.Calls.
func (c *Client) ReviewPolicy(ctx context.Context) (broker.PolicyReview, error) {
	return call[broker.PolicyReview](ctx, c, "ReviewPolicy")
}

// ApplyPolicy implements broker.Calls.
func (c *Client) ApplyPolicy(ctx context.Context, hash string) (int, error) {
	return call[int](ctx, c, "ApplyPolicy", hash)
}

// Reload implements broker.Calls.
func (c *Client) Reload(ctx context.Context) error { return doCall(ctx, c, "Reload") }

// Servers implements broker.Calls.
func (c *Client) Servers(ctx context.Context, id broker.SessionID) ([]broker.ServerStatus, error) {
	return call[[]broker.ServerStatus](ctx, c, "Servers", id)
}

// Registries implements broker.Calls.
func (c *Client) Registries(ctx context.Context, id broker.SessionID) (broker.Registries, error) {
	return call[broker.Registries](ctx, c, "Registries", id)
}

// ReleasePackage implements broker.Calls.
func (c *Client) ReleasePackage(ctx context.Context, id broker.SessionID, version string) error {
	return doCall(ctx, c, "ReleasePackage", id, version)
}

// TurnServer implements broker.Calls.
func (c *Client) TurnServer(ctx context.Context, id broker.SessionID, name string, off bool) error {
	return doCall(ctx, c, "TurnServer", id, name, off)
}

// AddServer implements broker.Calls.
func (c *Client) AddServer(ctx context.Context, id broker.SessionID, name string, words []string) error {
	return doCall(ctx, c, "AddServer", id, name, words)
}

// Rename implements broker.Calls.
func (c *Client) Rename(ctx context.Context, id broker.SessionID, name string) error {
	return doCall(ctx, c, "Rename", id, name)
}

// Move implements broker.Calls.
func (c *Client) Move(ctx context.Context, id broker.SessionID, place int) error {
	return doCall(ctx, c, "Move", id, place)
}

// AnswerOffer implements broker.Calls.
func (c *Client) AnswerOffer(ctx context.Context, id broker.SessionID, yes bool) error {
	return doCall(ctx, c, "AnswerOffer", id, yes)
}

// OpenPort implements broker.Calls.
func (c *Client) OpenPort(ctx context.Context, id broker.SessionID, p broker.Port) error {
	return doCall(ctx, c, "OpenPort", id, p)
}

// ClosePort implements broker.Calls.
func (c *Client) ClosePort(ctx context.Context, id broker.SessionID, container int) error {
	return doCall(ctx, c, "ClosePort", id, container)
}

// AttachFiles implements broker.Calls.
func (c *Client) AttachFiles(ctx context.Context, id broker.SessionID, paths []string) ([]string, error) {
	return call[[]string](ctx, c, "AttachFiles", id, paths)
}

// SaveFile implements broker.Calls.
func (c *Client) SaveFile(ctx context.Context, id broker.SessionID, r broker.SaveRequest) (string, error) {
	return call[string](ctx, c, "SaveFile", id, r)
}
