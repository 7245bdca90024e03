package calls

import (
	"context"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

var _ broker.Calls = (*Client)(nil)

// Agents is that of broker.Calls.
func (c *Client) Agents(ctx context.Context) ([]broker.Agent, error) {
	return call[[]broker.Agent](ctx, c, "Agents")
}

// Open is that of broker.Calls.
func (c *Client) Open(ctx context.Context, r broker.OpenRequest) (broker.Session, error) {
	return call[broker.Session](ctx, c, "Open", r)
}

// Close is that of broker.Calls.
func (c *Client) Close(ctx context.Context, id broker.SessionID) error {
	return done(ctx, c, "Close", id)
}

// Sessions is that of broker.Calls.
func (c *Client) Sessions(ctx context.Context) ([]broker.Session, error) {
	return call[[]broker.Session](ctx, c, "Sessions")
}

// Stored is that of broker.Calls.
func (c *Client) Stored(ctx context.Context) ([]broker.StoredSession, error) {
	return call[[]broker.StoredSession](ctx, c, "Stored")
}

// Changes is that of broker.Calls.
func (c *Client) Changes(ctx context.Context, id broker.SessionID) (broker.Changes, error) {
	return call[broker.Changes](ctx, c, "Changes", id)
}

// Landing is that of broker.Calls.
func (c *Client) Landing(ctx context.Context, id broker.SessionID, which broker.Which) (broker.Landing, error) {
	return call[broker.Landing](ctx, c, "Landing", id, which)
}

// Land is that of broker.Calls.
func (c *Client) Land(ctx context.Context, id broker.SessionID, landing string) (broker.Landed, error) {
	return call[broker.Landed](ctx, c, "Land", id, landing)
}

// StartLog is that of broker.Calls.
func (c *Client) StartLog(ctx context.Context, id broker.SessionID) (broker.StartLog, error) {
	return call[broker.StartLog](ctx, c, "StartLog", id)
}

// Pending is that of broker.Calls.
func (c *Client) Pending(ctx context.Context) ([]broker.Escalation, error) {
	return call[[]broker.Escalation](ctx, c, "Pending")
}

// Decide is that of broker.Calls.
func (c *Client) Decide(ctx context.Context, d broker.Decision) (broker.Resolution, error) {
	return call[broker.Resolution](ctx, c, "Decide", d)
}

// Scopes is that of broker.Calls.
func (c *Client) Scopes(ctx context.Context, id string) ([]broker.Scope, error) {
	return call[[]broker.Scope](ctx, c, "Scopes", id)
}

// Grants is that of broker.Calls.
func (c *Client) Grants(ctx context.Context) ([]broker.Grant, error) {
	return call[[]broker.Grant](ctx, c, "Grants")
}

// Revoke is that of broker.Calls.
func (c *Client) Revoke(ctx context.Context, r broker.Revocation) (broker.Grant, error) {
	return call[broker.Grant](ctx, c, "Revoke", r)
}

// History is that of broker.Calls.
func (c *Client) History(ctx context.Context, limit int) ([]broker.Decided, error) {
	return call[[]broker.Decided](ctx, c, "History", limit)
}

// AutoApprovals is that of broker.Calls.
func (c *Client) AutoApprovals(ctx context.Context, id broker.SessionID) ([]broker.AutoApproval, error) {
	return call[[]broker.AutoApproval](ctx, c, "AutoApprovals", id)
}

// Forget is that of broker.Calls.
func (c *Client) Forget(ctx context.Context, id broker.SessionID) error {
	return done(ctx, c, "Forget", id)
}

// Budgets is that of broker.Calls.
func (c *Client) Budgets(ctx context.Context) (broker.Budgets, error) {
	return call[broker.Budgets](ctx, c, "Budgets")
}

// RaiseBudget is that of broker.Calls.
func (c *Client) RaiseBudget(ctx context.Context, id broker.SessionID, by string) (broker.Budget, error) {
	return call[broker.Budget](ctx, c, "RaiseBudget", id, by)
}

// ReviewPolicy is that of broker.Calls.
func (c *Client) ReviewPolicy(ctx context.Context) (broker.PolicyReview, error) {
	return call[broker.PolicyReview](ctx, c, "ReviewPolicy")
}

// ApplyPolicy is that of broker.Calls.
func (c *Client) ApplyPolicy(ctx context.Context, hash string) (int, error) {
	return call[int](ctx, c, "ApplyPolicy", hash)
}

// Reload is that of broker.Calls.
func (c *Client) Reload(ctx context.Context) error { return done(ctx, c, "Reload") }

// Servers is that of broker.Calls.
func (c *Client) Servers(ctx context.Context, id broker.SessionID) ([]broker.ServerStatus, error) {
	return call[[]broker.ServerStatus](ctx, c, "Servers", id)
}

// Registries is that of broker.Calls.
func (c *Client) Registries(ctx context.Context, id broker.SessionID) (broker.Registries, error) {
	return call[broker.Registries](ctx, c, "Registries", id)
}

// ReleasePackage is that of broker.Calls.
func (c *Client) ReleasePackage(ctx context.Context, id broker.SessionID, version string) error {
	return done(ctx, c, "ReleasePackage", id, version)
}

// TurnServer is that of broker.Calls.
func (c *Client) TurnServer(ctx context.Context, id broker.SessionID, name string, off bool) error {
	return done(ctx, c, "TurnServer", id, name, off)
}

// AddServer is that of broker.Calls.
func (c *Client) AddServer(ctx context.Context, id broker.SessionID, name string, words []string) error {
	return done(ctx, c, "AddServer", id, name, words)
}

// Rename is that of broker.Calls.
func (c *Client) Rename(ctx context.Context, id broker.SessionID, name string) error {
	return done(ctx, c, "Rename", id, name)
}

// Move is that of broker.Calls.
func (c *Client) Move(ctx context.Context, id broker.SessionID, place int) error {
	return done(ctx, c, "Move", id, place)
}

// AnswerOffer is that of broker.Calls.
func (c *Client) AnswerOffer(ctx context.Context, id broker.SessionID, yes bool) error {
	return done(ctx, c, "AnswerOffer", id, yes)
}

// OpenPort is that of broker.Calls.
func (c *Client) OpenPort(ctx context.Context, id broker.SessionID, p broker.Port) error {
	return done(ctx, c, "OpenPort", id, p)
}

// ClosePort is that of broker.Calls.
func (c *Client) ClosePort(ctx context.Context, id broker.SessionID, container int) error {
	return done(ctx, c, "ClosePort", id, container)
}

// AttachFiles is that of broker.Calls.
func (c *Client) AttachFiles(ctx context.Context, id broker.SessionID, paths []string) ([]string, error) {
	return call[[]string](ctx, c, "AttachFiles", id, paths)
}

// SaveFile is that of broker.Calls.
func (c *Client) SaveFile(ctx context.Context, id broker.SessionID, r broker.SaveRequest) (string, error) {
	return call[string](ctx, c, "SaveFile", id, r)
}
