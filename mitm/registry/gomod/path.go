package gomod

import (
	"net/url"
	"slices"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// maxPath bounds a request's path, in bytes.
const maxPath = 1024

// The media types of answers.
const (
	typeText = "text/plain; charset=utf-8"
	typeJSON = "application/json"
	typeZip  = "application/zip"
	typeTile = "application/octet-stream"
)

// Parse reads a request. The exclamation mark, with which module paths spell capital letters, may
// be sent as "%21", as the go command does. Nothing else may be escaped.
func (*Ecosystem) Parse(o *registry.Origin, r *registry.Request) (*registry.Ask, error) {
	if r.Method != "GET" && r.Method != "HEAD" {
		return nil, registry.Refuse(405, registry.ReasonMethod,
			"modules can only be read here; nothing can be published")
	}
	if r.Query != "" || len(r.Body) > 0 {
		return nil, refusePath("requests to the module proxy have neither a query nor a body")
	}
	if !documents(o, r.Base) {
		return nil, refusePath("there are no modules at this address")
	}
	path, ok := unescape(r.Path)
	if !ok {
		return nil, refusePath("this is not a path of a module proxy: ask for MODULE/@v/list or MODULE/@v/VERSION.zip, as the go command does")
	}
	var a *registry.Ask
	var err error
	if below, isDatabase := strings.CutPrefix(path, "sumdb/"); isDatabase {
		a, err = parseDatabase(o, below)
	} else {
		a, err = parseModule(path)
	}
	if err != nil {
		return nil, err
	}
	a.Path, a.Base = strings.ReplaceAll(a.Path, "!", "%21"), r.Base
	return a, nil
}

// Lookup is the request for the archive of a version.
func (e *Ecosystem) Lookup(o *registry.Origin, name, version string) (*registry.Ask, error) {
	path, err := module.EscapePath(name)
	if err != nil {
		return nil, registry.Refuse(404, registry.ReasonPath, "this is not the path of a Go module")
	}
	escaped, err := module.EscapeVersion(version)
	if err != nil {
		return nil, registry.Refuse(404, registry.ReasonPath, "this is not a version of a Go module")
	}
	return e.Parse(o, &registry.Request{Method: "GET", Base: o.URL, Path: path + "/@v/" + escaped + ".zip"})
}

func refusePath(text string) *registry.Refusal {
	return registry.Refuse(403, registry.ReasonPath, "%s", text)
}

// documents reports whether the origin's documents are below a base.
func documents(o *registry.Origin, base *url.URL) bool {
	if base == nil {
		return false
	}
	same := func(u *url.URL) bool { return u != nil && *u == *base }
	return same(o.URL) || slices.ContainsFunc(o.Aliases, same)
}

// unescape returns the unescaped path, and false if a byte may not be in a path.
func unescape(path string) (string, bool) {
	if len(path) > maxPath {
		return "", false
	}
	path = strings.ReplaceAll(path, "%21", "!")
	for i := range len(path) {
		if c := path[i]; !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("/@!.-_~+", c) >= 0) {
			return "", false
		}
	}
	return path, true
}

// parseModule reads MODULE/@latest, MODULE/@v/list and MODULE/@v/VERSION.EXTENSION.
func parseModule(path string) (*registry.Ask, error) {
	at := strings.Index(path, "/@")
	if at < 0 {
		return nil, refusePath("this is not a path of a module proxy: ask for MODULE/@v/list or MODULE/@v/VERSION.zip, as the go command does")
	}
	name, err := modulePath(path[:at])
	if err != nil {
		return nil, err
	}
	a := &registry.Ask{Name: name, Path: path}
	switch rest := path[at:]; {
	case rest == "/@latest":
		a.Form, a.Type = formLatest, typeJSON
		return a, nil
	case rest == "/@v/list":
		a.Form, a.Type = formList, typeText
		return a, nil
	case strings.HasPrefix(rest, "/@v/"):
		return a, parseFile(a, strings.TrimPrefix(rest, "/@v/"))
	}
	return nil, refusePath("this is not a path of a module proxy: after the module's path comes @latest, @v/list or @v/VERSION.zip")
}

