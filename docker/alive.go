package docker

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Alive checks that the engine answers, for a caller that asks again and again.
//
// It pings an engine of this machine. To any other engine it keeps one request open for as long as
// the client is used, and sends nothing more: within half a minute the kernel notices that the
// connection is dead. It does not notice an engine that hangs but keeps its connections. Alive
// returns nil until an attempt has failed.
func (c *Client) Alive(ctx context.Context) error {
	if c.endpoint.Local() {
		return c.Ping(ctx)
	}
	if err := c.watch.start(c); err != nil {
		return fault.Wrap("reach the engine", refusal(ctx, c.endpoint, err), refuseHint)
	}
	return nil
}

// RoundTrip returns how long the engine takes to answer a ping on an open connection: the median of
// three.
func (c *Client) RoundTrip(ctx context.Context) (time.Duration, error) {
	var took []time.Duration
	for range 4 { // the first one may open the connection
		began := time.Now()
		if err := c.Ping(ctx); err != nil {
			return 0, err
		}
		took = append(took, time.Since(began))
	}
	took = took[1:]
	slices.Sort(took)
	return took[1], nil
}

// How long a watch pauses before it connects again: longer each time.
const (
	watchPause    = 250 * time.Millisecond
	watchMaxPause = 5 * time.Second
)

// watch is the open request by which a client knows that an engine on another machine is alive.
type watch struct {
	mu     sync.Mutex
	cancel context.CancelFunc // nil before start
	done   chan struct{}      // closed when the goroutine has ended
	failed error              // of the last attempt to open the request
}

// start begins to watch, unless that was done before, and returns why the last attempt to
// reach the engine failed.
func (w *watch) start(c *Client) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cancel == nil {
		var ctx context.Context
		ctx, w.cancel = context.WithCancel(context.Background())
		w.done = make(chan struct{})
		go w.run(ctx, c)
	}
	return w.failed
}

// stop ends the watch for good and waits for it.
func (w *watch) stop() {
	w.mu.Lock()
	cancel, done := w.cancel, w.done
	w.mu.Unlock()
	if cancel != nil {
		cancel()
		<-done
	}
}

func (w *watch) run(ctx context.Context, c *Client) {
	defer close(w.done)
	for pause := watchPause; ctx.Err() == nil; pause = min(2*pause, watchMaxPause) {
		err := c.holdRequest(ctx, func() {
			w.set(nil)
			pause = watchPause
		})
		c.base.CloseIdleConnections() // they are dead, too
		w.set(err)
		wait := time.NewTimer(pause)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
		}
	}
}

func (w *watch) set(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed = err
}

// holdRequest keeps a request open that the engine accepts but never answers: for events that do not
// occur. It returns nil when an accepted request has ended, and when a proxy in front of the engine
// rejects the request, because that shows that something answers.
func (c *Client) holdRequest(ctx context.Context, accepted func()) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limit := time.AfterFunc(pingLimit, func() { cancel(context.DeadlineExceeded) })
	query := url.Values{"filters": {`{"type":["daemon"],"event":["none"]}`}}
	resp, err := c.base.RoundTrip(c.getRequest(ctx, "/events", query))
	if !limit.Stop() || err != nil {
		if err == nil {
			resp.Body.Close()
		}
		return errors.Join(context.Cause(ctx), err)
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode >= http.StatusInternalServerError:
		return because(ErrEngineRefuses, "events: %s", resp.Status)
	case resp.StatusCode != http.StatusOK:
		return nil
	}
	accepted()
	_, _ = io.Copy(io.Discard, resp.Body)
	return nil
}
