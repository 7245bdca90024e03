package registry

import (
	"context"
	"errors"
	"sync"

	"golang.org/x/sync/semaphore"
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
	// Admit is called before a name leaves the host for the first time in the session, and
	// before a version of it does that no document has named; the version is empty for the
	// name itself. The error is a *Refusal.
	Admit func(ctx context.Context, o *Origin, p Pin) error
	// Named reports whether a version was named by others than the agent. Nil means that
	// none was.
	Named func(o *Origin, p Pin) bool
	// Delivered is told of each document that the agent gets, Missing of each name that the
	// registry does not have. They may be nil.
	Delivered func(o *Origin, f *Facts)
	// Needed is told, before an artifact is released, what it says that the package needs. It may be nil.
	Needed  func(o *Origin, by string, needs []Pin)
	Missing func(o *Origin, name string)
	// Remember holds bytes against those that were accepted for the same file before. The
	// error is a *Refusal.
	Remember func(Package) error
	// Record stores a record and returns when it is durable. After an error nothing
	// leaves the host, and nothing is released.
	Record func(Record) error
	// Note stores a record of what has happened.
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
	sent  map[Pin]bool               // names and versions that have left the host, below their origin
	known map[string]map[string]bool // versions that the agent has got of them, where audits list such, likewise
}

// NewSession makes the way of one agent. It ends with Close.
func (p *Plane) NewSession(c SessionConfig) *Session {
	s := &Session{plane: p, config: c, slots: make(chan struct{}, p.limits.Requests), readings: readings{byKey: make(map[string]*reading)}, memory: semaphore.NewWeighted(sessionBytes), sent: make(map[Pin]bool), known: make(map[string]map[string]bool)}
	s.holds = newHolds(s)
	return s
}

// Close withdraws what waits.
func (s *Session) Close() { s.holds.close() }

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

// under does something when fewer than Limits.Requests are under way. What is fetched for one whose
// client is gone still is.
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
	case ctx.Err() != nil:
		x.ended("error", ReasonGone, "the client is gone")
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
