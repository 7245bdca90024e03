package docker

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	engine "github.com/fsouza/go-dockerclient"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Client talks to one engine. It is safe for concurrent use. It keeps idle connections only to an
// engine on another machine, because opening one takes several round trips.
type Client struct {
	endpoint Endpoint
	dial     dialer
	base     *http.Transport
	api      *engine.Client // never called directly: bound returns a copy with a context
	info     Info
	confined atomic.Bool    // the engine cannot raise limits; see ownLimits
	cleanups sync.WaitGroup // removals that outlive the call that started them
	watch    watch

	users struct { // see KeepsUser
		sync.Mutex
		asked, kept bool
	}
}

// pingLimit is how long the engine may take to answer a ping.
const pingLimit = 10 * time.Second

// How many idle connections to an engine on another machine are kept, and for how long.
const (
	maxIdle   = 4
	idleLimit = 90 * time.Second
)

// Probe checks that something listens at e, without sending a request. Its errors are
// those of Connect.
func Probe(ctx context.Context, e Endpoint) error {
	d, err := newDialer(e)
	if err == nil {
		defer d.close()
		err = e.advise(d.probe(ctx))
	}
	return fault.Wrap("connect to Docker", err, "")
}

// Connect checks that an engine answers at e and asks what it can do. Its errors are
// ErrNoEngine, ErrEngineNotRunning, ErrPermission, ErrEngineRefuses and others, with a hint.
func Connect(ctx context.Context, e Endpoint) (*Client, error) {
	const op = "connect to Docker"
	d, err := newDialer(e)
	if err != nil {
		return nil, fault.Wrap(op, err, "")
	}
	c, err := d.connect(ctx, e)
	if err != nil {
		d.close()
		return nil, fault.Wrap(op, err, "")
	}
	return c, nil
}

// connect is Connect with a dialer for the endpoint.
func (d dialer) connect(ctx context.Context, e Endpoint) (*Client, error) {
	if err := e.advise(d.probe(ctx)); err != nil {
		return nil, err
	}
	address := e.Address
	switch {
	case d.tls != nil:
		address = "https://" + d.address
	case d.ssh != nil:
		address = "http://" + placeholder
	}
	// NewClient would ask for the engine's version at the first start of a container,
	// without a lock. NewVersionedClient asks here, once.
	api, err := engine.NewVersionedClient(address, "")
	if err != nil {
		return nil, because(ErrEndpoint, "%s: %v", e.Address, err)
	}
	c := &Client{endpoint: e, dial: d, api: api, base: &http.Transport{
		DialContext:       d.dialContext,
		TLSClientConfig:   d.tls,
		DisableKeepAlives: e.Local(),
		// Few, because all of them are dead after this machine has slept.
		IdleConnTimeout:     idleLimit,
		MaxIdleConnsPerHost: maxIdle,
	}}
	if err := c.meet(ctx); err != nil {
		c.base.CloseIdleConnections()
		return nil, fault.Wrap("", err, refuseHint)
	}
	return c, nil
}

// meet checks that the engine answers and asks what it can do.
func (c *Client) meet(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, pingLimit+c.dial.patience())
	defer cancel()
	c.api = c.bound(ctx)
	err = c.api.Ping()
	// An ssh server that forwards no sockets closes each forwarded connection.
	if err != nil && status(err) == 0 && ctx.Err() == nil && c.dial.fallBack() {
		c.base.CloseIdleConnections()
		err = c.api.Ping()
	}
	if err != nil {
		return refusal(ctx, c.endpoint, err)
	}
	if c.info, err = c.ask(ctx); err != nil {
		return refusal(ctx, c.endpoint, err)
	}
	return nil
}

// refusal describes how the engine failed to answer on a connection that it accepted.
func refusal(ctx context.Context, e Endpoint, err error) error {
	if ctx.Err() != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return because(ErrEngineRefuses, "no answer at %s within %s", e.Address, pingLimit)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var known *fault.Error // for example from ssh, with the reason
	if errors.As(err, &known) {
		return known
	}
	return because(ErrEngineRefuses, "%s: %v", e.Address, translate(err))
}

// Version asks the engine again for what Connect learned about it.
func (c *Client) Version(ctx context.Context) (Info, error) {
	info, err := c.ask(ctx)
	return info, fault.Wrap("ask the engine for its version", err, refuseHint)
}

// Ping checks that the engine answers.
func (c *Client) Ping(ctx context.Context) error {
	if err := c.bound(ctx).Ping(); err != nil {
		return fault.Wrap("ask the engine", refusal(ctx, c.endpoint, err), refuseHint)
	}
	return nil
}

// Info returns what Connect learned about the engine.
func (c *Client) Info() Info { return c.info }

// retryPause returns how long to wait before opening a lasting request again after the engine has
// closed it or gone away.
func (c *Client) retryPause() time.Duration {
	if c.endpoint.Local() {
		return 250 * time.Millisecond
	}
	return 2 * time.Second
}

// Endpoint returns the endpoint that the client is connected to.
func (c *Client) Endpoint() Endpoint { return c.endpoint }

// Close waits for removals that are still under way, at most until ctx ends, and closes
// idle connections; over ssh, all of them. The client must not be used afterwards.
func (c *Client) Close(ctx context.Context) error {
	defer c.dial.close()
	defer c.base.CloseIdleConnections()
	c.watch.stop()
	done := make(chan struct{})
	go func() { c.cleanups.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fault.Wrap("remove unfinished containers", ctx.Err(), "run 'ironcurtain-mux gc'")
	}
}
