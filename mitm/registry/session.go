package registry

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// SessionConfig configures the way of one agent.
type SessionConfig struct {
	// Judge says what may happen to a version. It answers at once and asks nobody.
	Judge func(Package) Verdict
	// Ask asks a person about packages that wait, and returns their decision. ctx ends
	// when nobody has waited for Limits.Patience.
	Ask func(ctx context.Context, wave []Package) (Decision, error)
	// Pinned reports whether a lockfile of the workspace named the version when the session
	// began. Nil means that none did.
	Pinned func(ecosystem, name, version string) bool
	// Admit is called before a name leaves the host for the first time in the session. The
	// error is a *Refusal.
	Admit func(ctx context.Context, o *Origin, name string) error
	// Delivered is told of each document that the agent gets, Missing of each name that the
	// registry does not have. They may be nil.
	Delivered func(o *Origin, f *Facts)
	Missing   func(o *Origin, name string)
	// Remember holds bytes against those that were accepted for the same file before. The
	// error is a *Refusal.
	Remember func(Package) error
	// Record stores a record and returns when it is durable. After an error nothing
	// leaves the host, and nothing is released.
	Record func(Record) error
	// Note stores a record of what has happened.
	Note func(Record)
}

// Package is one version at one origin, as it is judged.
type Package struct {
	Origin  *Origin
	Facts   *Facts
	Version *Version
	Pinned  bool
	// File is the artifact that was asked for, Sum its SHA-256 in hex, Size its size in
	// bytes. They are empty while a document is judged.
	File       *File
	Sum        string
	Size       int64
	Inspection *Inspection // nil before the bytes are there
}

// Then is what may happen to a version.
type Then string

// What may happen.
const (
	Allow Then = "allow"
	Wait  Then = "ask"
	Deny  Then = "deny"
)

// Verdict is the judge's answer.
type Verdict struct {
	Then   Then
	Rule   string // that decided, as the person knows it
	Reason Reason
	Text   string // one line for the agent: why it is not allowed
	// Hide means that a document leaves the version out.
	Hide bool
}

// Decision is a person's answer about packages that waited.
type Decision struct {
	Approved bool
	Outcome  string // in one word: "approved", "denied", "expired", "withdrawn"
	ID       string // of the question
	By       string
	Reason   string // told to the agent
}

// Record is one decision for the audit.
type Record struct {
	Time      time.Time
	Decision  string // "allow", "deny", "error", or "done" for what has happened
	Ecosystem string
	Origin    string
	What      string // "document", "artifact", "audit", "other"
	Method    string
	Path      string
	Name      string
	Version   string
	Reason    Reason
	Text      string
	Rule      string
	Digest    string // SHA-256 of the bytes, in hex
	Bytes     int64
	Store     bool      // the bytes were in the store
	Published time.Time // as the judge took it
	Proof     string
	Hidden    int // versions that the document left out
	Decided   *Decision
}

// Session is one agent's way to the registries of a plane.
type Session struct {
	plane  *Plane
	config SessionConfig
	slots  chan struct{}
	holds  *holds

	mu    sync.Mutex
	names map[string]bool // that have left the host in this session, below their origin
	known map[string]bool // of which the agent has got a document, likewise
	tally Tally
}

// Tally counts what went through a session.
type Tally struct{ Documents, Artifacts, Hidden, Waiting, Refused int }

// NewSession makes the way of one agent. It ends with Close.
func (p *Plane) NewSession(c SessionConfig) *Session {
	s := &Session{plane: p, config: c, slots: make(chan struct{}, p.limits.Requests), names: make(map[string]bool), known: make(map[string]bool)}
	s.holds = newHolds(s)
	return s
}

// Close withdraws what waits.
func (s *Session) Close() { s.holds.close() }

// Tally returns what went through so far.
func (s *Session) Tally() Tally {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tally
	t.Waiting = s.holds.waiting()
	return t
}

// HTTPRequest is a request as package mitm has read it: strictly, and in one piece.
type HTTPRequest struct {
	Method      string
	Authority   string // scheme, host and port: "https://npm.example:443"
	Path, Query string // as they were sent
	Accept      string
	Range       string
	IfNoneMatch string
	Body        []byte
}

