package gomod

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// Facts fetches and reads the module proxy's and the checksum database's documents.
func (g *Ecosystem) Facts(ctx context.Context, f registry.Fetcher, o *registry.Origin, a *registry.Ask) (*registry.Facts, error) {
	r := &reading{eco: g, ctx: ctx, fetcher: f, origin: o, ask: a, infos: map[string][]byte{}}
	if !private(o, a.Name) {
		var err error
		if r.database, err = g.database(ctx, f, o); err != nil {
			return nil, err
		}
	}
	switch a.Form {
	case formList:
		return r.list()
	case formLatest:
		return r.latest()
	case formLookup:
		return r.lookup()
	case formInfo, formMod, formZip:
		return r.artifact()
	case formSupported, formTree, formTile:
		return r.plain()
	}
	return nil, refusePath("this is not a path of a module proxy")
}

// private reports whether no checksum database knows a module: its origin is private and has no
// database, or the module belongs to this origin only.
func private(o *registry.Origin, name string) bool {
	return o.Private && (len(o.Keys) == 0 || name != "" && module.MatchPrefixPatterns(strings.Join(o.Scopes, ","), name))
}

// reading is one call of Facts.
type reading struct {
	eco      *Ecosystem
	ctx      context.Context // it lives as long as one call of Facts
	fetcher  registry.Fetcher
	origin   *registry.Origin
	ask      *registry.Ask
	database *database         // nil for a private module proxy without one
	infos    map[string][]byte // the .info documents, by version
}

// document gets a document of at most limit bytes. below is the path below the module's.
func (r *reading) document(below string, limit int) (*registry.Document, error) {
	path, err := escaped(r.ask.Name, below)
	if err != nil {
		return nil, err
	}
	doc, err := r.fetcher.Document(r.ctx, r.origin, path, "")
	if err != nil {
		return nil, err
	}
	if len(doc.Data) > limit {
		return nil, registry.Refuse(502, registry.ReasonLimit, "the module proxy sent too much: %d bytes", len(doc.Data))
	}
	return doc, nil
}

// escaped returns a path below a module's, in the spelling that requests have.
func escaped(name, below string) (string, error) {
	path, err := module.EscapePath(name)
	return strings.ReplaceAll(path+below, "!", "%21"), err
}

// filePath returns "/@v/VERSION.extension", escaped.
func filePath(version, extension string) (string, error) {
	v, err := module.EscapeVersion(version)
	return "/@v/" + v + "." + extension, err
}

// plain gets a document that names no version.
func (r *reading) plain() (*registry.Facts, error) {
	facts := &registry.Facts{Document: &registry.Document{Type: typeText}}
	if r.database == nil {
		return nil, refusePath("this module proxy has no checksum database")
	}
	var err error
	switch r.ask.Form {
	case formTree:
		facts.Document, err = r.database.head()
	case formTile:
		facts.Document, err = r.database.tile(r.ask.Path)
	}
	return facts, err
}

// lookup gets the record of a version.
func (r *reading) lookup() (*registry.Facts, error) {
	if r.database == nil {
		return nil, refusePath("this module proxy has no checksum database")
	}
	v, rec, err := r.asked()
	if err != nil {
		return nil, err
	}
	return &registry.Facts{Name: r.ask.Name, Document: rec.document, Versions: []registry.Version{*v}}, nil
}

// artifact gets the facts of one version and its three files. They are judged as one.
func (r *reading) artifact() (*registry.Facts, error) {
	v, rec, err := r.asked()
	if err != nil {
		return nil, err
	}
	zip := ""
	for _, form := range []string{formZip, formInfo, formMod} {
		below, err := filePath(v.Version, form)
		if err != nil {
			return nil, err
		}
		path, err := escaped(r.ask.Name, below)
		if err != nil {
			return nil, err
		}
		file := registry.File{URL: r.ask.Base.String() + path, Of: zip}
		switch {
		case form == formInfo: // no hash of it is listed
		case rec == nil:
			file.Weak = true
		case form == formMod:
			file.Digests = []registry.Digest{{Algorithm: "h1", Sum: []byte(rec.mod)}}
		default:
			file.Digests = []registry.Digest{{Algorithm: "h1", Sum: []byte(rec.zip)}}
		}
		v.Files = append(v.Files, file)
		zip = v.Files[0].URL
	}
	return &registry.Facts{Name: r.ask.Name, Versions: []registry.Version{*v}}, nil
}

// asked calls version for the requested version.
func (r *reading) asked() (*registry.Version, *record, error) {
	asked := registry.Pin{Name: r.ask.Name, Version: r.ask.Version}
	if err := r.fetcher.Admit(r.ctx, r.origin, asked, r.listed); err != nil {
		return nil, nil, err
	}
	return r.version(asked.Version)
}

// listed reports whether the module's list has the requested version.
func (r *reading) listed() (bool, error) {
	doc, err := r.document("/@v/list", maxList)
	if errors.Is(err, registry.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	versions, err := readList(r.ask.Name, doc.Data)
	return slices.Contains(versions, r.ask.Version), err
}

// version gets the .info and the record of one version. The record is nil for a private module.
func (r *reading) version(version string) (*registry.Version, *record, error) {
	below, err := filePath(version, formInfo)
	if err != nil {
		return nil, nil, err
	}
	doc, err := r.document(below, maxInfo)
	if err != nil {
		return nil, nil, err
	}
	told, err := readInfo(doc.Data)
	if err != nil || told.version != version {
		return nil, nil, registry.Refuse(502, registry.ReasonDocument, "%s@%s: its .info is of another version", r.ask.Name, version)
	}
	r.infos[version] = doc.Data
	v := &registry.Version{Version: version, Prerelease: semver.Prerelease(version) != ""}
	if r.database == nil {
		return v, nil, nil
	}
	rec, err := r.database.lookup(r.ask.Name, version)
	if err != nil {
		return nil, nil, err
	}
	v.Published, v.Proof = r.database.since(rec.number), fmt.Sprintf("record %d of the checksum database", rec.number)
	if told.time.After(v.Published) {
		v.Published, v.Proof = told.time, "the time of its commit"
	}
	return v, rec, nil
}

// info is the content of a .info.
type info struct {
	version string
	time    time.Time
}

// readInfo reads a .info document.
func readInfo(data []byte) (info, error) {
	value, err := jsonx.Parse(data, jsonx.Limits{Bytes: maxInfo})
	if err != nil {
		return info{}, err
	}
	version, _ := value.Member("Version")
	at, told := value.Member("Time")
	i := info{version: version.Text}
	if version.Kind != jsonx.String || told && at.Kind != jsonx.String {
		return info{}, fmt.Errorf("a .info without a version or with a broken time")
	}
	if told {
		i.time, err = time.Parse(time.RFC3339, at.Text)
	}
	return i, err
}
