package broker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// unanswered is a call that waits for a person, as it is kept on the disk: should
// this process be killed, the next one records that nobody decided it. It is
// never taken up again; the agent's call ended with the process.
type unanswered struct {
	ID        string          `json:"id"`
	Server    string          `json:"server"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments,omitempty"` // secrets masked
	Digest    string          `json:"digest"`
	Rule      string          `json:"rule"`
	AskedAt   time.Time       `json:"askedAt"`
}

const unansweredReason = "the multiplexer ended before anybody decided; the call was not carried out"

// keepWaiting writes down that a call waits.
func (b *Broker) keepWaiting(i approval.Item) {
	l := layoutOf(b.config.Home, SessionID(i.Session))
	data, err := json.Marshal(unanswered{
		ID: i.ID, Server: i.Server, Tool: i.Tool, Arguments: b.redact.JSON(i.Arguments), Digest: i.Digest,
		Rule: i.Rule, AskedAt: i.AskedAt,
	})
	if err == nil {
		err = os.MkdirAll(l.waiting(), 0o700)
	}
	// It need not survive a power cut, and must not hold up what is shown: no sync.
	unready := l.waitingCall(i.ID) + ".new"
	if err == nil {
		err = os.WriteFile(unready, append(data, '\n'), 0o600)
	}
	if err == nil {
		err = os.Rename(unready, l.waitingCall(i.ID))
	}
	if err != nil {
		b.log.Warn("a waiting call was not written down", "escalation", i.ID, "error", err)
	}
}

// dropWaiting forgets a call that waits no longer.
func (b *Broker) dropWaiting(session, id string) {
	l := layoutOf(b.config.Home, SessionID(session))
	if err := os.Remove(l.waitingCall(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		b.log.Warn("a settled call is still written down as waiting", "escalation", id, "error", err)
	}
}

// dropSettled forgets the calls of the open sessions that are not among those
// that wait.
func (b *Broker) dropSettled(waiting []approval.Item) {
	still := map[string]bool{}
	for _, i := range waiting {
		still[i.ID] = true
	}
	b.mu.Lock()
	open := append([]*session(nil), b.sessions...)
	b.mu.Unlock()
	for _, s := range open {
		for _, path := range s.layout.waitingCalls() {
			if id := strings.TrimSuffix(filepath.Base(path), ".json"); !still[id] {
				b.dropWaiting(string(s.fixed.ID), id)
			}
		}
	}
}

// settleKilled records the end of every call that waited in a session when the
// process that had it was killed, and returns how many there were.
func settleKilled(ctx context.Context, l layout, id SessionID, log *audit.Log) (int, error) {
	n := 0
	for _, path := range l.waitingCalls() {
		var u unanswered
		data, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(data, &u)
		}
		if err != nil {
			return n, fmt.Errorf("read what waited: %w", err)
		}
		err = log.Append(ctx, audit.Record{
			Plane: audit.PlaneTool, Decision: audit.EscalatedWithdrawn, Session: string(id), Server: u.Server, Tool: u.Tool,
			Arguments: u.Arguments, Digest: u.Digest, Rule: u.Rule, Reason: unansweredReason,
			EscalationID: u.ID, DecidedBy: "broker", Detail: map[string]any{"askedAt": u.AskedAt},
		})
		if err == nil {
			err = os.Remove(path)
		}
		if err != nil {
			return n, fmt.Errorf("record what waited: %w", err)
		}
		n++
	}
	return n, nil
}

// sweepWaiting does settleKilled for every session that nobody owns.
func (b *Broker) sweepWaiting(ctx context.Context) error {
	dirs, err := filepath.Glob(filepath.Join(b.config.Home, "sessions", "*", waitingName))
	if err != nil {
		return err
	}
	var all []error
	for _, dir := range dirs {
		id := SessionID(filepath.Base(filepath.Dir(dir)))
		if validID(id) {
			all = append(all, b.sweepSession(ctx, id))
		}
	}
	return errors.Join(all...)
}

func (b *Broker) sweepSession(ctx context.Context, id SessionID) error {
	l := layoutOf(b.config.Home, id)
	if len(l.waitingCalls()) == 0 {
		return nil
	}
	lease, err := docker.AcquireLease(l.lock())
	if errors.Is(err, docker.ErrLeaseHeld) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = lease.Release() }()
	log, err := audit.Open(l.audit(), audit.Options{Secrets: b.config.Secrets})
	if err != nil {
		return err
	}
	n, err := settleKilled(ctx, l, id, log)
	if n > 0 {
		b.log.Info("calls that waited when the multiplexer ended are recorded as withdrawn", "session", id, "calls", n)
	}
	return errors.Join(err, log.Close())
}
