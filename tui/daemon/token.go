package daemon

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/token"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire/calls"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// maxTokenConns is how many clients with a token are served at once.
const maxTokenConns = 16

// serveTokens serves clients with a token, on a socket that is there while a token is, until ctx
// ends.
func (d *Daemon) serveTokens(ctx context.Context) {
	// A daemon that was killed has left it: nobody listens there.
	if err := os.Remove(d.TokenSocket); err != nil && !errors.Is(err, os.ErrNotExist) {
		d.Log.Error("clients with a token are not served", "error", err)
		return
	}
	for d.awaitTokens(ctx, true) {
		door, cancel := context.WithCancel(ctx)
		served := make(chan struct{})
		go func() {
			defer close(served)
			if err := d.acceptTokens(door); err != nil {
				d.Log.Error("clients with a token are not served", "error", err)
			}
		}()
		d.awaitTokens(ctx, false)
		cancel()
		<-served
	}
}

// awaitTokens waits until there is a token, or none. It reports false when ctx has ended.
func (d *Daemon) awaitTokens(ctx context.Context, want bool) bool {
	for {
		live, changed, next := d.Tokens.Live()
		if live == want {
			return ctx.Err() == nil
		}
		var expired <-chan time.Time
		if next > 0 {
			expired = time.After(next)
		}
		select {
		case <-changed:
		case <-expired:
		case <-ctx.Done():
			return false
		}
	}
}

// acceptTokens serves clients with a token until ctx ends.
func (d *Daemon) acceptTokens(ctx context.Context) error {
	l, err := wire.ListenPrivate(d.TokenSocket)
	if err != nil {
		return err
	}
	return d.accept(ctx, l, maxTokenConns, d.serveToken)
}

// serveToken serves one client with a token, until the token ends.
func (d *Daemon) serveToken(ctx context.Context, unix *net.UnixConn) {
	c := wire.NewConn(unix)
	defer c.Close()
	defer d.contain(c)
	defer context.AfterFunc(ctx, func() { _ = unix.CloseRead() })()
	if err := wire.CheckPeer(unix); err != nil {
		d.Log.Warn("a client with a token was refused", "error", err)
		return
	}
	var shown token.Token
	var ended <-chan struct{}
	hello, who, err := d.welcome(c, func(h *wire.Hello) (refused wire.Refused) {
		shown, ended, refused = d.admit(h)
		return refused
	})
	if err != nil {
		return // a client that is gone, or none
	}
	d.Log.Info("a token is used", "name", shown.Name, "client", who.ID)
	ctx, cancel := context.WithDeadline(ctx, shown.Expires)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel()
	watching.Go(func() {
		select {
		case <-ended:
			cancel()
		case <-ctx.Done():
		}
	})
	api := calls.Within(d.Calls, calls.Scope{Sessions: shown.Sessions, DenyOnly: shown.DenyOnly, Until: shown.Expires})
	calls.Serve(ctx, c, calls.Served{Broker: api, Right: wire.Answer, Client: who.Client, By: "token", Hello: hello, Version: d.Version})
}

// admit returns the token that a client has shown, or why it is refused. The token says what the
// client is called.
func (d *Daemon) admit(h *wire.Hello) (t token.Token, ended <-chan struct{}, refused wire.Refused) {
	t, ended, err := d.Tokens.Check(h.Token)
	if err != nil && !errors.Is(err, token.ErrLocked) { // or nobody could read the log for them
		d.Log.Warn("a wrong token was shown")
	}
	if err != nil {
		return t, nil, wire.Refused{Reason: err.Error(), Next: fault.Hint(err)}
	}
	if h.Kind != wire.ForCalls || h.Rights != wire.Answer {
		return t, nil, wire.Refused{Reason: "a token is for answering calls, and for nothing else"}
	}
	h.Token, h.Name, h.Terminal = "", t.Name, ""
	return t, ended, d.refuse(h)
}

// answerAboutTokens answers a client that asks for a token, or about them.
func (d *Daemon) answerAboutTokens(c *wire.Conn, f wire.Frame) {
	kind, answer, err := wire.KindEnd, any(wire.End{}), error(nil)
	switch {
	case d.Tokens == nil:
		err = errors.New("this process has no tokens")
	case f.Kind == wire.KindTokens:
		kind, answer = wire.KindTokens, wire.Tokens{Tokens: d.Tokens.List()}
	case f.Kind == wire.KindMakeToken:
		var m wire.MakeToken
		var made wire.Made
		if err = f.Into(&m); err == nil {
			made.Secret, err = d.Tokens.Make(m.Name, m.Sessions, m.DenyOnly, m.Life)
		}
		kind, answer = wire.KindMade, made
	case f.Kind == wire.KindRevokeToken:
		var r wire.RevokeToken
		if err = f.Into(&r); err == nil {
			err = d.Tokens.Revoke(r.Name)
		}
		answer = wire.End{Reason: "the token " + r.Name + " is revoked"}
	}
	if err != nil {
		refuse(c, wire.Refused{Reason: err.Error(), Next: fault.Hint(err)})
		return
	}
	_ = c.Send(kind, answer) // the client may be gone
}
