package mcpproxy

import (
	"bufio"
	"context"
	"io"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/remote"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/sandbox"
)

// peer is a running server: a *sandbox.Process, or a *remote.Conn to one that is reached
// over HTTP.
type peer interface {
	Stdin() io.WriteCloser // takes messages, one a line
	Stdout() *bufio.Reader // gives messages, one a line
	Sandboxed() bool
	Done() <-chan struct{} // closed when it has ended
	Err() error            // how it ended, after Done
	LastWords() string     // more about why it ended, or ""
	Stop()
}

// startPeer starts the server's process, or prepares the connection to a server that is
// reached over HTTP.
func (b *backend) startPeer(ctx context.Context, spec sandbox.Spec) (peer, error) {
	if spec.Remote == nil {
		return b.proxy.config.Sandbox.Start(ctx, spec)
	}
	options := remote.Options{Address: spec.Remote.Address, Header: spec.Remote.Header(spec.Env), Limit: b.proxy.limits.Line}
	if spec.Remote.Login != nil {
		options.Login = hiddenLogin{spec.Remote.Login, b.proxy}
	}
	return remote.Dial(options)
}

// hiddenLogin is a login whose tokens never reach the agent.
type hiddenLogin struct {
	remote.Login
	proxy *Proxy
}

func (h hiddenLogin) Token(ctx context.Context) (string, error) {
	token, err := h.Login.Token(ctx)
	h.proxy.hide([]string{token})
	return token, err
}

func (h hiddenLogin) Renew(ctx context.Context, rejected string) (string, error) {
	token, err := h.Login.Renew(ctx, rejected)
	h.proxy.hide([]string{token})
	return token, err
}

// began returns the audit's words for the start of the server.
func (b *backend) began() string {
	if b.spec.Remote != nil {
		return "server connected over HTTP"
	}
	return "server started"
}

// stopUntilCall notes that a server could not be reached, and is not tried again until a call needs
// it.
func (b *backend) stopUntilCall(why error) {
	b.mu.Lock()
	b.demand.stopped, b.demand.failure = true, why
	b.mu.Unlock()
	b.proxy.announce(Activity{Kind: ServerFailed, Server: b.spec.Name, Detail: why.Error()})
}
