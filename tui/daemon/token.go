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

// tokenSocket is the socket for clients with a token. It exists while there is a token.
type tokenSocket struct {
	ctx   context.Context // ends with the daemon
	mu    sync.Mutex
	close func() // nil: there is no socket
}

// serveTokens starts to serve clients with a token, until ctx ends. When it returns, the socket is
// open if there is a token, so tokens work as soon as the daemon serves clients.
func (d *Daemon) serveTokens(ctx context.Context) {
	d.tokenSocket.ctx = ctx
	// A killed daemon may have left its socket, on which nobody listens.
	if err := os.Remove(d.TokenSocket); err != nil && !errors.Is(err, os.ErrNotExist) {
		d.Log.Error("remove the socket for clients with a token", "error", err)
	}
	changed, expires := d.updateTokenSocket()
	d.conns.Go(func() {
		for {
			var expired <-chan time.Time
			if expires > 0 {
				expired = time.After(expires)
			}
			select {
			case <-changed:
			case <-expired:
			case <-ctx.Done():
				return
			}
			changed, expires = d.updateTokenSocket()
		}
	})
}

// updateTokenSocket opens the socket if there is a token, and closes it if there is none. The caller
// calls it again once changed is closed, and after the time expires unless that is zero.
func (d *Daemon) updateTokenSocket() (changed <-chan struct{}, expires time.Duration) {
	d.tokenSocket.mu.Lock()
	defer d.tokenSocket.mu.Unlock()
	live, changed, expires := d.Tokens.Live()
	switch {
	case live && d.tokenSocket.close == nil:
		l, err := wire.ListenPrivate(d.TokenSocket)
		if err != nil {
			d.Log.Error("clients with a token are not served", "error", err)
			break
		}
		ctx, cancel := context.WithCancel(d.tokenSocket.ctx)
		served := make(chan struct{})
		d.conns.Go(func() {
			defer close(served)
			if err := d.accept(ctx, l, maxTokenConns, d.serveToken); err != nil {
				d.Log.Error("clients with a token are no longer served", "error", err)
			}
		})
		d.tokenSocket.close = func() { cancel(); <-served }
	case !live && d.tokenSocket.close != nil:
		d.tokenSocket.close()
		d.tokenSocket.close = nil
	}
	return changed, expires
}

// serveToken serves one client with a token, until the token ends.
func (d *Daemon) serveToken(ctx context.Context, unix *net.UnixConn) {
	c := wire.NewConn(unix)
	defer c.Close()
	defer d.closeOnPanic(c)
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
		return // the client was refused, or is gone
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

// admit returns the token that a client has shown, or why it is refused. It gives the client the
// token's name.
func (d *Daemon) admit(h *wire.Hello) (t token.Token, ended <-chan struct{}, refused wire.Refused) {
	t, ended, err := d.Tokens.Check(h.Token)
	if err != nil && !errors.Is(err, token.ErrLocked) { // while tokens are locked, entries would only flood the log
		d.Log.Warn("a wrong token was shown")
	}
	if err != nil {
		return t, nil, wire.Refused{Reason: err.Error(), Next: fault.Hint(err)}
	}
	if h.Kind != wire.ForCalls || h.Rights != wire.Answer {
		return t, nil, wire.Refused{Reason: "a token can only be used to answer calls"}
	}
	h.Token, h.Name, h.Terminal = "", t.Name, ""
	return t, ended, d.refuse(h)
}

// answerAboutTokens lists, makes or revokes tokens for a client.
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
	d.updateTokenSocket()    // a new token works as soon as the client has the answer
	_ = c.Send(kind, answer) // the client may be gone
}
