package daemon

import (
	"context"
	"fmt"
	"net"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire/calls"
)

// talk serves one client. It reports whether the client ends everything; then its connection stays
// open for the result.
func (d *Daemon) talk(ctx context.Context, c *wire.Conn, unix *net.UnixConn) (quit bool) {
	defer context.AfterFunc(ctx, func() { _ = unix.CloseRead() })() // the client may send nothing for long
	if err := wire.CheckPeer(unix); err != nil {
		d.Log.Warn("a client was refused", "error", err)
		return false
	}
	hello, who, err := d.welcome(c, d.refuse)
	if err != nil {
		return false // the client was refused, or is gone
	}
	if hello.Kind == wire.ForCalls {
		d.serveCalls(ctx, c, hello, who)
		return false
	}
	c.SetReceiveLimit(helloLimit)
	f, err := c.Receive()
	c.SetReceiveLimit(0)
	defer f.Close()
	if err != nil {
		refuse(c, wire.Refused{Reason: err.Error()})
		return false
	}
	if f.Kind != wire.KindView && !mayAsk(hello.Rights, f.Kind) {
		refuse(c, wire.Refused{Reason: fmt.Sprintf("this client's right is %q, which does not allow the request %q", hello.Rights, f.Kind), Next: "use a client without limited rights"})
		return false
	}
	switch f.Kind { // requests that are answered at once
	case wire.KindClients:
		_ = c.Send(wire.KindShown, wire.Shown{Clients: d.listViews()}) // the client may be gone
		return false
	case wire.KindKick:
		d.kick(c, f)
		return false
	case wire.KindStop:
		return d.stop(c, f)
	case wire.KindTokens, wire.KindMakeToken, wire.KindRevokeToken:
		d.answerAboutTokens(c, f)
		return false
	}
	defer d.lasting.Add(-1)
	if d.lasting.Add(1) > maxConns {
		refuse(c, tooMany())
		return false
	}
	switch f.Kind {
	case wire.KindView:
		return d.show(ctx, c, unix, f, who, hello.Named)
	case wire.KindTask:
		d.task(ctx, c, unix, f, who.Client)
	case wire.KindUpgrade:
		d.upgrade(ctx, c, unix, f)
	default:
		refuse(c, wire.Refused{Reason: fmt.Sprintf("the daemon does not know the request %q", f.Kind)})
	}
	return false
}

// refuse tells a client why it is not served. The client may be gone.
func refuse(c *wire.Conn, why wire.Refused) { _ = c.Send(wire.KindRefused, why) }

// serveCalls serves a client without a view. When all connections are taken, it still serves the
// client for a brief time, because the client may want to deny a call.
func (d *Daemon) serveCalls(ctx context.Context, c *wire.Conn, hello wire.Hello, who wire.Client) {
	defer d.lasting.Add(-1)
	if d.lasting.Add(1) > maxConns {
		var end context.CancelFunc
		ctx, end = context.WithTimeout(ctx, d.brief)
		defer end()
	}
	calls.Serve(ctx, c, calls.Served{Broker: d.Calls, Right: hello.Rights, Client: who.Client, Hello: hello, Version: d.Version})
}

// mayAsk reports whether a client with a right may make a request about views or tasks.
func mayAsk(right wire.Right, kind string) bool {
	return right == wire.Operate || right == wire.See && kind == wire.KindClients
}
