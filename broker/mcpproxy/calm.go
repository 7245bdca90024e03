package mcpproxy

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonrpc"
)

// Messages to the bridge about a call that arrives while the proxy is calm.
const (
	notifyUnbegun = "notifications/ironcurtain/unbegun" // the call has not begun: the bridge can ask the next host for it
	notifyBegun   = "notifications/ironcurtain/begun"   // the call begins now
)

// calmness makes calls wait before they begin.
type calmness struct {
	mu    sync.Mutex
	ended chan struct{} // closed when the calm ends; nil: there is none
	begun int           // calls that have begun and not ended
}

// Calm makes calls that arrive from now on wait, until it is called with false. The bridges are
// told, so that they can ask another host.
func (p *Proxy) Calm(calm bool) {
	p.calm.mu.Lock()
	defer p.calm.mu.Unlock()
	switch {
	case calm && p.calm.ended == nil:
		p.calm.ended = make(chan struct{})
	case !calm && p.calm.ended != nil:
		close(p.calm.ended)
		p.calm.ended = nil
	}
}

// Begun returns how many calls have begun and not ended, those that wait for a person included.
func (p *Proxy) Begun() int {
	p.calm.mu.Lock()
	defer p.calm.mu.Unlock()
	return p.calm.begun
}

// begin begins a call, after the calm if there is one. The caller calls end when the call has
// ended; end is nil when ctx has ended first.
func (c *calmness) begin(ctx context.Context, tell func(method string)) (end func()) {
	told := false
	for {
		c.mu.Lock()
		wait := c.ended
		if wait == nil && !told {
			c.begun++
			c.mu.Unlock()
			return c.end
		}
		c.mu.Unlock()
		if wait == nil {
			tell(notifyBegun)
			told = false
			continue
		}
		if !told {
			tell(notifyUnbegun)
			told = true
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil
		}
	}
}

// beginInside begins a call of a running program, which does not wait for the end of a calm. Begun
// counts the program as well as its waiting calls, so it exceeds the number of waiting calls while
// a program runs. A waiting call alone could be continued by another process.
func (c *calmness) beginInside() (end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun++
	return c.end
}

// end ends a call that has begun.
func (c *calmness) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun--
}

// sayBegun tells the bridge whether a call has begun. The bridge knows it when sayBegun returns,
// even if this process is killed then.
func (cn *agentConn) sayBegun(id json.RawMessage, method string) {
	params, err := encode(map[string]any{"requestId": id})
	if err == nil && cn.out.Send(jsonrpc.Notification(method, params)) == nil {
		cn.out.Settle()
	}
}

// Rest ends the servers that no call needs, and waits for their end, for limit at most. The next
// call that needs one starts it.
func (p *Proxy) Rest(limit time.Duration) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		var group sync.WaitGroup
		for _, b := range p.servers() {
			group.Go(b.rest)
		}
		group.Wait()
	}()
	select {
	case <-ended:
	case <-time.After(limit):
	}
}

// rest ends the server if it runs and no call needs it.
func (b *backend) rest() {
	b.mu.Lock()
	sc := b.conn
	if sc == nil || b.demand.calls > 0 {
		b.mu.Unlock()
		return
	}
	b.conn, b.up, b.demand.stopped = nil, make(chan struct{}), true
	if b.git {
		b.proxy.workDir.Store(nil)
	}
	rested := b.rested
	b.mu.Unlock()
	select {
	case rested <- struct{}{}: // keep closes the connection
		b.keeper.Wait()
	case <-b.ctx.Done():
	}
}
