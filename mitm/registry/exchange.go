package registry

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"
)

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

// run answers the request. Serve answers a *Refusal.
func (x *exchange) run(ctx context.Context) error {
	if x.origin == nil {
		return Refuse(403, ReasonPath, "this address belongs to no package registry that agents may use")
	}
	return x.s.under(ctx, func() error { return x.serve(ctx) })
}

func (x *exchange) serve(ctx context.Context) error {
	if err := x.parse(); err != nil {
		return err
	}
	if err := x.foreign(ctx); err != nil {
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

// foreign refuses names of a private registry at other registries, which must not learn them.
func (x *exchange) foreign(ctx context.Context) error {
	if x.ask.Name == "" {
		return nil
	}
	if inScopes(x.origin.Ecosystem, x.s.plane.config.Reserved[x.origin.Ecosystem], x.ask.Name) {
		return Refuse(404, ReasonPrivate, "%s is reserved on this machine; no registry is asked for it", line(x.ask.Name))
	}
	for _, other := range x.s.plane.config.Origins {
		if other != x.origin && other.Ecosystem == x.origin.Ecosystem && other.Owns(x.ask.Name) && !x.origin.Owns(x.ask.Name) {
			return Refuse(404, ReasonPrivate, "%s belongs to another registry of this machine; this one is not asked for it", line(x.ask.Name))
		}
	}
	return x.onPrivate(ctx)
}

// onPrivate refuses a name at a public Python index if a private index has it, because pip takes
// the highest version of all its indexes. A private index with scopes is not asked, because the
// scopes already say which names are its own.
func (x *exchange) onPrivate(ctx context.Context) error {
	if x.origin.Ecosystem != "pypi" || x.origin.Private {
		return nil
	}
	for _, other := range x.s.plane.config.Origins {
		if other.Ecosystem != x.origin.Ecosystem || !other.Private || len(other.Scopes) > 0 {
			continue
		}
		err := x.lookAt(ctx, other)
		switch {
		case err == nil:
			return Refuse(404, ReasonPrivate, "%s is on the private registry %s; no public one is asked for it", line(x.ask.Name), other.URL.Host)
		case errors.Is(err, ErrNotFound):
		case ctx.Err() != nil:
			return err
		default:
			return Refuse(502, ReasonPrivate, "%s may be on the private registry %s, which did not answer, so no public one is asked; the person can list the private names in the scopes of this source (registries.sources in config.json): %s",
				line(x.ask.Name), other.URL.Host, line(refusalOf(err).Text))
		}
	}
	return nil
}

// lookAt asks another registry for the requested name. It returns nil if that registry has it.
func (x *exchange) lookAt(ctx context.Context, other *Origin) error {
	ask, err := x.ecosystem.Lookup(other, x.ask.Name, "")
	if err != nil {
		return err
	}
	y := &exchange{s: x.s, r: x.r, origin: other, ecosystem: x.ecosystem, base: other.URL, ask: ask}
	y.rec = Record{Path: line(ask.Path), What: "document", Ecosystem: other.Ecosystem, Origin: other.URL.String(), Name: ask.Name}
	y.documents = &documents{p: x.s.plane, before: y.before(ctx), x: y}
	defer y.done()
	_, err = x.ecosystem.Facts(ctx, y.documents, other, ask)
	return err
}

// before returns a function to call before the name leaves the host: it admits and records the
// name.
func (x *exchange) before(ctx context.Context) func() error {
	return func() error { return x.send(ctx, Pin{Name: x.ask.Name}) }
}

// send admits and records a name or a version that leaves the host, once.
func (x *exchange) send(ctx context.Context, p Pin) error {
	key := Pin{x.origin.URL.String() + "\n" + p.Name, p.Version}
	x.s.mu.Lock()
	sent := x.s.sent[key]
	x.s.mu.Unlock()
	if sent {
		return nil
	}
	if p.Name != "" && x.s.config.Admit != nil {
		if err := x.s.config.Admit(ctx, x.origin, p); err != nil {
			return err
		}
	}
	if err := x.record("allow"); err != nil {
		return err
	}
	x.s.mu.Lock()
	x.s.sent[key] = true
	x.s.mu.Unlock()
	return nil
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

// ended notes how the request ended.
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
	if err := x.record(decision); err != nil {
		r = refusalOf(err) // it stays a refusal
	}
	return refuse(x.w, x.ecosystem, r)
}

// facts returns what the registry says about the package.
func (x *exchange) facts(ctx context.Context) (*Facts, error) {
	p, key, age := x.s.plane, "", x.s.plane.limits.Fresh
	switch x.ask.Kind {
	case Metadata:
		key = strings.Join([]string{"document", x.origin.URL.String(), x.ask.Path, x.ask.Form}, "\n")
	case Artifact:
		key, age = strings.Join([]string{"artifact", x.origin.URL.String(), x.ask.Name, x.ask.Version}, "\n"), p.limits.Believed
	default:
		return x.read(ctx)
	}
	known := func() *Facts {
		f := p.facts.get(key, age)
		if f != nil && x.ask.Kind == Artifact {
			if _, file := f.File(x.ask.URL()); file == nil {
				return nil
			}
		}
		return f
	}
	return x.s.readings.do(ctx, key+"\n"+x.ask.Path, known, func() (*Facts, error) {
		f, err := x.read(ctx)
		if err == nil {
			p.facts.put(key, f)
		}
		return f, err
	})
}

// read fetches and reads what the registry says about the package.
func (x *exchange) read(ctx context.Context) (*Facts, error) {
	if x.documents == nil {
		x.documents = &documents{p: x.s.plane, before: x.before(ctx), x: x}
	}
	defer x.documents.rest()
	f, err := x.ecosystem.Facts(ctx, x.documents, x.origin, x.ask)
	if errors.Is(err, ErrNotFound) && x.s.config.Missing != nil && x.ask.Name != "" {
		x.s.config.Missing(x.origin, x.ask.Name)
	}
	return f, err
}
