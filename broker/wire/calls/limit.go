package calls

import (
	"context"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
)

// readOnly is an API that refuses the calls that wire.See does not allow.
type readOnly struct{ broker.API }

// ReadOnly limits an API to wire.See, as the table does for connections. Attach is still allowed,
// because a pane draws what it returns.
func ReadOnly(api broker.API) broker.API { return readOnly{api} }

func refused(what string) error { return refusal(what, wire.See) }

func (readOnly) Submit(context.Context, broker.TrustedInput) (broker.Receipt, error) {
	return broker.Receipt{}, refused("Submit")
}

func (readOnly) Open(context.Context, broker.OpenRequest) (broker.Session, error) {
	return broker.Session{}, refused("Open")
}

func (readOnly) Close(context.Context, broker.SessionID) error { return refused("Close") }

func (readOnly) Landing(context.Context, broker.SessionID, broker.Which) (broker.Landing, error) {
	return broker.Landing{}, refused("Landing")
}

func (readOnly) Land(context.Context, broker.SessionID, string) (broker.Landed, error) {
	return broker.Landed{}, refused("Land")
}

func (readOnly) Rename(context.Context, broker.SessionID, string) error { return refused("Rename") }

func (readOnly) Move(context.Context, broker.SessionID, int) error { return refused("Move") }

func (readOnly) Decide(context.Context, broker.Decision) (broker.Resolution, error) {
	return broker.Resolution{}, refused("Decide")
}

func (readOnly) Scopes(context.Context, string) ([]broker.Scope, error) {
	return nil, refused("Scopes")
}

func (readOnly) Revoke(context.Context, broker.Revocation) (broker.Grant, error) {
	return broker.Grant{}, refused("Revoke")
}

func (readOnly) Forget(context.Context, broker.SessionID) error { return refused("Forget") }

func (readOnly) RaiseBudget(context.Context, broker.SessionID, string) (broker.Budget, error) {
	return broker.Budget{}, refused("RaiseBudget")
}

func (readOnly) ReviewPolicy(context.Context) (broker.PolicyReview, error) {
	return broker.PolicyReview{}, refused("ReviewPolicy")
}

func (readOnly) ApplyPolicy(context.Context, string) (int, error) { return 0, refused("ApplyPolicy") }

func (readOnly) Reload(context.Context) error { return refused("Reload") }

func (readOnly) ReleasePackage(context.Context, broker.SessionID, string) error {
	return refused("ReleasePackage")
}

func (readOnly) TurnServer(context.Context, broker.SessionID, string, bool) error {
	return refused("TurnServer")
}

func (readOnly) AddServer(context.Context, broker.SessionID, string, []string) error {
	return refused("AddServer")
}

func (readOnly) AnswerOffer(context.Context, broker.SessionID, bool) error {
	return refused("AnswerOffer")
}

func (readOnly) OpenPort(context.Context, broker.SessionID, broker.Port) error {
	return refused("OpenPort")
}

func (readOnly) ClosePort(context.Context, broker.SessionID, int) error { return refused("ClosePort") }

func (readOnly) AttachFiles(context.Context, broker.SessionID, []string) ([]string, error) {
	return nil, refused("AttachFiles")
}

func (readOnly) SaveFile(context.Context, broker.SessionID, broker.SaveRequest) (string, error) {
	return "", refused("SaveFile")
}
