package packages

import (
	"context"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/preview"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	rules "github.com/ironcurtain-mux/ironcurtain-mux/policy/packages"
)

// Checked is the result of checking a version.
type Checked struct {
	Facts   rules.Facts
	Verdict rules.Verdict
	SHA256  string // of the artifact, in hex
	Bytes   int64
	Lines   []preview.Line // as in a question to the person
}

// Check fetches, inspects and judges a version for the person, without an agent. The error is a
// *registry.Refusal if the registry's answer cannot be accepted.
func (h *Host) Check(ctx context.Context, ecosystem, name, version string) (*Checked, error) {
	s := &Session{host: h, names: newNames(h.options)}
	way := h.plane.NewSession(registry.SessionConfig{
		Judge:  s.judge,
		Record: func(registry.Record) error { return nil }, // the person asks, so no record is needed
		Note:   func(registry.Record) {},
	})
	defer way.Close()
	s.way = way
	p, _, err := way.Check(ctx, ecosystem, name, version)
	if err != nil {
		return nil, err
	}
	wave := []judged{{Package: p}}
	j := &wave[0]
	j.facts, j.verdict = h.judge(p, s)
	c := &Checked{Facts: j.facts, Verdict: j.verdict, SHA256: p.Sum, Bytes: p.Size}
	if p.File != nil {
		s.findEarlier(ctx, wave)
		c.Lines = s.describe(j)
	}
	return c, nil
}

// Shrink removes the least recently used files from the store, down to its limit. It returns how
// many bytes it removed and how many are left.
func (h *Host) Shrink() (removed, left int64, err error) { return h.store.Shrink(h.cacheBytes()) }
