// Package session runs one session from its start to its end. New makes a session from a request,
// Resume from a stored session's directory. Run then starts what the agent needs, in this order:
// directories, audit, image, the two proxies with their sockets and the tool servers in their
// sandboxes, container. If sockets do not work in the engine's containers, the proxies and the
// container are started again with a stream (startContainer). If the engine is found not to see this
// machine's files, everything is started again with copies (startCopied). The agent starts only after
// the container's isolation was judged from inside (confinementCheck). Run waits for the agent's end
// and takes everything down.
//
// A session gets what it needs as Deps and reports what happens through Events. It knows
// nothing of the broker that runs it.
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
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/elsewhere"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/mcpproxy"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/packages"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/ports"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/toolchain"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/transfer"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/wholefile"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// Session is one agent with everything it needs. The goroutine of Run owns the proxies and the program:
// only it takes them down.
type Session struct {
	deps    *Deps
	adapter agent.Adapter
	idle    bool // the agent gets tasks instead of a terminal
	opener  Opener
	kept    *Kept // what another program has handed over of the session; nil: nothing
	layout  stored.Layout
	owner   stored.User   // of the session's files
	lease   *docker.Lease // nil while this process does not own the session's directory
	resumed bool          // the session was made by Resume
	// replaces is the session that this one replaces; after is closed when that one has ended.
	replaces stored.ID
	after    <-chan struct{}
	// identity is the certificate authority and the sentinels that a taken-back agent has from its
	// former model proxy; nil for any other agent.
	identity []byte
	cols     int
	rows     int
	// fixed is the part of Info that never changes, except that Run sets the worktree of a clone
	// and the copy of a workspace once, under mu.
	fixed stored.Session
	// narrowings are further policies, stricter than the multiplexer's, that judge the agent's calls.
	narrowings []policy.Narrowing
	judging    sync.Mutex // held while the engine is made or replaced; guards narrowings, too

	life        context.Context
	cancel      context.CancelFunc // cancels life, and so asks Run to end
	firstOutput chan struct{}      // closed at the first byte of the agent's terminal
	started     chan struct{}      // closed when the agent runs, or its start has failed
	finished    chan struct{}      // closed when Run has taken everything down

	toolsUp <-chan error // delivers one value: the result of starting the tool servers
	fresh   bool         // this process has made the container

	tally tally

	announcing sync.Mutex // held while a description is made and published, so that the newest comes last

	starting starting // the steps of the start

	restoredCalls sync.WaitGroup // the goroutines of restored calls

	remotes map[string]string // remotes of the workspace as they were before the agent began

	turns sync.Mutex // held during a turn

	requests gate // holds model requests back while it is closed

	attachments transfer.Box // its fields are set before engine

	mu           sync.Mutex
	tab          int               // the place of the session's tab in the bar; 0: it has none
	name         string            // the tab's name, given by the person; empty: none
	host         agent.Host        // what the agent was told; set while the session starts
	approvals    []AutoApproval    // the latest automatic approvals
	engine       *policy.Engine    // judges the agent's calls; set while the session starts
	log          *audit.Log        // set together with engine
	program      program           // set before started is closed
	inside       inside            // the user in the container. Set before program
	stream       *reach.Stream     // connects with the container; nil: sockets are mounted. Set before program
	written      map[string]bool   // files of the home whose content is always the host's. Set before program
	elsewhere    *elsewhere.Files  // the files that are copied; nil: they are shared. Set before program
	output       *output           // the program's output; set together with program
	tools        *mcpproxy.Proxy   // nil until the tool servers run
	modelProxy   *mitm.Proxy       // the proxy to the model and to approved domains; nil while there is none
	packages     *packages.Session // the way to package registries; nil while there is none
	registries   agent.Registries  // the package registries' files and environment in the container
	ports        *ports.Forwarder  // nil until the container can be reached
	far          far               // where the container is; empty until SetFar
	account      *budget.Account   // nil while there is none
	budgetEvents []budgetEvent     // events for the next turn that ends
	spent        bool              // the latest model request was refused because of the budget
	calm         bool              // tool calls and model requests that arrive wait, see Calm
	attached     bool
	restored     bool // see Restored
	reason       string
	exitCode     int
	// baseCommit is the commit of the workspace before the agent started; empty while it is not
	// known.
	baseCommit       string
	landing          *Landing        // the last one that was shown; nil: none
	task             string          // an idle session's last task, shortened for lists
	trouble          string          // what is wrong with the container engine; empty while it answers
	workspace        fs.FileInfo     // the workspace at the first check; nil before
	workspaceMissing bool            // the workspace is gone, or was replaced by another directory
	cleanupErr       error           // why the teardown failed; set before finished is closed
	offer            toolchain.Offer // what the workspace needs and the image lacks
	lastNotice       string          // the latest notice; lastNoticeAt is its time
	lastNoticeAt     time.Time
	noticed          map[string]bool // the About of notices that can be removed
}

// Attach waits until the agent runs and returns an attachment to its terminal.
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
		return nil, fault.New("open another session with /new", "attach: the agent never started: %s", s.reason)
	case s.attached:
		return nil, fault.New("use the tab that shows the session", "attach: the session is attached already")
	}
	s.attached = true
	if program, ok := s.program.(writeHolder); ok {
		program.HoldWrites(false) // closing the last attachment has held them
	}
	var onSuspend func()
	if !s.adapter.JobControl {
		onSuspend = func() {
			s.notice(false, "Ctrl-Z was not passed on: the agent would stop, and nothing in its container could continue it")
		}
	}
	var onResize func(cols, rows int)
	if s.Contained() {
		onResize = func(cols, rows int) {
			if err := stored.WriteSize(s.layout, cols, rows); err != nil {
				s.deps.Log.Warn("store the size of a terminal", "session", s.fixed.ID, "error", err)
			}
		}
	}
	return &terminal{
		onResize:  onResize,
		onSuspend: onSuspend,
		program:   s.program,
		output:    s.output,
		history:   s.output.history(),
		release: func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.attached = false
		},
	}, nil
}

// save writes the session's record, so that the session is listed while no multiplexer runs.
func (s *Session) save() error { return s.writeRecord(s.Info()) }

// writeRecord writes the session's record with the description as.
func (s *Session) writeRecord(as stored.Session) error {
	if s.lease == nil {
		return nil // another process owns the directory, or there is none
	}
	name := as.Name
	as.Ports, as.Far, as.Tab, as.Name = "", "", 0, "" // these end with this process; Name has its own file
	data, err := json.MarshalIndent(stored.Record{Session: as, Base: s.base(), Task: s.lastTask()}, "", "  ")
	if err != nil {
		return fmt.Errorf("session record: %w", err)
	}
	if err := wholefile.Write(s.layout.Record(), append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("session record: %w", err)
	}
	if s.resumed || name == "" {
		return nil
	}
	return stored.WriteName(s.layout, name) // the session may have got the name before its directory
}

// auditState tells the person when the audit cannot be written, and, with a nil err, when it can be
// written again. In between, every call and request is refused.
func (s *Session) auditState(err error) {
	if full := (*audit.FullError)(nil); errors.As(err, &full) {
		s.notice(true, fmt.Sprintf("all calls and requests are refused from now on: %v; %s", full, full.Hint()))
		return
	}
	if err != nil {
		s.notice(true, fmt.Sprintf("all calls and requests are refused until the audit can be written: %s", describe(err)))
		return
	}
	s.notice(true, "the audit can be written again; calls and requests are served")
}
