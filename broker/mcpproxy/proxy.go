package mcpproxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/grant"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/outbound"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/sandbox"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// Judge decides calls; *policy.Engine is one.
type Judge interface {
	Evaluate(policy.Call) policy.Verdict
	Visible(server, tool string) bool
	SchemaMatches(server, tool string, live []byte) error
	ToContainer(text string) string
	Hash() string
}

// Recorder makes decisions durable; *audit.Log is one.
type Recorder interface {
	Append(ctx context.Context, r audit.Record) error
	Post(ctx context.Context, r audit.Record) error // for what nothing depends on; must not wait
}

// Approver asks a person and waits; *approval.Queue is one.
type Approver interface {
	Ask(ctx context.Context, r approval.Request) (approval.Resolution, error)
	// Collapse counts a call that is refused without asking on a waiting one
	// like it, and reports whether there was one.
	Collapse(session, likeness string) bool
	// Resume reports, once, whether a call of a killed process was certainly never
	// let through, and Abandon takes back what nobody is to decide any more.
	Resume(session, ticket string) bool
	Abandon(session, ticket, reason string)
}

// Granter knows what a person allowed beforehand; *grant.Store is one.
type Granter interface {
	Match(c grant.Call) (grant.Grant, bool)
	Use(number int, c grant.Call) (grant.Grant, error)
}

// Starter runs servers; *sandbox.Host is one.
type Starter interface {
	Start(ctx context.Context, s sandbox.Spec) (*sandbox.Process, error)
}

// Config is everything a proxy needs.
type Config struct {
	Session   string
	Engine    Judge
	Servers   []sandbox.Spec
	Sandbox   Starter
	Approvals Approver  // nil: what would need a person is refused
	Grants    Granter   // nil: nothing is allowed beforehand
	Preview   Previewer // nil: a person sees the arguments alone
	Audit     Recorder
	// EscalationTimeout is how long a call waits for a person; 0 leaves it to
	// the queue.
	EscalationTimeout time.Duration
	// Activity is told what happens, for showing it; it must not block. Nil
	// is silent.
	Activity func(Activity)
	Secrets  []string // known values that never reach the agent
	// Web makes the web requests of servers whose network is judged. The zero
	// value reaches the public web; hosts that a server lists as private are
	// added for that server.
	Web outbound.Client
	// Known is what the servers are known to offer: they run only while calls need
	// them. Nil: they run all the time.
	Known *Known
	// Builtins are tools that the host carries out itself.
	Builtins []Builtin
	// Tickets has the clients told by what they can resume a call that waits, should
	// this process be killed.
	Tickets bool
	Widen   string // how a person opens a directory to the sandboxes, for agents to pass on
	Limits  Limits
}

// Limits bound what agents and servers can use up. Zero means the default.
type Limits struct {
	Line        int           // bytes of a message, either way; 10 MiB
	InFlight    int           // unanswered requests of one connection; 256
	PerServer   int           // calls that one server works on at a time; 32
	Call        time.Duration // time a server has for a call; 5 minutes
	Start       time.Duration // time a server has to start; 60 seconds
	Tools       int           // tools of one server; 512
	Escalations int           // calls a minute that may ask a person; 120
	Alike       int           // of them, those that differ in details only; 60
	Repeats     int           // equal calls a minute; 0 means no limit
	Progress    time.Duration // between signs of life while a call waits; 3 seconds
	Roots       time.Duration // time a server has to learn of other roots; 5 seconds
	Backoff     time.Duration // before the first restart of a server; 250 ms
	Rest        time.Duration // without calls, before a server that is known is stopped; 2 minutes
}

func (l Limits) orDefaults() Limits {
	number := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	span := func(v *time.Duration, d time.Duration) {
		if *v <= 0 {
			*v = d
		}
	}
	number(&l.Line, 10<<20)
	number(&l.InFlight, 256)
	number(&l.PerServer, 32)
	number(&l.Tools, 512)
	number(&l.Escalations, 120)
	number(&l.Alike, 60)
	span(&l.Call, 5*time.Minute)
	span(&l.Start, time.Minute)
	span(&l.Progress, 3*time.Second)
	span(&l.Roots, 5*time.Second)
	span(&l.Backoff, 250*time.Millisecond)
	span(&l.Rest, 2*time.Minute)
	return l
}

// ActivityKind says what happened.
type ActivityKind string

// The kinds of activity.
const (
	CallBegan    ActivityKind = "call-began"
	CallEnded    ActivityKind = "call-ended"
	WaitBegan    ActivityKind = "wait-began" // for a person
	WaitEnded    ActivityKind = "wait-ended"
	ClientCame   ActivityKind = "client-came"
	ClientLeft   ActivityKind = "client-left"
	ToolsListed  ActivityKind = "tools-listed" // a client has been told what there is
	ServerUp     ActivityKind = "server-up"
	ServerDown   ActivityKind = "server-down"
	ServerFailed ActivityKind = "server-failed" // a call needed it and it did not start; Detail says why
	ToolsChanged ActivityKind = "tools-changed"
	CallGranted  ActivityKind = "call-granted" // by what a person allowed beforehand; Detail names it
	CallUnasked  ActivityKind = "call-unasked" // refused because too many ask, and none like it waits
)

