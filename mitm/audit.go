package mitm

import (
	"fmt"
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
	p.tell(Activity{Kind: AuditFailed, Text: err.Error()})
	return err
}

// tell reports an activity to the configured receiver.
func (p *Proxy) tell(a Activity) {
	if p.config.Activity == nil {
		return
	}
	a.At = time.Now()
	a.Session = p.config.Session
	p.config.Activity(a)
}

// tellRefused reports a refusal.
func (p *Proxy) tellRefused(r *Record) {
	p.tell(Activity{
		Kind: RequestRefused, Seq: r.Seq, Provider: r.Provider, Host: r.Host, Method: r.Method,
		Path: r.Path, Status: r.Status, Reason: r.Reason, Text: r.Detail,
	})
}
