package calls

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
)

// rights are the rights that allow a method.
type rights []wire.Right

var (
	seen     = rights{wire.See, wire.Operate}
	answered = rights{wire.Answer, wire.Operate}
	both     = rights{wire.See, wire.Answer, wire.Operate}
	operated = rights{wire.Operate}
)

// row says how a method of broker.Calls is served.
type row struct {
	rights rights
	params int
	call   func(ctx context.Context, c *caller, params []json.RawMessage) (any, error)
}

// table has every method of broker.Calls. The methods run with the broker's rights, so one that
// changes anything, or reads a file that the caller names, needs wire.Operate.
var table = map[string]row{
	"Agents":        none(seen, broker.Calls.Agents),
	"Sessions":      none(seen, broker.Calls.Sessions),
	"Stored":        none(seen, broker.Calls.Stored),
	"Changes":       one(seen, broker.Calls.Changes),
	"StartLog":      one(seen, broker.Calls.StartLog),
	"History":       one(seen, broker.Calls.History),
	"Grants":        none(seen, broker.Calls.Grants),
	"Budgets":       none(seen, broker.Calls.Budgets),
	"AutoApprovals": one(seen, broker.Calls.AutoApprovals),
	"Servers":       one(seen, broker.Calls.Servers),
	"Registries":    one(seen, broker.Calls.Registries),

	"Pending":   none(both, broker.Calls.Pending),
	"Subscribe": {both, 0, subscribe},
	"Decide":    {answered, 1, decide}, // to remember an approval needs wire.Operate

	"Scopes":         one(operated, broker.Calls.Scopes),
	"Revoke":         {operated, 1, revoke},
	"Forget":         one(operated, silent1(broker.Calls.Forget)),
	"Open":           one(operated, broker.Calls.Open),
	"Close":          one(operated, silent1(broker.Calls.Close)),
	"Rename":         two(operated, silent2(broker.Calls.Rename)),
	"Move":           two(operated, silent2(broker.Calls.Move)),
	"RaiseBudget":    two(operated, broker.Calls.RaiseBudget),
	"ReviewPolicy":   none(operated, broker.Calls.ReviewPolicy),
	"ApplyPolicy":    one(operated, broker.Calls.ApplyPolicy),
	"Reload":         none(operated, silent(broker.Calls.Reload)),
	"Landing":        two(operated, broker.Calls.Landing),
	"Land":           two(operated, broker.Calls.Land),
	"TurnServer":     three(operated, silent3(broker.Calls.TurnServer)),
	"AddServer":      three(operated, silent3(broker.Calls.AddServer)),
	"ReleasePackage": two(operated, silent2(broker.Calls.ReleasePackage)),
	"AnswerOffer":    two(operated, silent2(broker.Calls.AnswerOffer)),
	"OpenPort":       two(operated, silent2(broker.Calls.OpenPort)),
	"ClosePort":      two(operated, silent2(broker.Calls.ClosePort)),
	"AttachFiles":    two(operated, broker.Calls.AttachFiles),
	"SaveFile":       two(operated, broker.Calls.SaveFile),
}

// byCommand is the recorded way of a decision over a connection, unless Served.By names another one.
// What the caller says about it is ignored.
const byCommand = "cli"

func decide(ctx context.Context, c *caller, params []json.RawMessage) (any, error) {
	d, err := param[broker.Decision](params, 0)
	if err != nil {
		return nil, err
	}
	if d.Remember != nil && c.Right != wire.Operate {
		return nil, refusal("Decide with remember", c.Right)
	}
	d.By, d.Client = cmp.Or(c.By, byCommand), c.Client
	return c.Broker.Decide(ctx, d)
}

func revoke(ctx context.Context, c *caller, params []json.RawMessage) (any, error) {
	r, err := param[broker.Revocation](params, 0)
	if err != nil {
		return nil, err
	}
	r.By, r.Client = cmp.Or(c.By, byCommand), c.Client
	return c.Broker.Revoke(ctx, r)
}

// param decodes a parameter, strictly.
func param[T any](params []json.RawMessage, i int) (value T, err error) {
	if err = wire.Strictly(params[i], &value); err != nil {
		err = fmt.Errorf("decode parameter %d: %w", i+1, err)
	}
	return value, err
}

func none[R any](who rights, m func(broker.Calls, context.Context) (R, error)) row {
	return row{who, 0, func(ctx context.Context, c *caller, _ []json.RawMessage) (any, error) { return m(c.Broker, ctx) }}
}

func one[A, R any](who rights, m func(broker.Calls, context.Context, A) (R, error)) row {
	return row{who, 1, func(ctx context.Context, c *caller, params []json.RawMessage) (any, error) {
		a, err := param[A](params, 0)
		if err != nil {
			return nil, err
		}
		return m(c.Broker, ctx, a)
	}}
}

func two[A, B, R any](who rights, m func(broker.Calls, context.Context, A, B) (R, error)) row {
	return row{who, 2, func(ctx context.Context, c *caller, params []json.RawMessage) (any, error) {
		a, err := param[A](params, 0)
		if err != nil {
			return nil, err
		}
		b, err := param[B](params, 1)
		if err != nil {
			return nil, err
		}
		return m(c.Broker, ctx, a, b)
	}}
}

func three[A, B, C, R any](who rights, m func(broker.Calls, context.Context, A, B, C) (R, error)) row {
	return row{who, 3, func(ctx context.Context, c *caller, params []json.RawMessage) (any, error) {
		last, err := param[C](params, 2)
		if err != nil {
			return nil, err
		}
		rest := two(who, func(api broker.Calls, ctx context.Context, a A, b B) (R, error) { return m(api, ctx, a, b, last) })
		return rest.call(ctx, c, params)
	}}
}

// silent, silent1, silent2 and silent3 give an empty result to a method that has none.
func silent(m func(broker.Calls, context.Context) error) func(broker.Calls, context.Context) (struct{}, error) {
	return func(api broker.Calls, ctx context.Context) (struct{}, error) { return struct{}{}, m(api, ctx) }
}

func silent1[A any](m func(broker.Calls, context.Context, A) error) func(broker.Calls, context.Context, A) (struct{}, error) {
	return func(api broker.Calls, ctx context.Context, a A) (struct{}, error) { return struct{}{}, m(api, ctx, a) }
}

func silent2[A, B any](m func(broker.Calls, context.Context, A, B) error) func(broker.Calls, context.Context, A, B) (struct{}, error) {
	return func(api broker.Calls, ctx context.Context, a A, b B) (struct{}, error) {
		return struct{}{}, m(api, ctx, a, b)
	}
}

func silent3[A, B, C any](m func(broker.Calls, context.Context, A, B, C) error) func(broker.Calls, context.Context, A, B, C) (struct{}, error) {
	return func(api broker.Calls, ctx context.Context, a A, b B, c C) (struct{}, error) {
		return struct{}{}, m(api, ctx, a, b, c)
	}
}
