package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/copies"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/packages"
)

// fakeBroker is a broker whose agents are programs in this process.
type fakeBroker struct {
	deciding    func() // called before a decision is answered; may be nil
	mu          sync.Mutex
	sessions    []broker.Session
	pending     []broker.Escalation
	stored      []broker.StoredSession
	decided     []broker.Decision
	inputs      []broker.TrustedInput
	forgotten   []broker.SessionID
	scopes      []broker.Scope
	grants      []broker.Grant
	history     []broker.Decided
	automatic   []broker.AutoApproval
	events      chan broker.Event
	agent       func(t *fakeTerminal) // runs in its own goroutine for each attach
	openErr     error
	terms       map[broker.SessionID]*fakeTerminal
	opened      []broker.OpenRequest
	pause       time.Duration
	changes     broker.Changes
	landing     broker.Landing
	landingErr  error
	asked       []broker.Which // to be shown
	landed      []string       // the ids of landings
	startLog    broker.StartLog
	startLogErr error
	past        int64 // bytes of every terminal that are history
	budgets     broker.Budgets
	turned      []string // servers
	answered    []bool   // offers
	offerErr    error
	policy      broker.PolicyReview
	policyErr   error
	applied     []string
	raised      []string
	carried     []string // between host and container
	carryErr    error
	ownAgents   []broker.Agent // those of config.json
}

// errNoAgent is the error of Attach when there is no agent.
var errNoAgent = errors.New("no agent")

func newFakeBroker() *fakeBroker {
	return &fakeBroker{events: make(chan broker.Event, 256), terms: map[broker.SessionID]*fakeTerminal{}}
}

func (b *fakeBroker) Agents(context.Context) ([]broker.Agent, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]broker.Agent{{Name: "claude-code", Title: "Claude Code"}, {Name: "shell", Title: "Shell"}}, b.ownAgents...), nil
}

func (b *fakeBroker) Open(_ context.Context, r broker.OpenRequest) (broker.Session, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.openErr != nil {
		return broker.Session{}, b.openErr
	}
	b.opened = append(b.opened, r)
	n := len(b.opened)
	agent := r.Agent
	if agent == "" {
		agent = "claude-code"
	}
	s := broker.Session{
		ID: fmt.Sprintf("s%d", n), Life: n, Agent: agent, Profile: r.Profile,
		State: broker.StateStarting, Workspace: r.Workspace,
	}
	at := len(b.sessions)
	if i := b.index(r.Replaces); i >= 0 {
		at, s.Name = i+1, b.sessions[i].Name
	}
	b.sessions = slices.Insert(b.sessions, at, s)
	b.number()
	return b.sessions[at], nil
}

func (b *fakeBroker) index(id broker.SessionID) int {
	return slices.IndexFunc(b.sessions, func(s broker.Session) bool { return s.ID == id })
}

// number gives the sessions their places in the bar. Events tell of those that have another one.
func (b *fakeBroker) number() {
	for i := range b.sessions {
		s := &b.sessions[i]
		if s.Tab != 0 && s.Tab != i+1 {
			moved := *s
			moved.Tab = i + 1
			b.events <- broker.Event{Kind: broker.EventSession, Session: &moved}
		}
		s.Tab = i + 1
	}
}

func (b *fakeBroker) Rename(_ context.Context, id broker.SessionID, name string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := b.index(id)
	if i < 0 {
		return errors.New("rename tab: no such session")
	}
	s := &b.sessions[i]
	s.Name = name
	named := *s
	b.events <- broker.Event{Kind: broker.EventSession, Session: &named}
	return nil
}

func (b *fakeBroker) Move(_ context.Context, id broker.SessionID, place int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := b.index(id)
	if i < 0 {
		return errors.New("move tab: no such session")
	}
	s := b.sessions[i]
	b.sessions = slices.Insert(slices.Delete(b.sessions, i, i+1), place-1, s)
	b.number()
	return nil
}

func (b *fakeBroker) Attach(ctx context.Context, id broker.SessionID) (broker.Terminal, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.agent == nil {
		return nil, errNoAgent
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	t := newFakeTerminal()
	t.history = b.past
	b.terms[id] = t
	t.run(b.agent)
	return t, nil
}

// terminal returns the terminal that the multiplexer attached to for a session.
func (b *fakeBroker) terminal(id broker.SessionID) *fakeTerminal {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.terms[id]
}

// terminals returns all terminals that the multiplexer attached to.
func (b *fakeBroker) terminals() []*fakeTerminal {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Collect(maps.Values(b.terms))
}

func (b *fakeBroker) Close(_ context.Context, id broker.SessionID) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, s := range b.sessions {
		if s.ID == id {
			b.sessions = append(b.sessions[:i], b.sessions[i+1:]...)
			b.number()
			return nil
		}
	}
	return errors.New("close: no such session")
}