// parseFile reads what follows "/@v/" and names a version.
func parseFile(a *registry.Ask, file string) error {
	dot := strings.LastIndexByte(file, '.')
	if dot < 0 {
		dot = len(file)
	}
	switch file[dot:] {
	case ".info":
		a.Form, a.Type = formInfo, typeJSON
	case ".mod":
		a.Form, a.Type = formMod, typeText
	case ".zip":
		a.Form, a.Type = formZip, typeZip
	default:
		return refusePath("a module proxy has the .info, .mod and .zip of each version, and a list of versions")
	}
	var err error
	a.Kind = registry.Artifact
	a.Version, err = moduleVersion(a.Name, file[:dot])
	return err
}

// modulePath unescapes a module path, which must be in its canonical spelling.
func modulePath(escaped string) (string, error) {
	name, err := module.UnescapePath(escaped)
	if err == nil {
		var again string
		if again, err = module.EscapePath(name); err == nil && again == escaped {
			return name, nil
		}
	}
	return "", refusePath("this is not a valid module path: it begins with a host name, and a capital letter is written as ! and the lower-case letter")
}

// moduleVersion unescapes a version, which must be in its canonical spelling.
func moduleVersion(name, escaped string) (string, error) {
	version, err := module.UnescapeVersion(escaped)
	if err != nil || !canonical(name, version) {
		return "", refusePath("ask for a full version from the module's list, such as v1.2.3: branches, tags and commits are not looked up here")
	}
	if again, err := module.EscapeVersion(version); err != nil || again != escaped {
		return "", refusePath("this is not a valid version: a capital letter is written as ! and the lower-case letter")
	}
	return version, nil
}

// canonical reports whether a version is complete, in its canonical spelling, and belongs to the
// module's path.
func canonical(name, version string) bool {
	return len(version) <= 256 && module.CanonicalVersion(version) == version && module.Check(name, version) == nil
}

// parseDatabase reads what follows "sumdb/".
func parseDatabase(o *registry.Origin, path string) (*registry.Ask, error) {
	verifier, err := verifierOf(o)
	if err != nil {
		return nil, refusePath("this module proxy has no checksum database: set GONOSUMDB for its modules")
	}
	below, ok := strings.CutPrefix(path, verifier.Name()+"/")
	if !ok {
		return nil, refusePath("this is not the checksum database of this module proxy: unset GOSUMDB")
	}
	a := &registry.Ask{Kind: registry.Plain, Path: "sumdb/" + path}
	switch {
	case below == "supported":
		a.Form, a.Type = formSupported, typeText
	case below == "latest":
		a.Form, a.Type = formTree, typeText
	case strings.HasPrefix(below, "lookup/"):
		return a, parseLookup(a, strings.TrimPrefix(below, "lookup/"))
	default:
		tile, err := tlog.ParseTilePath(below)
		if err != nil || tile.H != tileHeight || tile.L < 0 || tile.Path() != below {
			return nil, refusePath("this is not a path of a checksum database that the go command asks for")
		}
		a.Form, a.Type = formTile, typeTile
	}
	return a, nil
}

// tileHeight is the height of the tiles that the go command asks for.
const tileHeight = 8

// parseLookup reads MODULE@VERSION. A look-up is a document and not an artifact, so it is answered
// even for a version that waits for a person.
func parseLookup(a *registry.Ask, path string) error {
	escaped, version, ok := strings.Cut(path, "@")
	if !ok {
		return refusePath("a look-up in the checksum database names MODULE@VERSION")
	}
	a.Kind, a.Form, a.Type = registry.Metadata, formLookup, typeText
	var err error
	if a.Name, err = modulePath(escaped); err != nil {
		return err
	}
	a.Version, err = moduleVersion(a.Name, version)
	return err
}

// verifierOf returns the verifier of an origin's checksum database.
func verifierOf(o *registry.Origin) (note.Verifier, error) {
	if len(o.Keys) != 1 {
		return nil, registry.Refuse(403, registry.ReasonUpstream,
			"the checksum database of this module proxy is not known: the person has to run registry learn or to mark the source as private")
	}
	verifier, err := note.NewVerifier(o.Keys[0])
	if err != nil {
		return nil, registry.Refuse(403, registry.ReasonUpstream,
			"the key of the checksum database cannot be read: the person has to correct it in config.json")
	}
	return verifier, nil
}
