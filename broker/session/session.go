// Package session is one session's life. New makes a session from a request, Resume from
// its directory. Run then starts everything the agent needs, waits for the agent's end,
// and takes everything down again: the directories and the audit, the two proxies with
// their sockets, the tool servers in their sandboxes, the image and the container.
//
// A session is given what it needs as Deps and reports what happens through Events; it
// knows nothing of the broker that runs it beside others.
package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/budget"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/wholefile"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// Session is one agent with everything it needs. Its goroutine, Run, owns the
// proxies and the program and is the only one that takes them down.
type Session struct {
	deps    *Deps
	adapter agent.Adapter
	idle    bool // the agent gets tasks instead of a terminal
	layout  stored.Layout
	owner   stored.User
	lease   *docker.Lease // set while the session's directory is ours
	resumed bool          // its directory is that of a former life
	// replaces is a session that ends for this one, and after is closed when it has.
	replaces stored.ID
	after    <-chan struct{}
	// identity is what the agent knows its model proxy by; nil until it runs.
	identity []byte
	cols     int
	rows     int
	fixed    stored.Session // what never changes; the rest is derived from tally

	life        context.Context
	cancel      context.CancelFunc // ends life, and so asks Run to end
	firstOutput chan struct{}      // closed at the first byte of the agent's terminal
	started     chan struct{}      // closed when the agent runs, or never will
	finished    chan struct{}      // closed when Run has removed everything

	toolsUp <-chan error // one value: whether the tool servers came up

	tally tally

	starting starting // what was done to start it

	holding sync.WaitGroup // the calls of its former life

	remotes map[string]string // remotes of the workspace as they were before the agent began

	turns sync.Mutex // one task at a time

	mu         sync.Mutex
	host       agent.Host      // what the agent was told; set while the session starts
	approvals  []AutoApproval  // the latest calls that were let through automatically
	engine     *policy.Engine  // that judges its calls; set while the session starts
	log        *audit.Log      // set together with engine
	program    program         // set before started is closed
	output     *output         // of the program
	modelProxy *mitm.Proxy     // to the model and to approved domains; nil while there is none
	account    *budget.Account // nil while there is none
	attached   bool
	// restored is set once nothing of the session's former life is to be taken up.
	restored bool
	reason   string
	exitCode int
	// startedAt is the commit that shows how the workspace was at first; empty
	// while it is not known.
	startedAt        string
	task             string      // the last one that an idle session was given, as lists show it
	trouble          string      // of the container engine; empty while it answers
	workspace        fs.FileInfo // as it was when it was first looked at; nil before
	workspaceMissing bool        // another directory is in the workspace's place, or none
	cleanupErr       error       // what could not be taken down; set before finished is closed
	lastNotice       string      // the latest notice, and when
	lastNoticeAt     time.Time
}

// Attach hands out the agent's terminal once it exists.
func (s *Session) Attach(ctx context.Context) (Terminal, error) {
	select {
	case <-s.started:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.program == nil:
		return nil, fault.New("open another one with /new", "attach: the agent never started: %s", s.reason)
	case s.attached:
		return nil, fault.New("use the tab that shows it", "attach: the session is attached already")
	}
	s.attached = true
	var suspends func()
	if !s.adapter.JobControl {
		suspends = func() {
			s.notice(false, "Ctrl-Z was not passed on: the agent would stop, and nothing in its container could continue it")
		}
	}
	return &terminal{
		suspends: suspends,
		program:  s.program,
		output:   s.output,
		history:  s.output.history(),
		release: func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.attached = false
		},
	}, nil
}

// save writes what the session is, so that it can be listed when no
// multiplexer runs.
func (s *Session) save() error { return s.keep(s.Info()) }

func (s *Session) keep(as stored.Session) error {
	if s.lease == nil {
		return nil // the directory is somebody else's, or there is none
	}
	data, err := json.MarshalIndent(stored.Record{Session: as, Base: s.base(), Task: s.lastTask()}, "", "  ")
	if err != nil {
		return fmt.Errorf("session record: %w", err)
	}
	if err := wholefile.Write(s.layout.Record(), append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("session record: %w", err)
	}
	return nil
}

// auditState tells when the audit stops and starts to work: in between, every
// call and every request is refused.
func (s *Session) auditState(err error) {
	if full := (*audit.FullError)(nil); errors.As(err, &full) {
		s.notice(true, fmt.Sprintf("everything that the agent asks for is refused from here on: %v; %s", full, full.Hint()))
		return
	}
	if err != nil {
		s.notice(true, fmt.Sprintf("everything is refused until the audit can be written: %s", describe(err)))
		return
	}
	s.notice(true, "the audit can be written again; calls and requests go on")
}
