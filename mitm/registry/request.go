package registry

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// Request asks for a version that documents hide. It is fetched and inspected like any other,
// and a person decides about its bytes, with what the agent said in justification. After an approval,
// documents show it.
func (s *Session) Request(ctx context.Context, ecosystem, name, version, justification string) (d Decision, err error) {
	err = s.under(ctx, func() error {
		d, err = s.request(ctx, ecosystem, name, version, justification)
		return err
	})
	return d, err
}

func (s *Session) request(ctx context.Context, ecosystem, name, version, justification string) (Decision, error) {
	x, f, err := s.lookup(ctx, ecosystem, name, version)
	if x != nil {
		defer x.done()
	}
	if err != nil {
		return Decision{}, err
	}
	p, verdict, err := x.check(ctx, f, version)
	switch {
	case err != nil:
		return Decision{}, err
	case verdict.Then == Allow:
		return Decision{Approved: true, Outcome: "approved", Reason: "it is not held back"}, nil
	case verdict.Then == Deny:
		return Decision{}, x.denied(verdict)
	}
	x.done()
	p.Justification = justification
	return s.holds.ask(ctx, p)
}

// Check fetches, inspects and judges a version, without an agent and without asking anyone.
func (s *Session) Check(ctx context.Context, ecosystem, name, version string) (Package, Verdict, error) {
	x, f, err := s.lookup(ctx, ecosystem, name, version)
	if x != nil {
		defer x.done()
	}
	if err != nil {
		return Package{}, Verdict{}, err
	}
	return x.check(ctx, f, version)
}

// lookup fetches what the registry says about a package.
func (s *Session) lookup(ctx context.Context, ecosystem, name, version string) (*exchange, *Facts, error) {
	if s.plane.ecosystems[ecosystem] == nil {
		return nil, nil, Refuse(404, ReasonPath, "there is no ecosystem %s: it is none of %s", line(ecosystem), strings.Join(slices.Sorted(maps.Keys(s.plane.ecosystems)), ", "))
	}
	o := s.plane.Find(ecosystem, name)
	if o == nil {
		return nil, nil, Refuse(404, ReasonPath, "this machine uses no %s registry for %s", line(ecosystem), line(name))
	}
	x := &exchange{s: s, r: &HTTPRequest{Method: "GET"}, origin: o, ecosystem: s.plane.ecosystems[ecosystem], base: o.URL}
	x.rec = Record{What: "document", Ecosystem: ecosystem, Origin: o.URL.String()}
	ask, err := x.ecosystem.Lookup(o, name, version)
	if err != nil {
		return nil, nil, err
	}
	x.ask = ask
	x.rec.Name = ask.Name
	if err := x.foreign(ctx); err != nil {
		return nil, nil, err
	}
	f, err := x.facts(ctx)
	return x, f, err
}

// check fetches the first artifact of a version, and judges it.
func (x *exchange) check(ctx context.Context, f *Facts, version string) (Package, Verdict, error) {
	v := f.Version(version)
	if v == nil || len(v.Files) == 0 {
		return Package{}, Verdict{}, Refuse(404, ReasonNotFound, "the registry has no version %s of %s", line(version), line(f.Name))
	}
	p, verdict := x.judge(f, v)
	if verdict.Then == Deny {
		return p, verdict, nil
	}
	p.File = &v.Files[0]
	for i := range v.Files {
		if v.Files[i].Of == "" {
			p.File = &v.Files[i]
			break
		}
	}
	return x.inside(ctx, p)
}
