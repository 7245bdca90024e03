package mcpproxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/sandbox"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/accept"
)

// Proxy is the tool side of one session.
type Proxy struct {
	config  Config
	limits  Limits
	judge   atomic.Pointer[Judge]
	judging *semaphore.Weighted // held while a call is judged
	redact  atomic.Pointer[audit.Redactor]

	catalog atomic.Pointer[catalog]
	relist  sync.Mutex // held while the catalog is rebuilt
	rate    *rates
	calm    calmness
	room    *room
	barrier *barrier               // nil: agent and tools share their files
	workDir atomic.Pointer[string] // of the git server

	recalled   atomic.Int32           // how often Config.Past was read
	resuming   sync.Mutex             // held by waitingOf
	lastFutile atomic.Pointer[string] // why a call was last refused without asking

	waits    context.Context // ends when Close begins, and with it every wait for a person
	endWaits context.CancelFunc
	life     context.Context // ends when Close has drained the connections
	endLife  context.CancelFunc

	mu          sync.Mutex
	backends    []*backend // in order; a slice that was handed out is not changed
	secrets     []string   // known to redact
	closed      bool
	listeners   map[net.Listener]struct{}
	connections map[*agentConn]struct{}
	group       sync.WaitGroup // connections and accept loops
}

// New returns a proxy. The caller must call Start.
func New(c Config) (*Proxy, error) {
	if c.Engine == nil || c.Audit == nil || c.Sandbox == nil {
		return nil, errors.New("tool proxy: an engine, an audit log and a sandbox are needed")
	}
	p := &Proxy{
		config: c, limits: c.Limits.orDefaults(), secrets: slices.Clone(c.Secrets),
		listeners: map[net.Listener]struct{}{}, connections: map[*agentConn]struct{}{},
	}
	p.redact.Store(audit.NewRedactor(p.secrets))
	p.judging = semaphore.NewWeighted(maxJudged)
	p.rate, p.room = newRates(p.limits, time.Now), newRoom(p.limits.Room)
	p.judge.Store(&c.Engine)
	p.waits, p.endWaits = context.WithCancel(context.Background())
	p.life, p.endLife = context.WithCancel(context.Background())
	if c.Workspace != nil {
		p.barrier = newBarrier(p.life, c.Workspace, p.limits.Call)
	}
	names := map[string]bool{}
	for _, s := range c.Servers {
		if s.Name == "" || names[s.Name] || reserved(s.Name) {
			return nil, fmt.Errorf("tool proxy: server name %q is empty, reserved or used twice", s.Name)
		}
		names[s.Name] = true
		p.backends = append(p.backends, newBackend(p, s))
	}
	p.catalog.Store(newCatalog(nil))
	return p, nil
}

// hide adds secrets that must not reach the agent.
func (p *Proxy) hide(secrets []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := len(p.secrets)
	for _, s := range secrets {
		if !slices.Contains(p.secrets, s) {
			p.secrets = append(p.secrets, s)
		}
	}
	if len(p.secrets) == known {
		return
	}
	p.redact.Store(audit.NewRedactor(p.secrets))
}

// AwaitOwn waits until each server of the person's own runs or has failed to start, or until ctx
// ends.
func (p *Proxy) AwaitOwn(ctx context.Context) {
	for _, b := range p.servers() {
		b.mu.Lock()
		starting := b.demand.starting
		b.mu.Unlock()
		if starting == nil {
			continue
		}
		select {
		case <-starting:
		case <-ctx.Done():
		}
	}
}

// Start starts all servers whose tools are not known, in parallel, and lists their tools.
// When one cannot be started, it leaves none running.
func (p *Proxy) Start(ctx context.Context) error {
	all := p.servers()
	errs := make([]error, len(all))
	var group sync.WaitGroup
	for i, b := range all {
		group.Go(func() { errs[i] = b.start(ctx) })
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		p.stopBackends()
		return fmt.Errorf("tool proxy: %w", err)
	}
	p.rebuild()
	return nil
}

// Add adds a server of the person's own and begins to start it. Its tools are offered once it
// runs, if the policy shows them.
func (p *Proxy) Add(s sandbox.Spec) error {
	b := newBackend(p, s)
	p.mu.Lock()
	defer p.mu.Unlock()
	taken := slices.ContainsFunc(p.backends, func(b *backend) bool { return b.spec.Name == s.Name })
	switch {
	case p.closed:
		return errors.New("the session has ended")
	case taken || reserved(s.Name):
		return fmt.Errorf("there is a server %q already", s.Name)
	}
	p.backends = append(slices.Clip(p.backends), b)
	return b.start(p.life) // before Close can stop it; it does not wait for an own server
}

