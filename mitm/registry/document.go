package registry

import (
	"container/list"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"sync"
	"time"
	"weak"

	"golang.org/x/sync/singleflight"
)

// storedDocument is the store's note about a document.
type storedDocument struct {
	Sum     string    `json:"sum"` // of the blob
	Type    string    `json:"type"`
	ETag    string    `json:"etag,omitempty"`
	Fetched time.Time `json:"fetched"` // or confirmed
	Missing bool      `json:"missing,omitempty"`
}

// documents is the Fetcher of one request, which uses it from one goroutine.
type documents struct {
	x *exchange
	p *Plane
	// before is called before a name leaves the host; an error stops the request.
	before func() error

	memory int64 // taken from Session.memory
	large  bool  // it holds a slot of Plane.large
}

// rest lets others read large documents.
func (d *documents) rest() {
	if d.large {
		<-d.p.large
		d.large = false
	}
}

// done returns the request's memory for large documents.
func (d *documents) done() {
	d.rest()
	d.x.s.memory.Release(d.memory)
	d.memory = 0
}

// begin waits for memory for a document and, if it is large, for a slot.
func (d *documents) begin(ctx context.Context, size int64) error {
	d.rest()
	if d.memory == 0 {
		// The facts and the written document take about as much memory again each.
		memory := min(3*size, sessionBytes/largeDocuments)
		if err := d.x.s.memory.Acquire(ctx, memory); err != nil {
			return context.Cause(ctx)
		}
		d.memory = memory
	}
	if size <= largeBytes {
		return nil
	}
	select {
	case d.p.large <- struct{}{}:
		d.large = true
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Document is Fetcher's.
func (d *documents) Document(ctx context.Context, o *Origin, path, accept string) (*Document, error) {
	address, err := o.URL.Parse(path)
	if err != nil || Authority(address) != Authority(o.URL) {
		return nil, Refuse(400, ReasonPath, "the path is not part of a valid URL")
	}
	key := "document\n" + address.String() + "\n" + accept
	var kept storedDocument
	d.p.config.Store.Read(key, &kept)
	if age := time.Since(kept.Fetched); age >= 0 && age < d.p.limits.Fresh {
		if doc, err := d.kept(ctx, address, kept); err == nil || errors.Is(err, ErrNotFound) {
			return doc, err
		}
	}
	d.rest()
	if err := d.before(); err != nil {
		return nil, err
	}
	now, err := d.p.fetchDocument(ctx, o, address, accept, key, kept)
	if err != nil {
		if age := time.Since(kept.Fetched); ctx.Err() == nil && age >= 0 && age < d.p.limits.Offline && !d.p.config.NoOffline && unreachable(err) {
			if doc, missing := d.kept(ctx, address, kept); missing == nil {
				return doc, nil
			}
		}
		return nil, err
	}
	return d.kept(ctx, address, now)
}

// Admit is Fetcher's.
func (d *documents) Admit(ctx context.Context, o *Origin, v Pin, listed func() (bool, error)) error {
	if named := d.x.s.config.Named; named != nil && named(o, v) {
		return nil
	}
	if ok, err := listed(); ok || err != nil {
		return err
	}
	d.rest()
	return d.x.send(ctx, v)
}

// unreachable reports whether a kept document may be used after this error.
func unreachable(err error) bool {
	var refusal *Refusal
	return errors.As(err, &refusal) && refusal.away
}

// kept reads a document from the store. A large one waits until fewer are in memory.
func (d *documents) kept(ctx context.Context, address *url.URL, note storedDocument) (*Document, error) {
	if note.Missing {
		return nil, ErrNotFound
	}
	if size := d.p.config.Store.Size(note.Sum); size > countedBytes {
		if err := d.begin(ctx, size); err != nil {
			return nil, err
		}
	}
	blob, err := d.p.config.Store.Open(note.Sum)
	if err != nil {
		return nil, err
	}
	defer blob.Close()
	data := make([]byte, blob.Size)
	if _, err := io.ReadFull(io.NewSectionReader(blob, 0, blob.Size), data); err != nil {
		return nil, err
	}
	return &Document{URL: address, Type: note.Type, Data: data, Sum: note.Sum}, nil
}

// fetchDocument asks the registry for a document and stores the answer. Concurrent callers for
// the same document share one request.
func (p *Plane) fetchDocument(ctx context.Context, o *Origin, address *url.URL, accept, key string, kept storedDocument) (storedDocument, error) {
	if kept.Sum != "" {
		if blob, err := p.config.Store.Open(kept.Sum); err == nil {
			_ = blob.Close()
		} else {
			kept = storedDocument{} // the stored bytes are gone, so a 304 would not help
		}
	}
	result := p.fly(key, func(ctx context.Context) (any, error) {
		res, err := p.upstream.get(ctx, query{origin: o, address: address, accept: accept, etag: kept.ETag, coded: !isCompressed(address.Path)})
		if err != nil {
			return nil, err
		}
		defer res.Body.Close()
		now, err := p.storeDocument(o, res, key, kept)
		if err == nil {
			p.facts.forget(address, now.Sum)
		}
		return now, err
	})
	got, err := land(ctx, result)
	if err != nil {
		return storedDocument{}, err
	}
	return got.(storedDocument), nil
}

// isCompressed reports whether the document at a path is a compressed file, as Debian's indexes are.
func isCompressed(name string) bool {
	return slices.Contains([]string{".gz", ".xz", ".bz2", ".zst", ".lz4"}, path.Ext(name))
}

// storeDocument stores the answer of a registry and a note about it.
func (p *Plane) storeDocument(o *Origin, res *reply, key string, kept storedDocument) (storedDocument, error) {
	now := storedDocument{Type: res.Type, ETag: res.ETag, Fetched: time.Now()}
	switch {
	case res.Status == http.StatusNotModified && kept.Sum != "":
		kept.Fetched = now.Fetched
		return kept, p.config.Store.Note(key, kept)
	case res.Status == http.StatusNotFound || res.Status == http.StatusGone:
		now.Missing = true
		return now, p.config.Store.Note(key, now)
	case res.Status == http.StatusUnauthorized || res.Status == http.StatusForbidden:
		return now, Refuse(502, ReasonUpstream, "the registry %s requires a login that this machine does not have", o.URL.Host)
	case res.Status >= 500:
		return now, away("the registry %s answered with status %d", o.URL.Host, res.Status)
	case res.Status != http.StatusOK:
		return now, Refuse(502, ReasonUpstream, "the registry %s answered with status %d", o.URL.Host, res.Status)
	}
	incoming, err := p.config.Store.New()
	if err != nil {
		return now, err
	}
	defer incoming.Drop()
	n, err := io.Copy(incoming, io.LimitReader(res.Body, p.limits.DocumentBytes+1))
	var refusal *Refusal
	switch {
	case incoming.Failed() || errors.As(err, &refusal):
		return now, err
	case err != nil:
		return now, away("the registry %s broke off in the middle of a document", o.URL.Host)
	}
	if n > p.limits.DocumentBytes {
		return now, Refuse(502, ReasonLimit, "the document is larger than %d bytes", p.limits.DocumentBytes)
	}
	if now.Sum, err = incoming.Keep(); err != nil {
		return now, err
	}
	return now, p.config.Store.Note(key, now)
}

// fly runs do once for all who want its result at the same time. It continues after they have
// gone, until the plane closes.
func (p *Plane) fly(key string, do func(ctx context.Context) (any, error)) <-chan singleflight.Result {
	return p.flights.DoChan(key, func() (any, error) {
		p.wg.Add(1)
		defer p.wg.Done()
		return do(p.ctx)
	})
}

// land waits for the result of fly. It returns a *leftFlight if ctx ends first.
func land(ctx context.Context, result <-chan singleflight.Result) (any, error) {
	select {
	case r := <-result:
		return r.Val, r.Err
	case <-ctx.Done():
		return nil, &leftFlight{context.Cause(ctx), result}
	}
}

// leftFlight means that a client stopped waiting for a flight, which continues.
type leftFlight struct {
	cause  error
	result <-chan singleflight.Result
}

func (l *leftFlight) Error() string { return l.cause.Error() }
func (l *leftFlight) Unwrap() error { return l.cause }

// factsCache keeps facts, up to a total size of their documents in bytes. The facts of a document
// that is too large for it are kept only while a request uses them.
type factsCache struct {
	mu    sync.Mutex
	limit int64
	used  int64
	order *list.List // of *cachedFacts, the last used first
	byKey map[string]*list.Element
}

type cachedFacts struct {
	key   string
	facts *Facts // nil when they are too large
	large weak.Pointer[Facts]
	at    time.Time
	size  int64
}

// get returns the facts, or nil if they are of a large document that no request uses any more.
func (c *cachedFacts) get() *Facts {
	if c.facts == nil {
		return c.large.Value()
	}
	return c.facts
}

func newFactsCache(limit int64) *factsCache {
	return &factsCache{limit: limit, order: list.New(), byKey: make(map[string]*list.Element)}
}

// get returns facts that are younger than age, or nil.
func (c *factsCache) get(key string, age time.Duration) *Facts {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byKey[key]
	if e == nil || time.Since(e.Value.(*cachedFacts).at) >= age {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*cachedFacts).get()
}

func (c *factsCache) put(key string, f *Facts) {
	size := int64(4 << 10)
	if f.Document != nil {
		size += 3 * int64(len(f.Document.Data)) // the facts and the written document take about as much memory again each
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(c.byKey[key])
	kept := &cachedFacts{key: key, facts: f, at: time.Now(), size: size}
	if size > c.limit {
		kept.facts, kept.large, kept.size = nil, weak.Make(f), 4<<10
	}
	c.byKey[key] = c.order.PushFront(kept)
	c.used += kept.size
	for c.used > c.limit {
		c.drop(c.order.Back())
	}
}

// forget drops the facts of a document that has changed, so that artifacts which it no longer
// lists are not accepted.
func (c *factsCache) forget(address *url.URL, sum string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for e := c.order.Front(); e != nil; {
		next := e.Next()
		f := e.Value.(*cachedFacts).get()
		if f == nil {
			c.drop(e)
		} else if d := f.Document; d != nil && d.URL != nil && d.Sum != sum && d.URL.Path == address.Path && d.URL.String() == address.String() {
			c.drop(e)
		}
		e = next
	}
}

func (c *factsCache) drop(e *list.Element) {
	if e == nil {
		return
	}
	old := c.order.Remove(e).(*cachedFacts)
	delete(c.byKey, old.key)
	c.used -= old.size
}
