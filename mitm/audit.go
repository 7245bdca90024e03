package mitm

import (
	"fmt"
	"sync"
	"time"
)

// audit stores one record and returns when it is durable. An error means that
// the decision must not take effect, unless it is a refusal anyway.
func (p *Proxy) audit(r *Record) error { return p.store(r, p.config.Audit) }

// note stores how an exchange ended. It does not wait until the record is durable.
func (p *Proxy) note(r *Record) {
	store := p.config.Note
	if store == nil {
		store = p.config.Audit
	}
	_ = p.store(r, store)
}

func (p *Proxy) store(r *Record, store func(Record) error) error {
	r.Time = time.Now().UTC()
	r.Session = p.config.Session
	if err := store(*r); err != nil {
		return p.auditFailed(fmt.Errorf("%w: %w", errAudit, err))
	}
	return nil
}

func (p *Proxy) auditFailed(err error) error {
	p.log.Error("audit", "error", err)
	return err
}

// tell reports an activity to the configured receiver.
func (p *Proxy) tell(a Activity) {
	if p.config.Activity != nil {
		p.config.Activity(a)
	}
}

// auditGuard bounds how long the agent waits for a record to be stored. An audit that does not
// return blocks the goroutine of the connection. So the guard answers the agent and closes the
// connection itself, and ignores the audit's later result.
type auditGuard struct {
	mu    sync.Mutex
	timer *time.Timer
	late  func() // called after the limit; nil while no record is being stored
}

// begin calls late after the limit unless end comes first.
func (g *auditGuard) begin(limit time.Duration, late func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.late = late
	if g.timer == nil {
		g.timer = time.AfterFunc(limit, g.expire)
	} else {
		g.timer.Reset(limit)
	}
}

func (g *auditGuard) expire() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.late != nil {
		g.late()
		g.late = nil
	}
}

// end reports whether the record was stored within the limit. If it was not, late has
// returned.
func (g *auditGuard) end() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.timer.Stop()
	inTime := g.late != nil
	g.late = nil
	return inTime
}

// audit stores a record of this connection within Limits.AuditTime. An error means that the
// decision must not take effect, unless it is a refusal anyway. After the limit it calls
// tell, if that is not nil, and closes the connection.
func (a *agentConn) audit(r *Record, tell func()) error {
	a.guard.begin(a.p.limits.AuditTime, func() {
		if tell != nil {
			tell()
		}
		a.close()
	})
	err := a.p.audit(r)
	if !a.guard.end() && err == nil {
		return a.p.auditFailed(errAudit)
	}
	return err
}
