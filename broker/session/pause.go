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

// ruleLeak is the rule by which a person decides whether a session goes on.
const ruleLeak = "credential-in-answer"

// errPaused refuses the requests of a session that nobody has let go on.
var errPaused = errors.New("the session is paused, since its provider sent the real credential back; a person must let it go on in the multiplexer")

// pause holds the model requests of a session whose provider sent the real
// credential back, until a person lets it go on. The question stands in the queue
// of approvals at once; when it ends without an approval, the next request
// asks it again. A file of the session keeps the next multiplexer from forgetting it.
type pause struct {
	session *Session
	log     *audit.Log
	ctx     context.Context // of the session
	cancel  context.CancelFunc
	work    sync.WaitGroup

	mu     sync.Mutex
	paused bool
	leaks  int           // how many there were
	asking chan struct{} // closed when the question is settled; nil: there is none
}

// newPause is a session that goes on, unless it was paused when it was served last.
// Its questions end when the stack is undone.
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

// begin pauses the session because of what an answer held.
func (p *pause) begin(a mitm.Activity) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.paused, p.leaks = true, p.leaks+1
	if err := os.WriteFile(p.session.layout.Paused(), nil, 0o600); err != nil {
		p.session.deps.Log.Warn("another multiplexer would not know that the session is paused", "session", p.session.fixed.ID, "error", err)
	}
	p.ask(a.Host, a.Path)
}

// admit waits until the session may go on. It returns an error when a person
// was asked and did not let it.
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

// ask puts the question unless it stands already. The lock is held.
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
			_ = os.Remove(p.session.layout.Paused()) // what is left of it asks once more
		} else if approved {
			p.ask(host, path) // about a leak that came after the decision
		}
		close(settled)
	})
	return settled
}

// decide asks a person and records what they decided. It returns how many leaks
// there were when they did. A decision that cannot be recorded does not count.
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
		EscalationID: res.ID, DecidedBy: res.By, WaitMs: res.Waited.Milliseconds(),
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
