package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"sync"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/egress"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
)

// ruleLeak names the rule in the question whether a paused session may go on.
const ruleLeak = "credential-in-answer"

// errPaused is the error for requests of a session that is paused.
var errPaused = errors.New("the session is paused, since its provider sent the real credential back; a person must let it go on in the multiplexer")

// pause holds the model requests of a session whose provider sent the real credential
// back, until a person lets the session go on. It asks the person at once, in the queue of
// approvals. When the question ends without an approval, the next request asks again. A
// file in the session's directory keeps the session paused under the next multiplexer.
type pause struct {
	session *Session
	log     *audit.Log
	ctx     context.Context // ends the questions
	cancel  context.CancelFunc
	work    sync.WaitGroup

	mu     sync.Mutex
	paused bool
	leaks  int           // how many leaks there were
	asking chan struct{} // closed when the question is settled; nil: nobody is asked
}

// newPause makes the pause of a session. It is paused from the start if the session was
// paused under the last multiplexer. Its questions end when the stack is undone.
func newPause(ctx context.Context, s *Session, stack *teardown, log *audit.Log) *pause {
	p := &pause{session: s, log: log}
	if _, err := os.Lstat(s.layout.Paused()); !errors.Is(err, fs.ErrNotExist) {
		p.paused = true
	}
	p.ctx, p.cancel = context.WithCancel(ctx)
	stack.push("stop asking whether the session may go on", func(context.Context) error {
		p.cancel()
		p.work.Wait()
		return nil
	})
	return p
}

// begin pauses the session because an answer contained the credential.
func (p *pause) begin(a mitm.Activity) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.paused, p.leaks = true, p.leaks+1
	if err := os.WriteFile(p.session.layout.Paused(), nil, 0o600); err != nil {
		p.session.deps.Log.Warn("the pause was not written down: another multiplexer would let the session go on", "session", p.session.fixed.ID, "error", err)
	}
	p.ask(a.Host, a.Path)
}

// admit waits until the session may go on. It returns errPaused when the question ended
// without an approval, or when ctx ends.
func (p *pause) admit(ctx context.Context, r mitm.Request) error {
	p.mu.Lock()
	if !p.paused {
		p.mu.Unlock()
		return nil
	}
	settled := p.ask(r.Host, r.Path)
	p.mu.Unlock()
	select {
	case <-settled:
	case <-ctx.Done():
		return errPaused
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.paused {
		return errPaused
	}
	return nil
}

// ask asks a person, unless they are being asked already. It returns a channel that is
// closed when the question is settled. The caller holds the lock.
func (p *pause) ask(host, path string) <-chan struct{} {
	if p.asking != nil {
		return p.asking
	}
	settled := make(chan struct{})
	p.asking = settled
	p.work.Go(func() {
		approved, leaks := p.decide(host, path)
		p.mu.Lock()
		defer p.mu.Unlock()
		goes := approved && leaks == p.leaks
		p.paused, p.asking = !goes, nil
		if goes {
			_ = os.Remove(p.session.layout.Paused()) // if the file stays, the next multiplexer asks again
		} else if approved {
			p.ask(host, path) // about a leak that came after the decision
		}
		close(settled)
	})
	return settled
}

// decide asks a person and records the decision. It also returns how many leaks there
// were at the time of the decision. A decision that cannot be recorded does not count.
func (p *pause) decide(host, path string) (approved bool, leaks int) {
	s := p.session
	arguments, err := json.Marshal(map[string]string{"host": host, "path": path, "approve": "the session goes on; the answer was masked"})
	if err != nil {
		return false, 0
	}
	sum := sha256.Sum256(append([]byte(s.fixed.ID+"\x00"+ruleLeak+"\x00"), arguments...))
	r := approval.Escalation{
		Session: s.fixed.ID, Plane: audit.PlaneHTTP, Server: host, Tool: "go on after a leak",
		Arguments: arguments, Rule: ruleLeak, Reason: "an answer held the real credential, and the session is paused",
		Digest: hex.EncodeToString(sum[:]), Timeout: s.deps.Config.EscalationTimeout,
	}
	res, err := s.deps.Approvals.Ask(p.ctx, r)
	if err != nil {
		return false, 0
	}
	p.mu.Lock()
	leaks = p.leaks
	p.mu.Unlock()
	err = p.log.Append(context.WithoutCancel(p.ctx), audit.Record{
		Plane: r.Plane, Decision: egress.Escalated(string(res.Outcome)), Session: r.Session, Server: r.Server, Tool: r.Tool,
		Arguments: r.Arguments, Digest: r.Digest, Rule: r.Rule, Reason: r.Reason,
		EscalationID: res.ID, DecidedBy: res.By, Client: res.Client, WaitMs: res.Waited.Milliseconds(),
	})
	switch {
	case err != nil:
		s.deps.Approvals.Ended(res.ID, approval.EndRefused, unrecorded(err))
	case res.Outcome == approval.Approved:
		s.deps.Approvals.Ended(res.ID, approval.EndDone, "")
	default:
		s.deps.Approvals.Ended(res.ID, approval.EndRefused, "")
	}
	return err == nil && res.Outcome == approval.Approved, leaks
}
