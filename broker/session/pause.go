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

// ruleLeak is the rule in the question whether a paused session may continue.
const ruleLeak = "credential-in-answer"

// errPaused is the error for requests of a paused session.
var errPaused = errors.New("the session is paused, because its provider sent the real credential back; a person must let it continue in the multiplexer")

// pause blocks the model requests of a session whose provider sent the real credential back, until the
// person lets the session continue. It asks the person at once, in the queue of approvals. If the
// question ends without an approval, the next request asks again. A file in the session's directory
// keeps the session paused when another multiplexer resumes it.
type pause struct {
	session *Session
	log     *audit.Log
	ctx     context.Context // ends the questions
	cancel  context.CancelFunc
	work    sync.WaitGroup

	mu     sync.Mutex
	paused bool
	leaks  int           // how many leaks there were so far
	asking chan struct{} // closed when the present question is settled; nil: there is none
}

// newPause makes the pause of a session, which is paused from the start if it was paused when its last
// multiplexer ended. The teardown ends its questions.
func newPause(ctx context.Context, s *Session, stack *teardown, log *audit.Log) *pause {
	p := &pause{session: s, log: log}
	if _, err := os.Lstat(s.layout.Paused()); !errors.Is(err, fs.ErrNotExist) {
		p.paused = true
	}
	p.ctx, p.cancel = context.WithCancel(ctx)
	stack.push("stop asking whether the session may continue", func(context.Context) error {
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
		p.session.deps.Log.Warn("store the pause: another multiplexer would let the session continue", "session", p.session.fixed.ID, "error", err)
	}
	p.ask(a.Host, a.Path)
}

// admit waits until the session may continue. It returns errPaused if the question ends without an
// approval, or ctx ends.
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

// ask asks the person, unless a question is open already. It returns a channel that is closed when the
// question is settled. The caller holds the lock.
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
		resume := approved && leaks == p.leaks
		p.paused, p.asking = !resume, nil
		if resume {
			_ = os.Remove(p.session.layout.Paused()) // if the file stays, the next multiplexer asks again
		} else if approved {
			p.ask(host, path) // there was another leak after the decision
		}
		close(settled)
	})
	return settled
}

// decide asks the person and records the decision. leaks is how many leaks there were when the person
// decided. A decision that cannot be recorded does not count.
func (p *pause) decide(host, path string) (approved bool, leaks int) {
	s := p.session
	arguments, err := json.Marshal(map[string]string{"host": host, "path": path, "approve": "the session continues; the answer was masked"})
	if err != nil {
		return false, 0
	}
	sum := sha256.Sum256(append([]byte(s.fixed.ID+"\x00"+ruleLeak+"\x00"), arguments...))
	r := approval.Escalation{
		Session: s.fixed.ID, Plane: audit.PlaneHTTP, Server: host, Tool: "go on after a leak",
		Arguments: arguments, Rule: ruleLeak, Reason: "an answer contained the real credential, and the session is paused",
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
