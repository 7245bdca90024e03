package registry

import (
	"context"
	"fmt"
	"path"
)

// artifact answers with the bytes of a version, if nothing forbids it.
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
	if needed := x.s.config.Needed; needed != nil && p.Inspection != nil {
		needed(x.origin, p.Facts.Name, p.Inspection.Needs)
	}
	x.served(p.Facts.Name, *p.Version)
	x.done() // its bytes are read from the store
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
			x.rec = saved // the file that was asked for is released, not the artifact
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
	why := fmt.Sprintf("%s; it was not approved (%s)", v.Text, decision.Outcome)
	if decision.Reason != "" {
		why += ": " + decision.Reason
	}
	return Refuse(403, ReasonDenied, "%s", why)
}

// Look fetches and inspects another version of a package that waits, so that the two can be
// compared. It releases nothing.
func (s *Session) Look(ctx context.Context, p Package, other *Version) (*Inspection, int64, error) {
	file := like(p.File, other)
	if file == nil {
		return nil, 0, ErrNotFound
	}
	got, err := s.plane.artifact(ctx, p.Origin, p.Facts, other, file, func() error { return nil }) // the registry knows the name already
	if err != nil {
		return nil, 0, err
	}
	return got.Inspection, got.Size, nil
}

// like returns the artifact of a version that is of the same kind as file, or else the
// version's first artifact.
func like(file *File, v *Version) *File {
	var first *File
	for i := range v.Files {
		switch f := &v.Files[i]; {
		case f.Of != "":
		case path.Ext(f.URL) == path.Ext(file.URL):
			return f
		case first == nil:
			first = f
		}
	}
	return first
}

// release records the bytes and sends them.
func (x *exchange) release(sum string) error {
	blob, err := x.s.plane.config.Store.Open(sum)
	if err != nil {
		return err
	}
	defer blob.Close()
	if err := x.s.plane.keepSecretsOf(blob); err != nil {
		return err
	}
	if err := x.record("allow"); err != nil {
		return err
	}
	kind := x.ask.Type
	if kind == "" {
		kind = "application/octet-stream"
	}
	x.begun = true
	return send(x.w, []Field{{"Content-Type", kind}, {"ETag", `"` + sum[:32] + `"`}, {"Cache-Control", "no-cache"}, {"Accept-Ranges", "bytes"}}, x.r.Range, blob, blob.Size)
}

// inside fetches and inspects the artifact of a package, and judges it again.
func (x *exchange) inside(ctx context.Context, p Package) (Package, Verdict, error) {
	got, err := x.s.plane.artifact(ctx, x.origin, p.Facts, p.Version, p.File, x.before(ctx))
	if err != nil {
		return p, Verdict{}, err
	}
	p.Sum, p.Size, p.Inspection = got.Sum, got.Size, got.Inspection
	x.rec.Digest, x.rec.Bytes, x.rec.Store = got.Sum, got.Size, got.fromStore
	if x.s.config.Remember != nil {
		if err := x.s.config.Remember(p); err != nil {
			return p, Verdict{}, err
		}
	}
	return p, x.s.config.Judge(p), nil
}
