package registry

import (
	"context"
	"errors"
	"sync"

	"golang.org/x/sync/semaphore"
)

// SessionConfig configures one agent's Session.
type SessionConfig struct {
	// Judge decides what may happen to a version. It answers at once and asks nobody.
	Judge func(Package) Verdict
	// Ask asks a person about packages that wait, and returns their decision. ctx ends
	// when nobody has waited for Limits.Patience.
	Ask func(ctx context.Context, wave []Package) (Decision, error)
	// Pinned reports whether a lockfile of the workspace named the version when the session
	// began. Nil means that none did.
	Pinned func(ecosystem, name, version string) bool
	// Admit is called before a name leaves the host for the first time in the session, and
	// before a version leaves it that no document has listed. The version is empty for the name
	// itself. The error is a *Refusal.
	Admit func(ctx context.Context, o *Origin, p Pin) error
	// Named reports whether a version was named by someone other than the agent. Nil means that
	// none was.
	Named func(o *Origin, p Pin) bool
	// Delivered is called for each document that the agent gets, Missing for each name that the
	// registry does not have. They may be nil.
	Delivered func(o *Origin, f *Facts)
	// Needed is called before an artifact is released, with the package's dependencies. It may be nil.
	Needed  func(o *Origin, by string, needs []Pin)
	Missing func(o *Origin, name string)
	// Remember compares bytes with those that were accepted for the same file before. The
	// error is a *Refusal.
	Remember func(Package) error
	// Record stores a record and returns when it is durable. After an error nothing
	// leaves the host, and nothing is released.
	Record func(Record) error
	// Note stores a record of something that has happened.
	Note func(Record)
}

// Session is one agent's way to the registries of a plane.
type Session struct {
	plane  *Plane
	config SessionConfig
	slots  chan struct{}
	holds  *holds

	readings readings
	memory   *semaphore.Weighted // for large documents; sessionBytes

	mu    sync.Mutex
	sent  map[Pin]bool               // names and versions that have left the host, by origin
	known map[string]map[string]bool // for audits: versions that the agent got, by origin and name
}

// NewSession makes the session of one agent. It ends with Close.
func (p *Plane) NewSession(c SessionConfig) *Session {
	s := &Session{plane: p, config: c, slots: make(chan struct{}, p.limits.Requests), readings: readings{byKey: make(map[string]*reading)}, memory: semaphore.NewWeighted(sessionBytes), sent: make(map[Pin]bool), known: make(map[string]map[string]bool)}
	s.holds = newHolds(s)
	return s
}

// Close withdraws the waiting artifacts.
func (s *Session) Close() { s.holds.close() }

// HTTPRequest is a request as package mitm has read it, strictly and completely.
type HTTPRequest struct {
	Method      string
	Authority   string // scheme, host and port: "https://npm.example:443"
	Path, Query string // as they were sent
	Accept      string
	Range       string
	IfNoneMatch string
	Body        []byte
}

// under calls do when fewer than Limits.Requests are under way. A fetch counts until it ends, even
// if its client has gone.
func (s *Session) under(ctx context.Context, do func() error) (err error) {
	select {
	case s.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() {
		var left *leftFlight
		if !errors.As(err, &left) {
			<-s.slots
			return
		}
		s.plane.wg.Go(func() {
			<-left.result
			<-s.slots
		})
	}()
	return do()
}

// Serve answers a request. Its error means that the answer could not be written to its end.
func (s *Session) Serve(ctx context.Context, r *HTTPRequest, w Answer) error {
	x := &exchange{s: s, r: r, w: w}
	x.rec = Record{Path: line(r.Path), What: "other"}
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
	case ctx.Err() != nil:
		x.ended("error", ReasonGone, "the client has gone")
		return err
	case x.begun:
		x.ended("error", ReasonUpstream, line(err.Error()))
		return err
	case !errors.As(err, &refusal):
		s.plane.log.Error("a package could not be served", "error", err)
		refusal = refusalOf(err)
	}
	return x.refuse(refusal)
}
