package packages

import (
	"context"
	"fmt"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/egress"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	rules "github.com/ironcurtain-mux/ironcurtain-mux/policy/packages"
)

// SessionOptions configure one agent's Session.
type SessionOptions struct {
	ID        string
	Workspace string // whose lockfiles are read
	Approvals *approval.Queue
	Timeout   time.Duration // of a question
	Log       *audit.Log
	Notice    func(text string) // for the person; it returns at once
	Moved     func(Counts)      // packages arrive, or no longer do; it returns at once
}

// Session gives one agent access to the registries.
type Session struct {
	host    *Host
	options SessionOptions
	way     *registry.Session
	names   *names
	pins    map[string]string // the lockfile, by ecosystem, name, version
	moving  *moving           // nil if Moved is nil

	alike alike

	mu     sync.Mutex
	served map[string]bool // ecosystems of which a document was delivered
	seen   overview
}

// Session gives one agent access, until Close.
func (h *Host) Session(o SessionOptions) *Session {
	s := &Session{host: h, options: o, served: make(map[string]bool), seen: overview{hidden: make(map[string]Hidden)}}
	locked := readLockfiles(o.Workspace, h.kinds)
	s.pins, s.names = locked.pins, newNames(h.options)
	for pin := range s.pins {
		ecosystem, rest, _ := strings.Cut(pin, "\n")
		name, _, _ := strings.Cut(rest, "\n")
		s.names.know(ecosystem, name)
	}
	for _, n := range locked.needs {
		s.names.need(n.ecosystem, n.by, n.name)
	}
	if o.Moved != nil {
		s.moving = &moving{count: s.counts, report: o.Moved}
	}
	s.way = h.plane.NewSession(registry.SessionConfig{
		Judge:     s.judge,
		Ask:       s.ask,
		Pinned:    func(ecosystem, name, version string) bool { return s.pins[versionKey(ecosystem, name, version)] != "" },
		Admit:     s.admit,
		Named:     s.named,
		Delivered: s.delivered,
		Needed:    s.needed,
		Missing:   func(o *registry.Origin, name string) { s.names.missing(o.Ecosystem, name) },
		Remember:  s.remember,
		Record:    s.record,
		Note:      s.note,
	})
	h.comparison.add(s)
	return s
}

// Way is for mitm.Config.Packages.
func (s *Session) Way() *registry.Session { return s.way }

// Close withdraws the waiting questions.
func (s *Session) Close() {
	s.host.comparison.remove(s)
	s.way.Close()
	if s.moving != nil {
		s.moving.close()
	}
}

// judge implements registry.SessionConfig.Judge.
func (s *Session) judge(p registry.Package) registry.Verdict {
	_, v := s.host.judge(p, s)
	verdict := registry.Verdict{Then: registry.Then(v.Then), Rule: v.Rule, Text: v.Text, Reason: registry.ReasonRule}
	switch v.Rule {
	case "quarantine":
		verdict.Reason, verdict.Hide = registry.ReasonQuarantine, true
	case "malicious":
		verdict.Reason = registry.ReasonMalicious
	}
	return verdict
}

// named implements registry.SessionConfig.Named.
func (s *Session) named(o *registry.Origin, p registry.Pin) bool {
	return s.pins[versionKey(o.Ecosystem, p.Name, p.Version)] != "" || s.names.knowsVersion(o.Ecosystem, p) ||
		s.host.ledger.KnowsVersion(o.URL.String(), p.Name, p.Version)
}

// needed learns the dependencies of an artifact: names and versions.
func (s *Session) needed(o *registry.Origin, by string, needs []registry.Pin) {
	for _, p := range needs {
		s.names.need(o.Ecosystem, by, p.Name)
		if p.Version != "" {
			s.names.knowVersion(o.Ecosystem, p)
		}
	}
}

// delivered learns the names in a document. It tells the person once for each ecosystem that
// packages arrive.
func (s *Session) delivered(o *registry.Origin, f *registry.Facts) {
	for i := range f.Versions {
		s.names.need(o.Ecosystem, f.Name, f.Versions[i].Needs...)
	}
	if latest := f.Tags["latest"]; latest != "" { // that of a Go module may be missing from Versions
		s.names.knowVersion(o.Ecosystem, registry.Pin{Name: f.Name, Version: latest})
	}
	s.mu.Lock()
	first := !s.served[o.Ecosystem]
	s.served[o.Ecosystem] = true
	s.mu.Unlock()
	if first && s.options.Notice != nil {
		s.options.Notice(o.Ecosystem + " packages come through the host, which judges each version; /registries shows them")
	}
}

