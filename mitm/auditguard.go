package mitm

import (
	"sync"
	"time"
)

// auditGuard bounds how long the client of a link waits for a record to be
// stored. A sink that does not answer keeps the goroutine of the link; so the
// guard tells the client and ends the link, and what the sink says later changes
// nothing.
type auditGuard struct {
	mu    sync.Mutex
	timer *time.Timer
	late  func() // what to do when time is over; nil while nothing is stored
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

// end says whether there still was time. When there was not, late has returned.
func (g *auditGuard) end() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.timer.Stop()
	inTime := g.late != nil
	g.late = nil
	return inTime
}

// audit stores a record of this link in time. An error means that the decision
// must not take effect, unless it is a refusal anyway. When time is over, tell is
// called, if it is not nil, and the link is closed.
func (l *link) audit(r *Record, tell func()) error {
	l.guard.begin(l.p.limits.AuditTime, func() {
		if tell != nil {
			tell()
		}
		l.close()
	})
	err := l.p.audit(r)
	if !l.guard.end() && err == nil {
		return l.p.auditFailed(errAudit)
	}
	return err
}
