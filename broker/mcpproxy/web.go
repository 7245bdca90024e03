package mcpproxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/fetch"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/outbound"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonrpc"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// webCall is the web request of a judged call. A server without a network asks for it by the
// id of the call. The server chooses no part of it, neither the address nor the headers, and
// gets it once.
type webCall struct {
	get func(ctx context.Context) (outbound.Answer, error)

	ctx   context.Context // of the call; set when it is forwarded
	taken bool            // by the server; guarded by the connection's lock
}

// web returns the web request of a call, or nil if the server's network is not judged. The
// request is made from the canonical arguments, which the policy has judged.
func (c *call) web(b *backend) *webCall {
	if !b.spec.Sandbox.Network.Judged {
		return nil
	}
	judged := slices.ContainsFunc(c.verdict.Trace, func(s policy.Step) bool {
		return s.Argument == "url" && s.Role == string(policy.FetchURL)
	})
	var args struct {
		URL     string            `json:"url"`
		Headers map[string]string `json:"headers"`
		Timeout int               `json:"timeout"`
	}
	if !judged || json.Unmarshal(c.verdict.Arguments, &args) != nil || args.URL == "" {
		return nil
	}
	client := c.proxy.config.Web
	client.Private = slices.Concat(client.Private, b.spec.Sandbox.Network.Private)
	request := outbound.Request{URL: args.URL, Headers: args.Headers, Timeout: time.Duration(args.Timeout) * time.Second}
	return &webCall{get: func(ctx context.Context) (outbound.Answer, error) {
		return client.Get(ctx, request, c.judgeRedirect)
	}}
}

// judgeRedirect judges a redirect as if the agent had made the same call with the new
// address. A redirect is followed only if it needs no approval, and only after that was
// recorded. A person who approved one address has approved no other, unless a grant covers
// the host.
func (c *call) judgeRedirect(ctx context.Context, url string, number int) error {
	arguments, err := withURL(c.verdict.Arguments, url)
	if err != nil {
		return err
	}
	hop := &call{proxy: c.proxy, agent: c.agent, id: c.id, target: c.target, arguments: arguments}
	hop.judge(ctx)
	v, asked := hop.verdict, bytes.Equal(hop.verdict.Arguments, arguments)
	switch {
	case v.Decision == policy.Allow && asked:
		hop.record.Decision = audit.Allow
	case v.Decision == policy.Escalate && asked && hop.granted(ctx):
	case v.Decision == policy.Escalate:
		hop.record.Decision, err = audit.Deny, fmt.Errorf("rule %s wants a person to approve it (%s); fetch that address by a call of its own", v.Rule, v.Reason)
	default:
		hop.record.Decision, err = audit.Deny, fmt.Errorf("rule %s denies it (%s)", v.Rule, v.Reason)
	}
	hop.record.Arguments, hop.record.Sandboxed = arguments, c.record.Sandboxed
	hop.record.Reason = fmt.Sprintf("redirect %d of the call: %s", number, v.Reason)
	if appendErr := hop.append(ctx, hop.record); appendErr != nil {
		return errors.Join(err, fmt.Errorf("the decision could not be recorded: %w", appendErr))
	}
	return err
}

// withURL returns the call's arguments with another address.
func withURL(arguments json.RawMessage, url string) (json.RawMessage, error) {
	v, err := jsonx.Parse(arguments, jsonx.Limits{})
	if err != nil {
		return nil, err
	}
	return v.With("url", jsonx.Text(url)).Encode(), nil
}

// openWeb lets the server ask for the request of a call while the call lasts.
func (sc *serverConn) openWeb(ctx context.Context, id json.RawMessage, w *webCall) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	sc.mu.Lock()
	w.ctx = ctx
	sc.webs[string(id)] = w
	sc.mu.Unlock()
	return ctx, func() {
		sc.mu.Lock()
		delete(sc.webs, string(id))
		sc.mu.Unlock()
		cancel()
	}
}

// startWeb starts a request that the server asks for. It reports false when there is no such
// request. The server is then refused, as for any other method.
func (sc *serverConn) startWeb(e jsonrpc.Message) bool {
	var p struct {
		Call json.RawMessage `json:"call"`
	}
	if json.Unmarshal(e.Params, &p) != nil {
		return false
	}
	sc.mu.Lock()
	w := sc.webs[string(p.Call)]
	mine := w != nil && !w.taken
	if mine {
		w.taken = true
	}
	sc.mu.Unlock()
	if !mine {
		return false
	}
	sc.readers.Go(func() {
		reply := jsonrpc.AnswerError(e.ID, errLeft)
		if sc.room.fetching.take(w.ctx, sc.life) == nil {
			defer sc.room.fetching.give()
			reply = w.answer(e.ID)
		}
		_ = sc.out.Send(reply) // a server that is gone needs no answer
	})
	return true
}

// answer makes the request and writes the message that answers the server.
func (w *webCall) answer(id json.RawMessage) []byte {
	got, err := w.get(w.ctx)
	if err != nil {
		return jsonrpc.AnswerError(id, jsonrpc.Refuse(jsonrpc.InternalError, "%v", err))
	}
	result, err := encode(fetch.Page{
		URL: got.URL, Status: got.Status, Headers: got.Headers, Body: got.Body, Truncated: got.Truncated, Redirects: got.Redirects,
	})
	if err != nil {
		return jsonrpc.AnswerError(id, err)
	}
	return jsonrpc.Answer(id, result)
}