// Activity is one thing that happened in the proxy.
type Activity struct {
	Kind   ActivityKind
	Server string
	Tool   string
	Detail string
	Number int // of the grant that let a call through
}

// Proxy is the tool side of one session.
type Proxy struct {
	config Config
	limits Limits
	judge  atomic.Pointer[Judge]
	redact *audit.Redactor

	backends []*backend
	catalog  atomic.Pointer[catalog]
	relist   sync.Mutex // orders rebuilding the catalog
	rate     *rates
	workDir  atomic.Pointer[string] // of the git server

	waits    context.Context // ends when Close begins: nobody waits for a person any more
	endWaits context.CancelFunc
	life     context.Context // ends when Close has drained
	endLife  context.CancelFunc

	mu        sync.Mutex
	closed    bool
	listeners map[net.Listener]struct{}
	sessions  map[*session]struct{}
	group     sync.WaitGroup // sessions and accept loops
}

// New makes a proxy. Start comes next.
func New(c Config) (*Proxy, error) {
	if c.Engine == nil || c.Audit == nil || c.Sandbox == nil {
		return nil, errors.New("tool proxy: an engine, an audit log and a sandbox are needed")
	}
	p := &Proxy{
		config: c, limits: c.Limits.orDefaults(), redact: audit.NewRedactor(c.Secrets),
		listeners: map[net.Listener]struct{}{}, sessions: map[*session]struct{}{},
	}
	p.rate = newRates(p.limits, time.Now)
	p.judge.Store(&c.Engine)
	p.waits, p.endWaits = context.WithCancel(context.Background())
	p.life, p.endLife = context.WithCancel(context.Background())
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

// Start starts all servers that are not known, side by side, and lists their tools.
// When one cannot be started none is left running.
func (p *Proxy) Start(ctx context.Context) error {
	errs := make([]error, len(p.backends))
	var group sync.WaitGroup
	for i, b := range p.backends {
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

// Tools is how many tools the agent is offered.
func (p *Proxy) Tools() int { return len(p.catalog.Load().offered) }

// Hidden says which tools of the servers the agent is not offered, as
// "server/tool", and why.
func (p *Proxy) Hidden() map[string]string {
	all := map[string]string{}
	for t, why := range p.catalog.Load().hidden {
		all[t.server+"/"+t.tool] = why
	}
	return all
}

// Reload puts another engine in the place of the one that judges. Calls that
// wait are judged by the new one when they go on.
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

// Serve accepts clients until the listener or the proxy is closed.
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
		conn, err := l.Accept()
		if err != nil {
			p.mu.Lock()
			closed := p.closed
			delete(p.listeners, l)
			p.mu.Unlock()
			if closed || errors.Is(err, net.ErrClosed) {
				return nil
			}
			return fmt.Errorf("tool proxy: accept: %w", err)
		}
		s := p.admit(conn)
		if s == nil {
			_ = conn.Close()
			return nil
		}
		go func() { _ = p.serve(s) }() // how one client left is of no concern to the others
	}
}

// ServeConn serves one client on a connection and returns when it has left.
func (p *Proxy) ServeConn(conn io.ReadWriteCloser) error {
	s := p.admit(conn)
	if s == nil {
		return errors.Join(net.ErrClosed, conn.Close())
	}
	return p.serve(s)
}

// admit makes a session, or nil when the proxy is closed.
func (p *Proxy) admit(conn io.ReadWriteCloser) *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	s := newSession(p, conn)
	p.sessions[s] = struct{}{}
	p.group.Add(1)
	return s
}

func (p *Proxy) serve(s *session) error {
	defer p.group.Done()
	p.announce(Activity{Kind: ClientCame})
	err := s.run()
	p.mu.Lock()
	delete(p.sessions, s)
	p.mu.Unlock()
	p.announce(Activity{Kind: ClientLeft})
	return err
}

// Close stops taking requests, withdraws what waits for a person, lets the
// calls that servers work on finish until ctx ends, and stops the servers.
func (p *Proxy) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	var err error
	for l := range p.listeners {
		err = errors.Join(err, l.Close())
	}
	open := make([]*session, 0, len(p.sessions))
	for s := range p.sessions {
		open = append(open, s)
	}
	p.mu.Unlock()
	p.endWaits()
	var drained sync.WaitGroup
	for _, s := range open {
		drained.Go(func() { s.drain(ctx) })
	}
	drained.Wait()
	p.endLife()
	p.stopBackends()
	p.group.Wait()
	return err
}

func (p *Proxy) stopBackends() {
	var group sync.WaitGroup
	for _, b := range p.backends {
		group.Go(b.close)
	}
	group.Wait()
}