// remember refuses bytes that differ from those that this machine got for the same file before.
// Files without a digest that belong to an artifact, such as the .info of a Go version, may change.
func (s *Session) remember(p registry.Package) error {
	if p.File.Of != "" && len(p.File.Digests) == 0 {
		return nil
	}
	same, err := s.host.ledger.Pin(p.Origin.URL.String(), p.Facts.Name, p.Version.Version, p.File.URL, p.Sum, func(version, file string) bool {
		switch {
		case p.Origin.Ecosystem == "npm", p.Origin.Ecosystem == "cargo": // each version has one archive
			return version == p.Version.Version
		case p.Origin.Ecosystem == "pypi" && !p.Origin.Private: // PyPI uses a file name only once, but the address contains the digest
			return path.Base(file) == path.Base(p.File.URL)
		}
		return file == p.File.URL
	})
	if err != nil {
		return err
	}
	if !same {
		return registry.Refuse(403, registry.ReasonDigest, "the bytes of %s %s differ from those that this machine got before", p.Facts.Name, p.Version.Version)
	}
	return nil
}

// record implements registry.SessionConfig.Record, durably.
func (s *Session) record(r registry.Record) error {
	return s.options.Log.Append(context.Background(), s.auditRecord(r))
}

// note implements registry.SessionConfig.Note: the record need not be durable.
func (s *Session) note(r registry.Record) {
	if err := s.options.Log.Post(context.Background(), s.auditRecord(r)); err != nil {
		s.host.log().Error("packages", "session", s.options.ID, "error", err)
	}
}

// auditRecord converts a record for the audit, and counts it.
func (s *Session) auditRecord(r registry.Record) audit.Record {
	s.mu.Lock()
	s.seen.add(&r)
	s.mu.Unlock()
	s.touch()
	detail := map[string]any{"ecosystem": r.Ecosystem, "what": r.What, "path": r.Path}
	for name, text := range map[string]string{"origin": r.Origin, "name": r.Name, "version": r.Version, "why": r.Text, "proof": r.Proof} {
		if text != "" {
			detail[name] = text
		}
	}
	if r.Bytes > 0 {
		detail["bytes"] = r.Bytes
	}
	if r.Store {
		detail["from"] = "store"
	}
	if !r.Published.IsZero() {
		detail["published"] = r.Published.UTC().Format(time.RFC3339)
	}
	if r.Hidden > 0 {
		detail["hidden"] = r.Hidden
	}
	record := audit.Record{
		Time: r.Time, Plane: audit.PlanePackage, Session: s.options.ID, Server: r.Ecosystem, Tool: r.What,
		Rule: r.Rule, Reason: string(r.Reason), Digest: r.Digest, Detail: detail,
		Decision: map[string]audit.Decision{"allow": audit.Allow, "deny": audit.Deny, "error": audit.Failed, "done": audit.Done}[r.Decision],
	}
	if record.Decision == audit.Done {
		record.Outcome = audit.Answered
	}
	if r.Decided != nil {
		record.EscalationID, record.DecidedBy, record.Decision = r.Decided.ID, r.Decided.By, egress.Escalated(r.Decided.Outcome)
	}
	return record
}

// ask asks the person about a wave of packages.
func (s *Session) ask(ctx context.Context, wave []registry.Package) (registry.Decision, error) {
	all := make([]judged, len(wave))
	for i, p := range wave {
		all[i].Package = p
		all[i].facts, all[i].verdict = s.host.judge(p, s)
	}
	s.touch()
	s.findEarlier(ctx, all)
	e, err := s.question(all)
	if err != nil {
		return registry.Decision{}, err
	}
	return s.askPerson(ctx, e)
}

// askPerson asks the person a question, and records the answer.
func (s *Session) askPerson(ctx context.Context, e approval.Escalation) (registry.Decision, error) {
	res, err := s.options.Approvals.Ask(ctx, e)
	if err != nil {
		return registry.Decision{}, err
	}
	err = s.options.Log.Append(context.WithoutCancel(ctx), audit.Record{
		Plane: e.Plane, Decision: egress.Escalated(string(res.Outcome)), Session: e.Session, Server: e.Server, Tool: e.Tool,
		Arguments: e.Arguments, Digest: e.Digest, Rule: e.Rule, Reason: e.Reason,
		EscalationID: res.ID, DecidedBy: res.By, Client: res.Client, WaitMs: res.Waited.Milliseconds(),
	})
	switch {
	case err != nil:
		s.options.Approvals.Ended(res.ID, approval.EndRefused, "the answer could not be recorded")
		return registry.Decision{}, fmt.Errorf("record the answer: %w", err)
	case res.Outcome == approval.Approved:
		s.options.Approvals.Ended(res.ID, approval.EndDone, "")
	default:
		s.options.Approvals.Ended(res.ID, approval.EndRefused, "")
	}
	return registry.Decision{Approved: res.Outcome == approval.Approved, Outcome: string(res.Outcome), ID: res.ID, By: res.By, Reason: res.Reason}, nil
}

// judged is a package with what was found out about it.
type judged struct {
	registry.Package
	facts   rules.Facts
	verdict rules.Verdict
	earlier earlier
}