// Serve answers a request. Its error means that the answer could not be written to its end.
func (s *Session) Serve(ctx context.Context, r *HTTPRequest, w Answer) error {
	x := &exchange{s: s, r: r, w: w}
	x.rec = Record{Method: r.Method, Path: line(r.Path), What: "other"}
	if o, base := s.plane.find(r.Authority, r.Path); o != nil {
		x.origin, x.ecosystem = o, s.plane.ecosystems[o.Ecosystem]
		x.base = base
		x.rec.Ecosystem, x.rec.Origin = o.Ecosystem, o.URL.String()
	}
	defer x.done()
	err := x.run(ctx)
	var refusal *Refusal
	switch {
	case err == nil:
		return nil
	case x.begun || ctx.Err() != nil:
		x.ended("error", ReasonUpstream, line(err.Error()))
		return err
	case !errors.As(err, &refusal):
		s.plane.log.Error("a package could not be served", "error", err)
		refusal = refusalOf(err)
	}
	return x.refuse(refusal)
}

// exchange is one request and its answer.
type exchange struct {
	s         *Session
	r         *HTTPRequest
	w         Answer
	origin    *Origin
	ecosystem Ecosystem
	base      *url.URL
	ask       *Ask
	documents *documents // nil until one was asked for
	rec       Record
	begun     bool // the head of the answer was sent
}

// done ends the exchange.
func (x *exchange) done() {
	if x.documents != nil {
		x.documents.done()
	}
}