// servers returns the present servers.
func (p *Proxy) servers() []*backend {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.backends
}

// Tools returns how many tools the agent is offered.
func (p *Proxy) Tools() int { return len(p.catalog.Load().offered) }

// Hidden returns why tools of the servers are not offered, by "server/tool".
func (p *Proxy) Hidden() map[string]string {
	all := map[string]string{}
	for t, why := range p.catalog.Load().hidden {
		all[t.server+"/"+t.tool] = why
	}
	return all
}

// Reload replaces the engine that judges. Calls that wait now are judged by the new engine after
// their decision.
func (p *Proxy) Reload(engine Judge) {
	p.judge.Store(&engine)
	p.rebuild()
	p.announce(Activity{Kind: ToolsChanged, Detail: "policy"})
}

func (p *Proxy) engine() Judge { return *p.judge.Load() }

func (p *Proxy) announce(a Activity) {
	if p.config.Activity != nil {
		p.config.Activity(a)
	}
}

// Serve accepts clients until the proxy is closed. An error means that the listener has
// failed and no client can connect any more.
func (p *Proxy) Serve(l net.Listener) error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return l.Close()
	}
	p.listeners[l] = struct{}{}
	p.group.Add(1)
	p.mu.Unlock()
	defer p.group.Done()
	for {
		conn, err := accept.Next(p.waits, l, p.acceptFailed)
		if err != nil {
			p.mu.Lock()
			closed := p.closed
			delete(p.listeners, l)
			p.mu.Unlock()
			if closed {
				return nil
			}
			return fmt.Errorf("tool proxy: accept: %w", err)
		}
		cn, err := p.admit(conn)
		if errors.Is(err, errCrowded) {
			p.recordRefused(context.Background(), err)
			_ = conn.Close()
			continue
		}
		if err != nil {
			_ = conn.Close()
			return nil
		}
		go func() { _ = p.serve(cn) }() // how one client left does not concern the others
	}
}

func (p *Proxy) acceptFailed(err error, _ time.Duration) {
	p.announce(Activity{Kind: AcceptFailed, Detail: err.Error()})
}

// ServeConn serves one client on a connection and returns when it has left.
func (p *Proxy) ServeConn(conn io.ReadWriteCloser) error {
	cn, err := p.admit(conn)
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	return p.serve(cn)
}

// errCrowded ends a connection beyond the limit. There is a limit because each connection
// can hold a long message in memory, and the container can open any number of them.
var errCrowded = errors.New("too many clients are connected; close one and try again")

// admit takes a connection unless the proxy is closed or has too many.
func (p *Proxy) admit(conn io.ReadWriteCloser) (*agentConn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, net.ErrClosed
	}
	if len(p.connections) >= p.limits.Clients {
		return nil, errCrowded
	}
	cn := newAgentConn(p, conn)
	p.connections[cn] = struct{}{}
	p.group.Add(1)
	return cn, nil
}

func (p *Proxy) serve(cn *agentConn) error {
	defer p.group.Done()
	p.announce(Activity{Kind: ClientCame})
	err := cn.run()
	p.mu.Lock()
	delete(p.connections, cn)
	p.mu.Unlock()
	p.announce(Activity{Kind: ClientLeft})
	return err
}

// Close accepts no more requests, withdraws the calls that wait for a person, lets servers finish
// their calls until ctx ends, and stops the servers.
func (p *Proxy) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	var err error
	for l := range p.listeners {
		err = errors.Join(err, l.Close())
	}
	p.mu.Unlock()
	p.endWaits()
	p.each(func(cn *agentConn) { cn.drain(ctx) })
	p.endLife()
	p.stopBackends()
	p.group.Wait()
	p.barrier.wait()
	return err
}

// Deliver accepts no more calls from the connected agents, and waits until they have the answers to
// their calls or until ctx ends. It is called before the agents are ended; Close follows.
func (p *Proxy) Deliver(ctx context.Context) {
	p.each(func(cn *agentConn) { cn.deliver(ctx) })
}

// each calls f for all connections at once and waits for it.
func (p *Proxy) each(f func(*agentConn)) {
	p.mu.Lock()
	open := slices.Collect(maps.Keys(p.connections))
	p.mu.Unlock()
	var group sync.WaitGroup
	for _, cn := range open {
		group.Go(func() { f(cn) })
	}
	group.Wait()
}

func (p *Proxy) stopBackends() {
	var group sync.WaitGroup
	for _, b := range p.servers() {
		group.Go(b.close)
	}
	group.Wait()
}
