package broker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/budget"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/grant"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/receipt"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/session"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Broker implements API in this process.
type Broker struct {
	config    Config // that the process was started with
	log       *slog.Logger
	hub       *hub
	approvals *approval.Queue
	receipts  *receipt.Store
	grants    *grant.Store
	redact    *audit.Redactor
	ledger    *budget.Ledger
	ctx       context.Context // ends every session
	cancel    context.CancelFunc
	hurried   context.Context // see Hurry
	hurry     context.CancelFunc
	work      sync.WaitGroup // the sessions' goroutines and the approval feed
	engine    engineHandle
	settings  atomic.Pointer[settings] // of sessions that open from now on
	applying  sync.Mutex               // held while another policy or configuration is put in force, or a tool server is added
	former    []*settings              // of sessions that opened before; the mutex applying guards it
	read      os.FileInfo              // config.json as it was read last; the mutex applying guards it

	mu         sync.Mutex
	sessions   []*session.Session        // in the order of the bar
	leaving    map[*session.Session]bool // are being closed, and have no place in the bar
	endNotices map[endNotice][]string    // what a person should know about ended sessions
	lives      int                       // how many lives there were so far; a resumed session has one more
	formerBar  []SessionID               // the order of the bar in a former process
	sweeping   *sweeping                 // nil before Sweep
	closed     bool
	refused    os.FileInfo // the state of config.json of which the person was told that it is refused
	review     *reviewed   // the policy that was read again last; nil before
	calmed     bool        // no session opens: the process is being upgraded

	keeping sync.Mutex  // held while the order of the bar is written down
	kept    []SessionID // that order; guarded by keeping

	upgrading sync.Mutex   // held while this process is to become another program
	deciding  sync.RWMutex // held for reading while something is decided
	undecided bool         // nothing is decided any more; guarded by deciding
}

var _ API = (*Broker)(nil)

// New makes a broker; nothing is started before the first session.
func New(c Config) (*Broker, error) {
	if c.Agents == nil {
		c.Agents = agent.Builtin()
	}
	if _, err := c.Agents.Named(c.DefaultAgent); err != nil {
		return nil, fmt.Errorf("default agent: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	b := &Broker{
		config:     c,
		log:        c.Log,
		hub:        newHub(),
		ctx:        ctx,
		cancel:     cancel,
		endNotices: map[endNotice][]string{},
		leaving:    map[*session.Session]bool{},
		engine:     engineHandle{choice: c.Engine},
		read:       stateOf(c.ConfigFile),
	}
	b.formerBar = b.formerOrder()
	b.settings.Store(b.newSettings(&b.config))
	b.hurried, b.hurry = context.WithCancel(context.Background())
	b.receipts = receipt.New(receipt.Options{Hold: c.ReceiptHold, Changed: b.relayReceipt})
	b.grants = grant.New(nil)
	b.grants.KeepIn(func(session string) string { return stored.LayoutOf(c.Home, session).Grants() })
	b.redact = audit.NewRedactor(c.Secrets)
	b.ledger = budget.NewLedger(filepath.Join(c.Home, "used.json"))
	b.approvals = approval.New(approval.Options{Timeout: c.EscalationTimeout, Away: c.Away})
	b.work.Go(b.relayApprovals)
	b.work.Go(b.watchEngine)
	b.work.Go(b.watchFiles)
	return b, nil
}

// SetAway says whether nobody is there to decide. While nobody is, the time limits of waiting tool
// calls are paused, for Config.Away at most.
func (b *Broker) SetAway(away bool) { b.approvals.SetAway(away) }

// Hurry makes sessions that end from now on, or are ending, look only briefly at what their agents
// have left. Whatever they cannot finish is done by 'sessions rm', or when the session ends again.
func (b *Broker) Hurry() { b.hurry() }

// Shutdown ends every session and waits until all are taken down. It returns an error
// when ctx ends before.
func (b *Broker) Shutdown(ctx context.Context) error {
	b.mu.Lock()
	b.closed = true
	open := append([]*session.Session(nil), b.sessions...)
	b.mu.Unlock()
	for _, s := range open {
		s.Stop() // first ask all to end, then wait for each
	}
	var all []error
	for _, s := range open {
		all = append(all, s.Close(ctx))
	}
	b.approvals.Close()
	b.cancel()
	all = append(all, b.waitForWork(ctx))
	b.hub.close()
	all = append(all, b.engine.close(ctx))
	return errors.Join(all...)
}

// waitForWork waits for the broker's goroutines.
func (b *Broker) waitForWork(ctx context.Context) error {
	ended := make(chan struct{})
	go func() { b.work.Wait(); close(ended) }()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the end of the sessions: %w", context.Cause(ctx))
	}
}

// Agents lists the agents a session can be opened with, by the present config.json.
func (b *Broker) Agents(ctx context.Context) ([]Agent, error) {
	if err := b.Refresh(ctx); err != nil {
		_ = b.Outdated(err)
	}
	var out []Agent
	for _, a := range b.settings.Load().config.Agents.All() {
		out = append(out, Agent{Name: a.Name, Title: a.Title})
	}
	return out, nil
}