func (b *fakeBroker) Sessions(context.Context) ([]broker.Session, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]broker.Session(nil), b.sessions...), nil
}

func (b *fakeBroker) Changes(context.Context, broker.SessionID) (broker.Changes, error) {
	return b.changes, nil
}

func (b *fakeBroker) Landing(_ context.Context, _ broker.SessionID, which broker.Which) (broker.Landing, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = append(b.asked, which)
	return b.landing, b.landingErr
}

func (b *fakeBroker) Land(_ context.Context, _ broker.SessionID, landing string) (broker.Landed, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.landed = append(b.landed, landing)
	return broker.Landed{Landed: []copies.Change{{Path: "a"}, {Path: "b"}}}, b.landingErr
}

func (b *fakeBroker) StartLog(context.Context, broker.SessionID) (broker.StartLog, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.startLog, b.startLogErr
}

func (b *fakeBroker) Stored(context.Context) ([]broker.StoredSession, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]broker.StoredSession(nil), b.stored...), nil
}

func (b *fakeBroker) Pending(context.Context) ([]broker.Escalation, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]broker.Escalation(nil), b.pending...), nil
}

func (b *fakeBroker) Decide(_ context.Context, d broker.Decision) (broker.Resolution, error) {
	if b.deciding != nil {
		b.deciding()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.decided = append(b.decided, d)
	r := broker.Resolution{ID: d.ID, Outcome: broker.Denied, By: d.By, At: testTime, Won: true}
	if d.Approve {
		r.Outcome = broker.Approved
	}
	for i, e := range b.pending {
		if e.ID == d.ID {
			r.Number, r.Session = e.Number, e.Session
			b.pending = append(b.pending[:i], b.pending[i+1:]...)
			break
		}
	}
	return r, nil
}

func (b *fakeBroker) Submit(_ context.Context, in broker.TrustedInput) (broker.Receipt, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inputs = append(b.inputs, in)
	return broker.Receipt{Number: len(b.inputs), Session: in.Session, Typing: []string{in.Text, "\r"}, Pause: b.pause}, nil
}

func (b *fakeBroker) AutoApprovals(_ context.Context, id broker.SessionID) ([]broker.AutoApproval, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []broker.AutoApproval
	for _, a := range b.automatic {
		if a.Call.Session == id {
			out = append(out, a)
		}
	}
	return out, nil
}

func (b *fakeBroker) Forget(_ context.Context, id broker.SessionID) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forgotten = append(b.forgotten, id)
	return nil
}

func (b *fakeBroker) Scopes(context.Context, string) ([]broker.Scope, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]broker.Scope(nil), b.scopes...), nil
}

func (b *fakeBroker) Grants(context.Context) ([]broker.Grant, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]broker.Grant(nil), b.grants...), nil
}

func (b *fakeBroker) Revoke(_ context.Context, revoked broker.Revocation) (broker.Grant, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, r := range b.grants {
		if r.Number == revoked.Number {
			b.grants = append(b.grants[:i], b.grants[i+1:]...)
			return r, nil
		}
	}
	return broker.Grant{}, errors.New("revoke: no such grant is in force")
}

func (b *fakeBroker) History(context.Context, int) ([]broker.Decided, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]broker.Decided(nil), b.history...), nil
}

func (b *fakeBroker) Budgets(context.Context) (broker.Budgets, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.budgets, nil
}

func (b *fakeBroker) RaiseBudget(_ context.Context, id broker.SessionID, by string) (broker.Budget, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.raised = append(b.raised, by)
	return broker.Budget{Session: id, Allowance: broker.Allowance{CostUSD: 10}}, nil
}

func (b *fakeBroker) ReviewPolicy(context.Context) (broker.PolicyReview, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.policy, b.policyErr
}

func (b *fakeBroker) Reload(context.Context) error { return nil }

func (b *fakeBroker) ApplyPolicy(_ context.Context, hash string) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.applied = append(b.applied, hash)
	return 1, nil
}

func (b *fakeBroker) Servers(context.Context, broker.SessionID) ([]broker.ServerStatus, error) {
	return []broker.ServerStatus{
		{Name: "filesystem", State: broker.ServerStopped, Tools: 14},
		{Name: "memory", State: broker.ServerRunning, Tools: 9, Own: true, Hidden: map[string]string{"read_graph": "its input schema is not an object"}},
		{Name: "tickets", State: broker.ServerBroken, Problem: "start server tickets: exit status 1", Own: true},
	}, nil
}

