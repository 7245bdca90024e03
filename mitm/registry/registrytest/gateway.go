package registrytest

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// Gateway answers a package manager: each request passes Parse, Facts, Inspect and Write of an
// ecosystem. It judges and stores nothing; the test says which versions are hidden.
type Gateway struct {
	Ecosystem registry.Ecosystem
	Fetcher   registry.Fetcher
	Origin    *registry.Origin
	// Bases are the bases of the origin, by their paths on this server. The longest path wins; "/"
	// is for all other paths.
	Bases map[string]*url.URL
	// Hidden says which versions documents leave out; nil: none.
	Hidden func(f *registry.Facts, version string) bool
	// Bytes gets the bytes of an artifact.
	Bytes func(ctx context.Context, f *registry.Facts, v *registry.Version, a *registry.Ask) ([]byte, error)

	mu  sync.Mutex
	log []string
}

// ServeHTTP answers one request.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	g.log = append(g.log, r.Method+" "+r.RequestURI)
	g.mu.Unlock()
	body, media, err := g.answer(r)
	var no *registry.Refusal
	switch {
	case errors.As(err, &no):
		http.Error(w, no.Text, no.Status)
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadGateway)
	default:
		w.Header().Set("Content-Type", media)
		_, _ = w.Write(body) //nolint:gosec // no browser reads it
	}
}

// Requests are what was asked, one a line.
func (g *Gateway) Requests() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return strings.Join(g.log, "\n")
}

func (g *Gateway) answer(r *http.Request) (body []byte, media string, err error) {
	asked := g.request(r)
	if asked.Base == nil {
		return nil, "", registry.ErrNotFound
	}
	a, err := g.Ecosystem.Parse(g.Origin, asked)
	if err != nil {
		return nil, "", err
	}
	facts, err := g.Ecosystem.Facts(r.Context(), g.Fetcher, g.Origin, a)
	if err != nil {
		return nil, "", err
	}
	if a.Kind != registry.Artifact {
		var out bytes.Buffer
		err := g.Ecosystem.Write(&out, facts, a, func(v string) bool { return g.Hidden != nil && g.Hidden(facts, v) })
		return out.Bytes(), a.Type, err
	}
	v, file := facts.File(a.URL())
	if file == nil {
		return nil, "", registry.Refuse(403, registry.ReasonUnlisted, "no document names it")
	}
	data, err := g.Bytes(r.Context(), facts, v, a)
	if err != nil {
		return nil, "", err
	}
	_, err = g.Ecosystem.Inspect(facts, v, file, bytes.NewReader(data), int64(len(data)))
	return data, "application/octet-stream", err
}

// request returns a request as the plane would hand it to the ecosystem.
func (g *Gateway) request(r *http.Request) *registry.Request {
	asked, path := r.URL.EscapedPath(), ""
	for at := range g.Bases {
		if len(at) > len(path) && strings.HasPrefix(asked, at) {
			path = at
		}
	}
	return &registry.Request{
		Method: r.Method, Base: g.Bases[path], Path: strings.TrimPrefix(asked, path),
		Query: r.URL.RawQuery, Accept: strings.Join(r.Header["Accept"], ", "),
	}
}
