package mitm

import (
	"fmt"
	"time"
)

// audit stores one record and returns when it is durable. An error means that
// the decision must not take effect, unless it is a refusal anyway.
//
// A sink that blocks holds a slot until it returns; the caller waits for the
// limit of time only. So a dead sink stops the traffic, not the program.
func (p *Proxy) audit(r *Record) error {
	r.Time = time.Now().UTC()
	r.Session = p.config.Session
	timer := time.NewTimer(p.limits.AuditTime)
	defer timer.Stop()
	select {
	case p.audits <- struct{}{}:
	case <-timer.C:
		return p.auditFailed(fmt.Errorf("%w: earlier records are still being written", errAudit))
	}
	done := make(chan error, 1) // must-deliver; the writer never waits for us
	record := *r
	p.wg.Add(1)
	go func() {
		defer p.wg.Done()
		defer func() { <-p.audits }()
		done <- p.config.Audit(record)
	}()
	select {
	case err := <-done:
		if err != nil {
			return p.auditFailed(fmt.Errorf("%w: %w", errAudit, err))
		}
		return nil
	case <-timer.C:
		return p.auditFailed(fmt.Errorf("%w within %s", errAudit, p.limits.AuditTime))
	}
}

func (p *Proxy) auditFailed(err error) error {
	p.log.Error("audit", "error", err)
	p.tell(Activity{Kind: AuditFailed, Text: err.Error()})
	return err
}

// tell passes an activity on.
func (p *Proxy) tell(a Activity) {
	if p.config.Activity == nil {
		return
	}
	a.At = time.Now()
	a.Session = p.config.Session
	p.config.Activity(a)
}

// tellRefused tells that something was refused.
func (p *Proxy) tellRefused(r *Record) {
	p.tell(Activity{
		Kind: RequestRefused, Seq: r.Seq, Provider: r.Provider, Host: r.Host, Method: r.Method,
		Path: r.Path, Status: r.Status, Reason: r.Reason, Text: r.Detail,
	})
}