func (b *fakeBroker) Registries(context.Context, broker.SessionID) (broker.Registries, error) {
	return broker.Registries{
		Registries: []packages.Registry{
			{Ecosystem: "npm", URL: "https://npm.example/", From: "npm config get registry", Aliases: []string{"https://yarn.example/"}},
			{Ecosystem: "npm", URL: "https://npm.acme.example/", Scopes: []string{"@acme"}, Private: true},
		},
		Delivered: 412, Waiting: 1, Hidden: []packages.Hidden{{Ecosystem: "npm", Name: "left", Versions: 3}},
		Refused: []packages.Refused{{Ecosystem: "npm", Package: "evil\x1b[2J@1.0.0", Why: "it is on the list of malicious versions"}}, RefusedAll: 2,
		Denied: []string{"npm:left@2.1.0"},
	}, nil
}

func (b *fakeBroker) ReleasePackage(_ context.Context, _ broker.SessionID, version string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.turned = append(b.turned, "release "+version)
	return nil
}

func (b *fakeBroker) AnswerOffer(_ context.Context, _ broker.SessionID, yes bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answered = append(b.answered, yes)
	return b.offerErr
}

func (b *fakeBroker) AddServer(_ context.Context, _ broker.SessionID, name string, words []string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.turned = append(b.turned, name+": "+strings.Join(words, "|"))
	return nil
}

func (b *fakeBroker) TurnServer(_ context.Context, _ broker.SessionID, name string, off bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if off {
		name += " off"
	}
	b.turned = append(b.turned, name)
	return nil
}

func (b *fakeBroker) Subscribe(ctx context.Context) (<-chan broker.Event, error) {
	out := make(chan broker.Event)
	go func() {
		defer close(out)
		for {
			select {
			case ev := <-b.events:
				select {
				case out <- ev:
				case <-ctx.Done():
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return out, nil
}

// decisions returns the decisions so far.
func (b *fakeBroker) decisions() []broker.Decision {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]broker.Decision(nil), b.decided...)
}

// fakeTerminal is an agent's terminal in memory.
type fakeTerminal struct {
	out    *io.PipeReader // what the agent writes
	agentW *io.PipeWriter
	agentR *io.PipeReader // what the agent reads
	in     *io.PipeWriter
	mu     sync.Mutex
	sizes  [][2]int
	done   chan struct{}

	resized []time.Time // when each size was set

	history int64 // bytes that count as written before the attachment
}

func newFakeTerminal() *fakeTerminal {
	t := &fakeTerminal{done: make(chan struct{})}
	t.out, t.agentW = io.Pipe()
	t.agentR, t.in = io.Pipe()
	return t
}

// run starts the agent; when it returns its terminal ends.
func (t *fakeTerminal) run(agent func(t *fakeTerminal)) {
	go func() {
		defer close(t.done)
		agent(t)
		_ = t.agentW.Close()
		_ = t.agentR.Close()
	}()
}

func (t *fakeTerminal) CopyTo(w io.Writer) error {
	_, err := io.Copy(w, t.out)
	return err
}

func (t *fakeTerminal) TryWrite([]byte) (int, error) { return 0, nil }
func (t *fakeTerminal) Write(p []byte) (int, error)  { return t.in.Write(p) }

func (t *fakeTerminal) FormerSize() (cols, rows int) { return 0, 0 }

func (t *fakeTerminal) History() int64 { return t.history }

func (t *fakeTerminal) Close() error {
	_ = t.out.Close()
	return t.in.Close()
}

func (t *fakeTerminal) Resize(_ context.Context, cols, rows int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sizes, t.resized = append(t.sizes, [2]int{cols, rows}), append(t.resized, time.Now())
	return nil
}

func (b *fakeBroker) OpenPort(_ context.Context, _ broker.SessionID, p broker.Port) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	verb := "open"
	if p.Out {
		verb = "out"
	}
	b.carried = append(b.carried, fmt.Sprintf("%s %d at %d", verb, p.Container, p.Host))
	return b.carryErr
}

func (b *fakeBroker) ClosePort(_ context.Context, _ broker.SessionID, port int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.carried = append(b.carried, fmt.Sprintf("close %d", port))
	return b.carryErr
}

func (b *fakeBroker) AttachFiles(_ context.Context, _ broker.SessionID, paths []string) ([]string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.carried = append(b.carried, fmt.Sprintf("attach %q", paths))
	return []string{"/attachments/a.png", "/attachments/b.png"}, b.carryErr
}

func (b *fakeBroker) SaveFile(_ context.Context, _ broker.SessionID, r broker.SaveRequest) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.carried = append(b.carried, fmt.Sprintf("save %q to %q %v", r.Path, r.To, r.Replace))
	return r.To, b.carryErr
}
