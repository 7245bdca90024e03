package broker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/grant"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/identity"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/session"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// desk is a broker with one session whose container was not started. All parts that
// decide about calls are real.
type desk struct {
	t       testing.TB
	broker  *Broker
	session *session.Session
	log     *audit.Log
	outside string
}

func newDesk(t testing.TB) *desk {
	t.Helper()
	root := stored.RealPath(t.TempDir())
	d := &desk{t: t, outside: filepath.Join(root, "outside")}
	home := filepath.Join(root, "home")
	b, err := New(Config{Home: home, Agents: agent.Builtin(), DefaultAgent: "shell", MaxSessions: 1, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	d.broker = b
	if d.session, err = session.New(b.deps(), OpenRequest{Agent: "claude-code"}); err != nil {
		t.Fatal(err)
	}
	d.session.Place(1, nil)
	for _, dir := range []string{d.outside, d.session.Files().Sandbox()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	compiled, annotations := policy.Default()
	engine, err := policy.New(policy.Config{Policy: compiled, Annotations: annotations, Sandbox: d.session.Files().Sandbox(), Home: root})
	if err != nil {
		t.Fatal(err)
	}
	if d.log, err = audit.Open(d.session.Files().Audit(), audit.Options{NoSync: true}); err != nil {
		t.Fatal(err)
	}
	d.session.UsePolicy(engine, d.log)
	d.open(d.session)
	t.Cleanup(func() {
		d.open()
		if err := b.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		if err := d.log.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// engine judges the session's calls.
func (d *desk) engine() *policy.Engine {
	_, engine := d.session.Audit()
	return engine
}

// open makes these the broker's sessions.
func (d *desk) open(sessions ...*session.Session) {
	d.broker.mu.Lock()
	defer d.broker.mu.Unlock()
	d.broker.sessions = sessions
}

// ask makes a call wait and returns it as a user interface sees it.
func (d *desk) ask(tool, arguments string, values ...any) (Escalation, <-chan approval.Resolution) {
	d.t.Helper()
	v := d.engine().Evaluate(policy.Call{Server: "filesystem", Tool: tool, Arguments: fmt.Appendf(nil, arguments, values...)})
	if v.Decision != policy.Escalate {
		d.t.Fatalf("%s: %s by %s", tool, v.Decision, v.Rule)
	}
	events, err := d.broker.Subscribe(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	c := grant.CallOf(string(d.session.ID()), "filesystem", tool, v)
	settled := make(chan approval.Resolution, 1)
	go func() {
		r, err := d.broker.approvals.Ask(d.t.Context(), approval.Escalation{
			Session: c.Session, Plane: audit.PlaneTool, Server: c.Server, Tool: c.Tool, Arguments: c.Arguments,
			Rule: v.Rule, Reason: v.Reason, Digest: v.Digest, Offers: grant.Offers(c), Call: c,
		})
		if err != nil {
			d.t.Error(err)
		}
		settled <- r
	}()
	for ev := range events {
		if ev.Escalation != nil {
			return *ev.Escalation, settled
		}
	}
	d.t.Fatal("no escalation")
	return Escalation{}, nil
}

// decided writes a decision into the session's audit.
func (d *desk) decided(decision audit.Decision, tool, arguments string, values ...any) {
	d.t.Helper()
	v := d.engine().Evaluate(policy.Call{Server: "filesystem", Tool: tool, Arguments: fmt.Appendf(nil, arguments, values...)})
	err := d.log.Append(d.t.Context(), audit.Record{
		Plane: audit.PlaneTool, Decision: decision, Session: string(d.session.ID()), Server: "filesystem", Tool: tool,
		Arguments: v.Arguments, Digest: v.Digest, DecidedBy: "tui", WaitMs: 1500,
	})
	if err != nil {
		d.t.Fatal(err)
	}
}

const writeCall = `{"path":%q,"content":"x"}`

// Each scope says how many calls of the log it would have let through.
func TestScopesCountPastCalls(t *testing.T) {
	d := newDesk(t)
	for range 3 {
		d.decided(audit.EscalatedApproved, "write_file", writeCall, d.outside+"/a.txt")
	}
	d.decided(audit.EscalatedDenied, "write_file", writeCall, d.outside+"/b.txt")
	d.decided(audit.EscalatedDenied, "write_file", `{"path":%q,"content":"y"}`, d.outside+"/a.txt")
	d.decided(audit.EscalatedDenied, "write_file", writeCall, d.outside+"/deep/b.txt")
	d.decided(audit.EscalatedDenied, "read_file", `{"path":%q}`, d.outside+"/a.txt")
	e, _ := d.ask("write_file", writeCall, d.outside+"/a.txt")
	scopes, err := d.broker.Scopes(t.Context(), e.ID)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, s := range scopes {
		got += fmt.Sprintf("%s %d/%d ", s.Name, s.Matched, s.Past)
	}
	if got != "exact 3/6 file 4/6 directory 5/6 " {
		t.Fatal(got)
	}
	if _, err := d.broker.Scopes(t.Context(), "nothing"); err == nil {
		t.Fatal("scopes of nothing")
	}
}

func TestRememberListRevoke(t *testing.T) {
	d := newDesk(t)
	ctx := t.Context()
	e, settled := d.ask("write_file", writeCall, d.outside+"/a.txt")
	for _, wrong := range []Decision{
		{ID: e.ID, Digest: e.Digest, Approve: true, Remember: &Remember{Scope: "everything"}},
		{ID: e.ID, Digest: e.Digest, Approve: true, Remember: &Remember{Scope: "file", Seconds: 1 << 40}},
		{ID: e.ID, Digest: e.Digest, Approve: true, Remember: &Remember{Scope: "file", Seconds: -1}},
		{ID: e.ID, Digest: e.Digest, Approve: false, Remember: &Remember{Scope: "file"}},
		{ID: e.ID, Digest: "of another call", Approve: true, Remember: &Remember{Scope: "file"}},
	} {
		if _, err := d.broker.Decide(ctx, wrong); err == nil {
			t.Errorf("%+v was taken", wrong)
		}
	}
	if grants, _ := d.broker.Grants(ctx); len(grants) != 0 || len(d.broker.approvals.Pending()) != 1 {
		t.Fatalf("wrong decisions left %+v", grants)
	}
	one, another := identity.New("box", "/dev/pts/1"), identity.New("box", "/dev/pts/2")
	r, err := d.broker.Decide(ctx, Decision{ID: e.ID, Digest: e.Digest, Approve: true, By: "cli", Client: one, Remember: &Remember{Scope: "file", Seconds: 60}})
	if err != nil || !r.Won || r.Grant == 0 || r.Client != one {
		t.Fatal(r, err)
	}
	if res := <-settled; !strings.HasPrefix(res.Remembered, "file, for 1m0s: ") {
		t.Fatalf("the record would say %q", res.Remembered)
	}
	late, err := d.broker.Decide(ctx, Decision{ID: e.ID, Digest: e.Digest, Approve: true, By: "tui", Client: another, Remember: &Remember{Scope: "file"}})
	if err != nil || late.Won || late.Grant != 0 || late.Client != one {
		t.Fatal("a late answer made a grant", late, err)
	}
	grants, err := d.broker.Grants(ctx)
	if err != nil || len(grants) != 1 || grants[0].Number != r.Grant || grants[0].Agent != "claude-code" || grants[0].By != "cli" || grants[0].Client != one || grants[0].Session != d.session.ID() {
		t.Fatal(grants, err)
	}
	if _, err := d.broker.Revoke(ctx, Revocation{Number: r.Grant, By: "tui", Client: another}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.broker.Revoke(ctx, Revocation{Number: r.Grant, By: "tui"}); !errors.Is(err, grant.ErrNone) {
		t.Fatal(err)
	}
	lines, err := audit.Last(d.session.Files().Audit(), 1, func(l audit.Line) bool { return l.Decision == audit.Noted })
	if err != nil || len(lines) != 1 || lines[0].DecidedBy != "tui" || lines[0].Client != another || lines[0].EscalationID != e.ID {
		t.Fatal(lines, err)
	}
}

// A new grant approves the calls that already wait and that it covers; the others keep
// waiting.
func TestARuleLetsWaitingCallsGoOn(t *testing.T) {
	d := newDesk(t)
	e, _ := d.ask("write_file", writeCall, d.outside+"/a.txt")
	_, second := d.ask("write_file", writeCall, d.outside+"/b.txt")
	other, _ := d.ask("read_file", `{"path":%q}`, d.outside+"/b.txt")
	deep, _ := d.ask("write_file", writeCall, d.outside+"/deep/b.txt")
	r, err := d.broker.Decide(t.Context(), Decision{ID: e.ID, Digest: e.Digest, Approve: true, By: "tui", Remember: &Remember{Scope: "directory"}})
	if err != nil || r.Grant == 0 {
		t.Fatal(r, err)
	}
	res := <-second
	if res.Outcome != approval.Approved || res.Grant != r.Grant || res.By != "tui" || res.Evidence["grant"] != r.Grant {
		t.Fatalf("%+v", res)
	}
	waiting, err := d.broker.Pending(t.Context())
	if err != nil || len(waiting) != 2 || waiting[0].ID != other.ID || waiting[1].ID != deep.ID {
		t.Fatal(waiting, err)
	}
	if grants, _ := d.broker.Grants(t.Context()); len(grants) != 1 || grants[0].Used != 1 {
		t.Fatalf("%+v", grants)
	}
}

// A grant ends with its session, even if it is made while the session ends.
func TestRulesEndWithTheirSession(t *testing.T) {
	d := newDesk(t)
	ended(d.session)
	e, _ := d.ask("write_file", writeCall, d.outside+"/a.txt")
	if _, err := d.broker.Decide(t.Context(), Decision{ID: e.ID, Digest: e.Digest, Approve: true, Remember: &Remember{Scope: "file"}}); err != nil {
		t.Fatal(err)
	}
	if grants, _ := d.broker.Grants(t.Context()); len(grants) != 0 {
		t.Fatalf("%+v", grants)
	}
	if _, err := d.broker.Submit(t.Context(), TrustedInput{Session: d.session.ID(), Text: "x", Spans: []Span{{End: 1}}}); err == nil {
		t.Fatal("an ended session takes input")
	}
}

func TestHistoryNamesWhoWhenAndHow(t *testing.T) {
	d := newDesk(t)
	d.decided(audit.Allow, "write_file", writeCall, d.outside+"/0.txt")
	d.decided(audit.EscalatedApproved, "write_file", writeCall, d.outside+"/a.txt")
	d.decided(audit.EscalatedExpired, "write_file", writeCall, d.outside+"/b.txt")
	h, err := d.broker.History(t.Context(), 10)
	if err != nil || len(h) != 2 {
		t.Fatal(h, err)
	}
	if h[1].Decision != "escalated-approved" || h[1].By != "tui" || h[1].Waited != 1500*time.Millisecond || h[1].Agent != "claude-code" || h[1].At.IsZero() {
		t.Fatalf("%+v", h[1])
	}
	if h, err = d.broker.History(t.Context(), 1); err != nil || len(h) != 1 || h[0].Decision != "escalated-expired" {
		t.Fatal(h, err)
	}
}

// User interfaces are told of a receipt and how many approvals it has left, and can drop
// it.
func TestReceiptIsShownAndForgotten(t *testing.T) {
	d := newDesk(t)
	d.broker.config.AutoApprove = &AutoApprove{}
	events, err := d.broker.Subscribe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	id := d.session.ID()
	r, err := d.broker.Submit(t.Context(), TrustedInput{Session: id, Text: "push to origin", Spans: []Span{{End: 14}}})
	if err != nil || r.Number != 1 || r.Left != 1 || strings.Join(r.Typing, "|") != "push to origin|\r" {
		t.Fatal(r, err)
	}
	ev := <-events
	if ev.Receipt == nil || ev.Receipt.Number != r.Number || ev.Receipt.Left != 1 || ev.Receipt.Typing != nil {
		t.Fatalf("%+v", ev)
	}
	if err := d.broker.Forget(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if ev = <-events; ev.Receipt == nil || ev.Receipt.Left != 0 {
		t.Fatalf("%+v", ev)
	}
	if err := d.broker.Forget(t.Context(), id); err == nil {
		t.Fatal("forgotten twice")
	}
}

// A session that was opened while automatic approval was off keeps that setting, so it has no
// receipt after the setting was changed: none could approve a call.
func TestASessionWithoutAutomaticApprovalHasNoReceipt(t *testing.T) {
	d := newDesk(t)
	changed := d.broker.config
	changed.AutoApprove = &AutoApprove{}
	d.broker.settings.Store(d.broker.newSettings(&changed))
	events, err := d.broker.Subscribe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d.order("push to origin", false)
	if err := d.broker.Forget(t.Context(), d.session.ID()); err == nil {
		t.Error("a receipt was forgotten")
	}
	select {
	case ev := <-events:
		t.Errorf("user interfaces were told: %+v", ev)
	default:
	}
}
