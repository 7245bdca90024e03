// Package egress gives the model proxy what it needs of the host: the person's real credentials,
// and the audit.
package egress

import (
	"context"
	"strconv"
	"sync"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/identity"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
)

// recordOf converts a decision of the proxy into a record of the audit log. Members that
// the record lacks go into its detail, which is written to memory.
func recordOf(memory []byte, r *mitm.Record) (audit.Record, error) {
	text, err := detailOf(memory, r)
	if err != nil {
		return audit.Record{}, err
	}
	record := audit.Record{
		Time:     r.Time,
		Plane:    audit.PlaneHTTP,
		Decision: audit.Decision(r.Decision),
		Session:  r.Session,
		Call:     "http-" + strconv.FormatUint(r.Seq, 10),
		Server:   r.Host,
		Tool:     r.Method,
		Reason:   string(r.Reason),
		Digest:   r.Digest,
		Encoded:  text,
	}
	if r.Ruling != nil && r.Phase == mitm.PhaseRequest {
		record.EscalationID, record.DecidedBy, record.Client = r.Ruling.ID, r.Ruling.By, identity.Client(r.Ruling.Client)
		record.WaitMs = r.Ruling.Waited.Milliseconds()
		if r.Reason == mitm.ReasonAllowed || r.Reason == mitm.ReasonAsk {
			record.Decision = Escalated(r.Ruling.Outcome)
		}
	}
	return record, nil
}

// Escalated returns the audit decision for the outcome of asking a person.
func Escalated(outcome string) audit.Decision {
	switch outcome {
	case "approved":
		return audit.EscalatedApproved
	case "expired":
		return audit.EscalatedExpired
	case "withdrawn":
		return audit.EscalatedWithdrawn
	}
	return audit.EscalatedDenied
}

// Append returns a mitm.Config.Audit that writes to a log. It has no time limit of its own,
// because the proxy has one.
func Append(log *audit.Log) func(mitm.Record) error { return sink(log.Commit) }

// Post returns a mitm.Config.Note that writes to a log.
func Post(log *audit.Log) func(mitm.Record) error { return sink(log.Post) }

// details pools the memory of details, because a log does not keep them.
var details = sync.Pool{New: func() any { return new([]byte) }}

// sink gives records to a log.
func sink(write func(context.Context, audit.Record) error) func(mitm.Record) error {
	return func(r mitm.Record) error {
		memory := details.Get().(*[]byte)
		defer details.Put(memory)
		record, err := recordOf((*memory)[:0], &r)
		if err != nil {
			return err
		}
		*memory = record.Encoded
		return write(context.Background(), record)
	}
}