// run does what the request asks for. A *Refusal is answered by Serve.
func (x *exchange) run(ctx context.Context) error {
	if x.origin == nil {
		return Refuse(403, ReasonPath, "this address belongs to no package registry that agents may use")
	}
	select {
	case x.s.slots <- struct{}{}:
		defer func() { <-x.s.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := x.parse(); err != nil {
		return err
	}
	if err := x.foreign(); err != nil {
		return err
	}
	switch x.ask.Kind {
	case Metadata:
		return x.document(ctx)
	case Artifact:
		return x.artifact(ctx)
	case Audit:
		return x.audit(ctx)
	default:
		return x.plain(ctx)
	}
}

// parse reads the request.
func (x *exchange) parse() error {
	base := x.base
	if slices.ContainsFunc(x.origin.Aliases, func(a *url.URL) bool { return a.String() == base.String() }) {
		base = x.origin.URL
	}
	ask, err := x.ecosystem.Parse(x.origin, &Request{
		Method: x.r.Method, Base: base, Path: strings.TrimPrefix(x.r.Path, x.base.EscapedPath()),
		Query: x.r.Query, Accept: x.r.Accept, Body: x.r.Body,
	})
	if err != nil {
		return err
	}
	if ask.Base == nil {
		ask.Base = base
	}
	x.ask = ask
	x.rec.Name, x.rec.Version = ask.Name, ask.Version
	x.rec.What = map[Kind]string{Metadata: "document", Artifact: "artifact", Audit: "audit", Plain: "other"}[ask.Kind]
	return nil
}

// foreign refuses the names of a private registry at another one, which must not learn them.
func (x *exchange) foreign() error {
	if x.ask.Name == "" {
		return nil
	}
	if inScopes(x.s.plane.config.Reserved[x.origin.Ecosystem], x.ask.Name) {
		return Refuse(404, ReasonPrivate, "%s belongs to this machine's person; no registry is asked for it", line(x.ask.Name))
	}
	for _, other := range x.s.plane.config.Origins {
		if other != x.origin && other.Ecosystem == x.origin.Ecosystem && other.Owns(x.ask.Name) && !x.origin.Owns(x.ask.Name) {
			return Refuse(404, ReasonPrivate, "%s belongs to another registry of this machine; it is not asked for here", line(x.ask.Name))
		}
	}
	return nil
}

// before returns what must happen before the name leaves the host: it is admitted, and there
// is a record.
func (x *exchange) before(ctx context.Context) func() error {
	return func() error {
		key := x.origin.URL.String() + "\n" + x.ask.Name
		x.s.mu.Lock()
		known := x.s.names[key]
		x.s.mu.Unlock()
		if known {
			return nil
		}
		if x.ask.Name != "" && x.s.config.Admit != nil {
			if err := x.s.config.Admit(ctx, x.origin, x.ask.Name); err != nil {
				return err
			}
		}
		if err := x.record("allow"); err != nil {
			return err
		}
		x.s.mu.Lock()
		x.s.names[key] = true
		x.s.mu.Unlock()
		return nil
	}
}

// record stores the record durably.
func (x *exchange) record(decision string) error {
	r := x.rec
	r.Time, r.Decision = time.Now().UTC(), decision
	if r.Reason == "" {
		r.Reason = ReasonAllowed
	}
	if err := x.s.config.Record(r); err != nil {
		return Refuse(503, ReasonAudit, "the request could not be recorded")
	}
	return nil
}

// ended notes what became of the request.
func (x *exchange) ended(decision string, reason Reason, why string) {
	r := x.rec
	r.Time, r.Decision, r.Reason, r.Text = time.Now().UTC(), decision, reason, why
	x.s.config.Note(r)
}

// refuse records a refusal and answers with it.
func (x *exchange) refuse(r *Refusal) error {
	x.rec.Reason, x.rec.Text = r.Reason, line(r.Text)
	decision := "deny"
	if r.Status >= 500 {
		decision = "error"
	}
	x.s.count(func(t *Tally) { t.Refused++ })
	if err := x.record(decision); err != nil {
		r = refusalOf(err) // a refusal all the same
	}
	return refuse(x.w, x.ecosystem, r)
}

func (s *Session) count(f func(*Tally)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.tally)
}

// facts returns what the registry says of the package.
func (x *exchange) facts(ctx context.Context) (*Facts, error) {
	p, key, age := x.s.plane, "", x.s.plane.limits.Fresh
	switch x.ask.Kind {
	case Metadata:
		key = strings.Join([]string{"document", x.origin.URL.String(), x.ask.Path, x.ask.Form}, "\n")
	case Artifact:
		key, age = strings.Join([]string{"artifact", x.origin.URL.String(), x.ask.Name, x.ask.Version}, "\n"), p.limits.Believed
	}
	if key != "" {
		if f := p.facts.get(key, age); f != nil {
			if _, file := f.File(x.ask.URL()); x.ask.Kind != Artifact || file != nil {
				return f, nil
			}
		}
	}
	if x.documents == nil {
		x.documents = &documents{p: p, before: x.before(ctx)}
	}
	f, err := x.ecosystem.Facts(ctx, x.documents, x.origin, x.ask)
	if err != nil {
		if errors.Is(err, ErrNotFound) && x.s.config.Missing != nil && x.ask.Name != "" {
			x.s.config.Missing(x.origin, x.ask.Name)
		}
		return nil, err
	}
	if key != "" {
		p.facts.put(key, f)
	}
	return f, nil
}

// judge judges a version.
func (x *exchange) judge(f *Facts, v *Version) (Package, Verdict) {
	p := Package{Origin: x.origin, Facts: f, Version: v}
	p.Pinned = x.s.config.Pinned != nil && x.s.config.Pinned(x.origin.Ecosystem, f.Name, v.Version)
	return p, x.s.config.Judge(p)
}

// document answers with a document, from which the versions that are held back are missing.
func (x *exchange) document(ctx context.Context) error {
	f, err := x.facts(ctx)
	if err != nil {
		return err
	}
	hidden := make(map[string]bool)
	for i := range f.Versions {
		v := &f.Versions[i]
		p, verdict := x.judge(f, v)
		if verdict.Hide && !p.Pinned && !x.s.holds.approved(&p) || verdict.Then == Deny {
			hidden[v.Version] = true
		}
	}
	x.rec.Hidden = len(hidden)
	var body bytes.Buffer
	if err := x.ecosystem.Write(&body, f, x.ask, func(version string) bool { return hidden[version] }); err != nil {
		return err
	}
	return x.sendDocument(f, hidden, body.Bytes())
}

// sendDocument sends a document, or says that the client has it already.
func (x *exchange) sendDocument(f *Facts, hidden map[string]bool, body []byte) error {
	kind := x.ask.Type
	if kind == "" {
		kind = f.Document.Type
	}
	sum := sha256.Sum256(body)
	tag := `"` + hex.EncodeToString(sum[:16]) + `"`
	fields := []Field{{"Content-Type", kind}, {"ETag", tag}, {"Cache-Control", "no-cache"}}
	if len(hidden) > 0 {
		fields[2].Value = "no-store" // npm prints a notice of such answers only
		fields = append(fields, Field{"npm-notice", fmt.Sprintf("%d versions of %s are hidden by the person's rules for new packages; request_package asks for one", len(hidden), line(f.Name))})
	}
	x.begun = true
	x.rec.Bytes = int64(len(body))
	x.s.mu.Lock()
	x.s.known[x.origin.URL.String()+"\n"+x.ask.Name] = true
	x.s.tally.Documents++
	x.s.tally.Hidden += len(hidden)
	x.s.mu.Unlock()
	if x.s.config.Delivered != nil && x.ask.Name != "" {
		x.s.config.Delivered(x.origin, f)
	}
	var err error
	if x.r.IfNoneMatch == tag {
		err = x.w.Start(304, "Not Modified", fields[1:], 0)
	} else if err = x.w.Start(200, "OK", fields, int64(len(body))); err == nil {
		_, err = x.w.Write(body)
	}
	if err == nil {
		x.ended("done", ReasonAllowed, "")
	}
	return err
}

// plain answers with what names no version.
func (x *exchange) plain(ctx context.Context) error {
	f, err := x.facts(ctx)
	if err != nil {
		return err
	}
	var body bytes.Buffer
	if err := x.ecosystem.Write(&body, f, x.ask, func(string) bool { return false }); err != nil {
		return err
	}
	return x.sendDocument(f, nil, body.Bytes())
}

// artifact answers with the bytes of a version, when nothing is against them.
func (x *exchange) artifact(ctx context.Context) error {
	f, err := x.facts(ctx)
	if err != nil {
		return err
	}
	v, file := f.File(x.ask.URL())
	if file == nil {
		return Refuse(403, ReasonUnlisted, "no document of the registry names this artifact")
	}
	p, verdict := x.judge(f, v)
	p.File = file
	x.rec.Name, x.rec.Version, x.rec.Published, x.rec.Proof = f.Name, v.Version, v.Published, v.Proof
	if verdict.Then == Deny {
		return x.denied(verdict)
	}
	if p, verdict, err = x.inside(ctx, p); err != nil {
		return err
	}
	x.rec.Rule = verdict.Rule
	switch verdict.Then {
	case Allow:
	case Wait:
		if err := x.wait(ctx, p, verdict); err != nil {
			return err
		}
	default:
		return x.denied(verdict)
	}
	return x.release(p.Sum)
}

func (x *exchange) denied(v Verdict) error {
	x.rec.Rule = v.Rule
	reason := v.Reason
	if reason == "" {
		reason = ReasonRule
	}
	return Refuse(403, reason, "%s", v.Text)
}

// wait waits for a person. A file that belongs to an artifact waits with it.
func (x *exchange) wait(ctx context.Context, p Package, v Verdict) error {
	if p.File.Of != "" {
		if _, whole := p.Facts.File(p.File.Of); whole != nil {
			p.File = whole
			saved := x.rec
			var err error
			if p, v, err = x.inside(ctx, p); err != nil {
				return err
			}
			x.rec = saved // what is released is the file that was asked for
		}
	}
	x.done() // others may read large documents meanwhile
	decision, err := x.s.holds.ask(ctx, p)
	if err != nil {
		return err
	}
	x.rec.Decided = &decision
	if decision.Approved {
		return nil
	}
	why := fmt.Sprintf("%s %s: %s; it was not approved (%s)", p.Facts.Name, p.Version.Version, v.Text, decision.Outcome)
	if decision.Reason != "" {
		why += ": " + decision.Reason
	}
	return Refuse(403, ReasonDenied, "%s", why)
}

// release records the bytes and sends them.
func (x *exchange) release(sum string) error {
	blob, err := x.s.plane.config.Store.Open(sum)
	if err != nil {
		return err
	}
	defer blob.Close()
	if err := x.record("allow"); err != nil {
		return err
	}
	x.s.count(func(t *Tally) { t.Artifacts++ })
	kind := x.ask.Type
	if kind == "" {
		kind = "application/octet-stream"
	}
	x.begun = true
	return send(x.w, []Field{{"Content-Type", kind}, {"ETag", `"` + sum[:32] + `"`}, {"Cache-Control", "no-cache"}, {"Accept-Ranges", "bytes"}}, x.r.Range, blob, blob.Size)
}
