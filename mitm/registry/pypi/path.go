package pypi

import (
	"net/url"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

const metadataSuffix = ".metadata"

// Parse reads a request. Below the index there are documents and, with many mirrors, files;
// below the other bases only files.
func (Ecosystem) Parse(o *registry.Origin, r *registry.Request) (*registry.Ask, error) {
	if r.Method != "GET" && r.Method != "HEAD" {
		return nil, registry.Refuse(405, registry.ReasonMethod, "packages can only be installed from this Python index: nothing can be uploaded, and there is no XML-RPC")
	}
	if r.Query != "" {
		return nil, registry.Refuse(403, registry.ReasonPath, "addresses of this Python index must not have a query")
	}
	base := r.Base
	if slices.ContainsFunc(append([]*url.URL{o.URL}, o.Aliases...), func(u *url.URL) bool { return u.String() == base.String() }) {
		base = o.URL // documents and files of aliases come from there
		if a, err := parseDocument(o, r); a != nil || err != nil {
			return a, err
		}
	}
	path, ok := cleanPath(r.Path)
	if !ok {
		return nil, refusePath()
	}
	d, ok := guess(fileName(trimMetadata(path)))
	if !ok {
		return nil, refusePath()
	}
	return &registry.Ask{Kind: registry.Artifact, Name: d.name, Version: d.version.text, Path: path, Base: base}, nil
}

// Lookup is the request for a project's document. The name may be in any spelling.
func (Ecosystem) Lookup(o *registry.Origin, name, _ string) (*registry.Ask, error) {
	normal, ok := normalize(name)
	if !ok {
		return nil, checkName(name)
	}
	return &registry.Ask{Kind: registry.Metadata, Name: normal, Path: layoutOf(o).paths(normal)[0], Form: formJSON, Type: typeJSON}, nil
}

func refusePath() error {
	return registry.Refuse(403, registry.ReasonPath, "this is not a path of a Python index: it has simple/NAME/, wheels, and source archives as .tar.gz, .zip or .tar.bz2")
}

// layout says where an origin's documents are below its URL.
type layout struct {
	nested bool // simple/NAME/
	flat   bool // NAME/
}

// layoutOf derives the layout from the URL. If the URL does not end with "simple", both layouts
// are possible.
func layoutOf(o *registry.Origin) layout {
	switch path := o.URL.EscapedPath(); {
	case path == "/" || path == "":
		return layout{nested: true}
	case strings.HasSuffix(path, "/simple/"), strings.HasSuffix(path, "/+simple/"):
		return layout{flat: true}
	default:
		return layout{nested: true, flat: true}
	}
}

// paths are the possible paths of a project's document.
func (l layout) paths(name string) []string {
	var all []string
	if l.nested {
		all = append(all, "simple/"+name+"/")
	}
	if l.flat {
		all = append(all, name+"/")
	}
	return all
}

// parseDocument reads the path of a document. It returns nil for any other path.
func parseDocument(o *registry.Origin, r *registry.Request) (*registry.Ask, error) {
	l := layoutOf(o)
	parts := strings.Split(r.Path, "/")
	switch {
	case r.Path == "", l.nested && (r.Path == "simple/" || r.Path == "simple"):
		return nil, registry.Refuse(403, registry.ReasonPath, "the list of all projects is not available: ask for one project, as simple/NAME/")
	case l.nested && len(parts) == 3 && parts[0] == "simple" && parts[2] == "",
		l.flat && len(parts) == 2 && parts[1] == "":
		name := parts[len(parts)-2]
		if err := checkName(name); err != nil {
			return nil, err
		}
		form, media := negotiate(r.Accept)
		return &registry.Ask{Kind: registry.Metadata, Name: name, Path: r.Path, Form: form, Type: media}, nil
	case l.nested && parts[0] == "simple" && len(parts) == 2:
		return nil, registry.Refuse(404, registry.ReasonPath, "the path of a project ends with a slash: simple/NAME/")
	case l.nested && parts[0] == "pypi" && parts[len(parts)-1] == "json" && (len(parts) == 3 || len(parts) == 4):
		return parseLegacy(parts[1 : len(parts)-1])
	}
	return nil, nil
}

// parseLegacy reads the middle of pypi/NAME/json or pypi/NAME/VERSION/json.
func parseLegacy(parts []string) (*registry.Ask, error) {
	if err := checkName(parts[0]); err != nil {
		return nil, err
	}
	a := &registry.Ask{Kind: registry.Metadata, Name: parts[0], Form: formProject, Type: typePlain, Path: "pypi/" + parts[0] + "/json"}
	if len(parts) == 1 {
		return a, nil
	}
	clean, ok := cleanPath(parts[1])
	if ok {
		a.Version = unescape(clean)
	}
	if !ok || !isNormalVersion(a.Version) {
		return nil, registry.Refuse(404, registry.ReasonPath, "write the version as PEP 440 normalizes it: pypi/NAME/1.0rc1/json")
	}
	a.Form, a.Path = formRelease, "pypi/"+a.Name+"/"+clean+"/json"
	return a, nil
}

// checkName refuses names that are not normalized. pip, uv and poetry only send normalized ones.
func checkName(name string) error {
	normal, ok := normalize(name)
	switch {
	case !ok:
		return registry.Refuse(404, registry.ReasonPath, "this is not the name of a Python project: such a name has letters, digits and hyphens")
	case normal != name:
		return registry.Refuse(404, registry.ReasonPath, "write the project's name normalized: %s", normal)
	}
	return nil
}
