package gomod

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// database is an origin's checksum database while one request is answered. It gives the client of
// golang.org/x/mod the files of the database, and stores no file itself.
type database struct {
	eco      *Ecosystem
	ctx      context.Context // it lives as long as one call of Facts
	fetcher  registry.Fetcher
	origin   *registry.Origin
	verifier note.Verifier
	client   *sumdb.Client

	mu      sync.Mutex
	failed  error                         // the first error of the fetcher, or a refusal
	lookups map[string]*registry.Document // by path
}

// database opens the checksum database of an origin.
func (g *Ecosystem) database(ctx context.Context, f registry.Fetcher, o *registry.Origin) (*database, error) {
	verifier, err := verifierOf(o)
	if err != nil {
		return nil, err
	}
	d := &database{eco: g, ctx: ctx, fetcher: f, origin: o, verifier: verifier, lookups: map[string]*registry.Document{}}
	d.client = sumdb.NewClient(d)
	return d, nil
}

// record is what the checksum database contains about one version.
type record struct {
	number   int64
	zip, mod string // "h1:…"
	document *registry.Document
}

// lookup returns the verified record of a version: it is in the tree, and the tree is consistent
// with the held head.
func (d *database) lookup(name, version string) (*record, error) {
	zips, err := d.client.Lookup(name, version)
	if err != nil {
		return nil, d.reason(err)
	}
	mods, err := d.client.Lookup(name, version+"/go.mod")
	if err != nil {
		return nil, d.reason(err)
	}
	r := &record{zip: hashIn(zips), mod: hashIn(mods)}
	if r.zip == "" || r.mod == "" {
		return nil, registry.Refuse(502, registry.ReasonDocument, "%s@%s: the record of the checksum database lacks one of the two hashes", name, version)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	r.document = d.lookups[lookupPath(name, version)]
	if r.document == nil {
		return nil, registry.Refuse(502, registry.ReasonDocument, "%s@%s: the checksum database has no record of it", name, version)
	}
	r.number, _, _, err = tlog.ParseRecord(r.document.Data)
	return r, err
}

// lookupPath returns the path of a record below the database's.
func lookupPath(name, version string) string {
	path, _ := module.EscapePath(name)
	v, _ := module.EscapeVersion(version)
	return "/lookup/" + path + "@" + v
}

// hashIn returns the hash of the only line of a record, "MODULE VERSION h1:…".
func hashIn(lines []string) string {
	if len(lines) != 1 {
		return ""
	}
	fields := strings.Split(lines[0], " ")
	if hash := fields[len(fields)-1]; len(fields) == 3 && strings.HasPrefix(hash, "h1:") {
		return hash
	}
	return ""
}

// reason returns why a look-up failed: the fetcher's error, or what the client found.
func (d *database) reason(err error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if errors.Is(d.failed, registry.ErrNotFound) {
		return registry.Refuse(403, registry.ReasonUnlisted,
			"the checksum database has no record of this version: use another one, or ask the person to mark the source of the module as private")
	}
	if d.failed != nil {
		return d.failed
	}
	if d.ctx.Err() != nil {
		return d.ctx.Err()
	}
	_ = err // it quotes what the database sent
	return registry.Refuse(502, registry.ReasonDocument, "the checksum database sent data that is malformed or not signed with its key")
}

func (d *database) fail(err error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failed == nil {
		d.failed = err
	}
	return err
}

// ReadRemote gets a file of the database for the client.
func (d *database) ReadRemote(path string) ([]byte, error) {
	limit := maxTile
	if strings.HasPrefix(path, "/lookup/") {
		limit = maxRecord
	}
	full := "sumdb/" + d.verifier.Name() + strings.ReplaceAll(path, "!", "%21")
	doc, err := d.fetcher.Document(d.ctx, d.origin, full, "")
	if err != nil {
		return nil, d.fail(err)
	}
	if len(doc.Data) > limit {
		return nil, d.fail(registry.Refuse(502, registry.ReasonLimit, "the checksum database sent too much"))
	}
	d.remember(path, doc)
	return doc.Data, nil
}

// remember keeps a look-up for the current request.
func (d *database) remember(path string, doc *registry.Document) {
	if !strings.HasPrefix(path, "/lookup/") {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lookups[path] = doc
}

// ReadConfig returns the key, or the largest held head.
func (d *database) ReadConfig(file string) ([]byte, error) {
	if file == "key" {
		return []byte(d.origin.Keys[0]), nil
	}
	return d.eco.heads.Latest(d.verifier.Name()), nil
}

// WriteConfig holds a head that the client has found consistent with the held one.
func (d *database) WriteConfig(_ string, old, signed []byte) error {
	tree, err := d.tree(signed)
	if err != nil {
		return d.fail(err)
	}
	head := Head{Size: tree.N, Time: d.eco.now(), Signed: bytes.Clone(signed)}
	err = d.eco.heads.Hold(d.verifier.Name(), head, old)
	if errors.Is(err, ErrConflict) {
		return sumdb.ErrWriteConflict
	}
	if err != nil {
		return d.fail(err)
	}
	return nil
}

// ReadCache returns a file that was verified before. The client verifies it again.
func (d *database) ReadCache(file string) ([]byte, error) {
	path := strings.TrimPrefix(file, d.verifier.Name())
	doc := d.eco.cache.get(d.origin.Keys[0] + path)
	if doc == nil {
		return nil, registry.ErrNotFound
	}
	d.remember(path, doc)
	return doc.Data, nil
}

// WriteCache keeps a verified file.
func (d *database) WriteCache(file string, data []byte) {
	path := strings.TrimPrefix(file, d.verifier.Name())
	d.mu.Lock()
	doc := d.lookups[path]
	d.mu.Unlock()
	if doc == nil {
		doc = &registry.Document{Data: data}
	}
	d.eco.cache.put(d.origin.Keys[0]+path, doc)
}

// Log discards the client's messages.
func (d *database) Log(string) {}

// SecurityError is called when the database contradicts what it signed before.
func (d *database) SecurityError(string) {
	_ = d.fail(registry.Refuse(502, registry.ReasonDigest,
		"the checksum database contradicts what it signed before, so nothing from it is accepted; tell the person"))
}

// tree reads a signed head.
func (d *database) tree(signed []byte) (tlog.Tree, error) {
	return openTree(signed, d.verifier)
}

// openTree reads a head that a database has signed.
func openTree(signed []byte, verifier note.Verifier) (tlog.Tree, error) {
	opened, err := note.Open(signed, note.VerifierList(verifier))
	if err == nil {
		var tree tlog.Tree
		if tree, err = tlog.ParseTree([]byte(opened.Text)); err == nil {
			return tree, nil
		}
	}
	return tlog.Tree{}, registry.Refuse(502, registry.ReasonDocument, "the checksum database sent a head without its valid signature")
}

// since returns the earliest time at which a record is known to have existed.
func (d *database) since(number int64) time.Time {
	if t, ok := d.eco.heads.Since(d.verifier.Name(), number); ok {
		return t
	}
	return d.eco.now()
}