// Open creates a session, or continues a stored one, and begins to start its
// agent.
func (b *Broker) Open(ctx context.Context, r OpenRequest) (Session, error) {
	prepare := session.New
	if r.Resume != "" {
		// The sweep holds the lease of each session that it is examining.
		if _, err := b.LeftRunning(ctx); err != nil {
			return Session{}, fmt.Errorf("open session: %w", err)
		}
		if err := b.awaitEnd(ctx, r.Resume); err != nil {
			return Session{}, fmt.Errorf("open session: %w", err)
		}
		prepare = session.Resume
	}
	if err := b.Refresh(ctx); err != nil {
		_ = b.Outdated(err)
	}
	d, err := b.depsOf(ctx, r)
	if err != nil {
		return Session{}, fmt.Errorf("open session: %w", err)
	}
	s, err := prepare(d, r)
	if err != nil {
		return Session{}, fmt.Errorf("open session: %w", err)
	}
	moved, err := b.admit(s, r)
	if err != nil {
		s.Stop()
		return Session{}, errors.Join(err, s.Release())
	}
	b.arranged(moved)
	if s.NoTerminal() {
		s.Announce() // it has no place in the bar
	}
	b.work.Go(func() { b.run(s) })
	return s.Info(), nil
}

// deps is what the broker hands to its sessions.
func (b *Broker) deps() *session.Deps {
	now := b.settings.Load()
	return &session.Deps{
		Config: now.config, Log: b.log, Approvals: b.approvals, Receipts: b.receipts, Grants: b.grants, Ledger: b.ledger,
		Policy: &now.policy, Servers: &now.servers, Tools: now.tools, Events: publisher{b}, Context: b.ctx, Hurried: b.hurried,
		Engine: func(ctx context.Context) (*docker.Client, error) { return b.engine.get(ctx, b.config.UserHome) },
	}
}

// CheckAgent says whether a session with that agent could be started: whether the
// configuration allows the agent and, if it needs a container engine, whether one
// listens. It does not find out whether the engine works.
func (b *Broker) CheckAgent(ctx context.Context, name string) error {
	adapter, err := b.settings.Load().config.Agents.Named(name)
	switch {
	case err != nil:
		return err
	case adapter.Place == agent.OnHost && b.settings.Load().config.HostShell == nil:
		return session.ErrHostShellOff()
	case adapter.Place == agent.OnHost:
		return nil
	case adapter.Place == agent.InProcess:
		return b.settings.Load().config.Own.Check()
	}
	return b.engine.check(ctx, b.config.UserHome)
}

// Engine says which container engine this process uses, and how it was found. It does not find
// out whether one listens there.
func (b *Broker) Engine() (docker.Endpoint, error) { return b.engine.endpoint(b.config.UserHome) }

// Attach connects to the terminal of a session's agent.
func (b *Broker) Attach(ctx context.Context, id SessionID) (Terminal, error) {
	s, err := b.session(id)
	if err != nil {
		return nil, err
	}
	return s.Attach(ctx)
}

// Close ends a session: its agent, its container and its sockets. When ctx ends first, the
// session ends all the same.
func (b *Broker) Close(ctx context.Context, id SessionID) error {
	s, err := b.session(id)
	if err != nil {
		return b.closeStored(ctx, id, err)
	}
	ended := make(chan error, 1)
	b.mu.Lock()
	closed := b.closed
	if !closed {
		b.work.Go(func() { ended <- b.end(s) })
	}
	b.mu.Unlock()
	if closed {
		return s.Close(ctx)
	}
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return fmt.Errorf("close session: %w", context.Cause(ctx))
	}
}

// run runs a session. When a person exits a shell, its tab closes, as in other multiplexers.
func (b *Broker) run(s *session.Session) {
	s.Run()
	if s.Info().State == StateClosed {
		_ = b.end(s) // Run has written to the log what it could not remove
	}
}

// end ends a session, and removes it from the bar at once and from the list when it has ended.
func (b *Broker) end(s *session.Session) error {
	b.leave(s)
	err := s.Close(context.WithoutCancel(b.ctx)) // every step of it has a limit
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sessions = slices.DeleteFunc(b.sessions, func(other *session.Session) bool { return other == s })
	delete(b.leaving, s)
	return err
}

// Sessions lists the open sessions in the order of the bar.
func (b *Broker) Sessions(context.Context) ([]Session, error) {
	b.mu.Lock()
	open := append([]*session.Session(nil), b.sessions...)
	b.mu.Unlock()
	var out []Session
	for _, s := range open {
		out = append(out, s.Info())
	}
	return out, nil
}

// Subscribe streams events from now on.
func (b *Broker) Subscribe(ctx context.Context) (<-chan Event, error) {
	return b.hub.subscribe(ctx), nil
}

// Follow is Subscribe for a reader that shows nothing to a person. It gets no notices, so that a
// notice is kept for a subscriber that shows it.
func (b *Broker) Follow(ctx context.Context) <-chan Event { return b.hub.follow(ctx) }

func (b *Broker) session(id SessionID) (*session.Session, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.sessions {
		if s.ID() == id {
			return s, nil
		}
	}
	return nil, fault.New("list them with 'ironcurtain-mux sessions ls'", "no session %q is open", id)
}
