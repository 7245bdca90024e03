package apt

import (
	"context"
	"errors"
	"strings"

	"github.com/ProtonMail/go-crypto/openpgp/packet"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// Facts fetches and verifies the document or the package of a request.
func (e *Ecosystem) Facts(ctx context.Context, f registry.Fetcher, o *registry.Origin, a *registry.Ask) (*registry.Facts, error) {
	parts, ok := split(a.Path)
	if !ok {
		return nil, refusePath("this is not a path of an apt repository: use apt-get")
	}
	r := &reading{eco: e, ctx: ctx, fetcher: f, origin: o, archive: e.archive(o)}
	switch a.Form {
	case formInRelease, formRelease, formSignature:
		dist := strings.Join(parts[1:len(parts)-1], "/")
		if err := r.try(dist); err != nil {
			return nil, err
		}
		doc, err := r.fetchRelease(dist, a.Form)
		return &registry.Facts{Document: doc}, err
	case formIndex, formByHash:
		doc, err := r.index(parts[1:])
		return &registry.Facts{Document: doc}, err
	case formPackage:
		return r.pkg(strings.Join(parts, "/"), a.URL())
	}
	return nil, refusePath("this is not a path of an apt repository: use apt-get")
}

// reading is one call of Facts.
type reading struct {
	eco     *Ecosystem
	ctx     context.Context // it lives as long as one call of Facts
	fetcher registry.Fetcher
	origin  *registry.Origin
	archive *archive
}

func (r *reading) document(path string, limit int) (*registry.Document, error) {
	doc, err := r.fetcher.Document(r.ctx, r.origin, join(strings.Split(path, "/")), "")
	if err != nil {
		return nil, err
	}
	if len(doc.Data) > limit {
		return nil, registry.Refuse(502, registry.ReasonLimit, "the repository sent too much: %d bytes", len(doc.Data))
	}
	return doc, nil
}

// maxTried bounds the distributions that a repository is asked for in vain, because an agent could
// encode data in their names.
const maxTried = 64

// maxDistribution bounds the name of a distribution, in bytes.
const maxDistribution = 100

// try admits the name of a distribution, unless it is known to exist. An unknown one is counted and
// recorded like the name of a package, because the agent may have made it up.
func (r *reading) try(dist string) error {
	if !r.remembered(dist).Date.IsZero() {
		return nil
	}
	if len(dist) > maxDistribution {
		return refusePath("this name is too long for a distribution")
	}
	if err := r.archive.count(dist); err != nil {
		return err
	}
	return r.fetcher.Admit(r.ctx, r.origin, registry.Pin{Name: "dists/" + dist}, func() (bool, error) { return false, nil })
}

// count counts a requested distribution.
func (a *archive) count(dist string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.tried[dist] && len(a.tried) >= maxTried {
		return registry.Refuse(403, registry.ReasonLimit, "too many distributions were requested in vain; ask for one that exists")
	}
	a.tried[dist] = true
	return nil
}

// fetchRelease gets a distribution's Release in one of its two forms, verifies and accepts it. It
// returns the document of the requested form.
func (r *reading) fetchRelease(dist, form string) (*registry.Document, error) {
	keys, err := keyring(r.origin.Keys)
	if err != nil {
		return nil, err
	}
	config := &packet.Config{Time: r.eco.now}
	unsigned := registry.Refuse(502, registry.ReasonDigest,
		"the Release of %s is not signed with a key that this machine has for the repository", dist)
	if form == formInRelease {
		doc, err := r.document("dists/"+dist+"/InRelease", maxRelease)
		if err != nil {
			return nil, err
		}
		text, ok := openSigned(doc.Data, keys, config)
		if !ok {
			return nil, unsigned
		}
		return doc, r.accept(dist, text)
	}
	doc, err := r.document("dists/"+dist+"/Release", maxRelease)
	if err != nil {
		return nil, err
	}
	signature, err := r.document("dists/"+dist+"/Release.gpg", maxRelease)
	if err != nil {
		return nil, err
	}
	if !openDetached(doc.Data, signature.Data, keys, config) {
		return nil, unsigned
	}
	err = r.accept(dist, doc.Data)
	if form == formSignature {
		doc = signature
	}
	return doc, err
}

// accept accepts a verified Release, unless it is out of date or older than the last one.
func (r *reading) accept(dist string, text []byte) error {
	found, err := parseRelease(dist, text)
	if err != nil {
		return err
	}
	if err := found.current(r.eco.now()); err != nil {
		return err
	}
	r.archive.mu.Lock()
	defer r.archive.mu.Unlock()
	last := r.remembered(dist)
	if found.date.Before(last.Date) {
		return registry.Refuse(502, registry.ReasonDocument,
			"the Release of %s is older than the one that this host has seen before: the mirror is out of date; wait, or ask the person to configure another one", dist)
	}
	if found.date.After(last.Date) {
		last.Date = found.date
		if err := r.eco.seen.Remember(r.origin.URL.String(), last); err != nil {
			return err
		}
	}
	r.archive.releases[dist] = found
	delete(r.archive.tried, dist)
	return nil
}

// remembered returns what is remembered about a distribution, which may be only its name.
func (r *reading) remembered(dist string) Distribution {
	for _, d := range r.eco.seen.Distributions(r.origin.URL.String()) {
		if d.Name == dist {
			return d
		}
	}
	return Distribution{Name: dist}
}

// release returns the verified Release of a distribution. It fetches the Release if there is none
// in memory or if that is out of date.
func (r *reading) release(dist string) (*release, error) {
	r.archive.mu.Lock()
	known := r.archive.releases[dist]
	r.archive.mu.Unlock()
	if known != nil && known.current(r.eco.now()) == nil {
		return known, nil
	}
	if err := r.try(dist); err != nil {
		return nil, err
	}
	_, err := r.fetchRelease(dist, formInRelease)
	if errors.Is(err, registry.ErrNotFound) {
		_, err = r.fetchRelease(dist, formRelease)
	}
	if err != nil {
		return nil, err
	}
	r.archive.mu.Lock()
	defer r.archive.mu.Unlock()
	return r.archive.releases[dist], nil
}
