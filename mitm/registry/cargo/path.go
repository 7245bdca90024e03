package cargo

import (
	"net/url"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

const (
	configPath = "config.json"
	typeIndex  = "text/plain"
	typeConfig = "application/json"
)

// Parse reads a request. Below the index there are documents and, in some registries, archives;
// below the other bases only archives. A crate's name is in lower case, as in the paths of
// documents; the facts have it in the registry's spelling.
func (Ecosystem) Parse(o *registry.Origin, r *registry.Request) (*registry.Ask, error) {
	if err := refuseOther(r); err != nil {
		return nil, err
	}
	base := r.Base
	if slices.ContainsFunc(append([]*url.URL{o.URL}, o.Aliases...), func(u *url.URL) bool { return u.String() == base.String() }) {
		base = o.URL // documents and archives of aliases come from there
		if r.Path == configPath {
			return &registry.Ask{Kind: registry.Plain, Path: configPath, Type: typeConfig}, nil
		}
		name := r.Path[strings.LastIndexByte(r.Path, '/')+1:]
		if isName(name) && indexPath(name) == r.Path {
			return &registry.Ask{Kind: registry.Metadata, Name: name, Path: r.Path, Type: typeIndex}, nil
		}
	}
	if name, version, ok := crateOf(r.Path); ok {
		return &registry.Ask{Kind: registry.Artifact, Name: strings.ToLower(name), Version: version, Path: r.Path, Base: base}, nil
	}
	if slices.Contains(strings.Split(r.Path, "/"), "api") {
		return nil, refuseAPI(403)
	}
	return nil, registry.Refuse(403, registry.ReasonPath,
		"this is not a path of a crate registry: it has config.json, the documents of a sparse index such as se/rd/serde, and archives")
}

// Lookup is the request for a crate's document. The name may be in capitals.
func (Ecosystem) Lookup(_ *registry.Origin, name, _ string) (*registry.Ask, error) {
	if !isName(name) {
		return nil, registry.Refuse(404, registry.ReasonPath, "this is not the name of a crate: such a name has letters, digits, hyphens and underscores")
	}
	name = strings.ToLower(name)
	return &registry.Ask{Kind: registry.Metadata, Name: name, Path: indexPath(name), Type: typeIndex}, nil
}

func refuseAPI(status int) error {
	return registry.Refuse(status, registry.ReasonMethod, "crates can only be downloaded here: publishing, yanking, owning and searching are not possible")
}

// refuseOther refuses requests that no build makes.
func refuseOther(r *registry.Request) error {
	path := "/" + r.Path
	switch {
	case strings.HasSuffix(path, "/info/refs"), strings.HasSuffix(path, "/HEAD"), strings.HasSuffix(path, "/git-upload-pack"):
		return registry.Refuse(403, registry.ReasonPath, "an index in git is not available here: use the registry's sparse index (sparse+https://)")
	case r.Method != "GET" && r.Method != "HEAD":
		return refuseAPI(405)
	case r.Query != "" && slices.Contains(strings.Split(r.Path, "/"), "api"):
		return refuseAPI(403)
	case r.Query != "":
		return registry.Refuse(403, registry.ReasonPath, "addresses of crates must not have a query")
	}
	return nil
}

// crateOf returns the crate and the version in the path of an archive, which has one of the forms
// NAME/VERSION/download, NAME-VERSION.crate, NAME/VERSION.crate and NAME/VERSION.
func crateOf(path string) (name, version string, ok bool) {
	if !cleanPath(path) {
		return "", "", false
	}
	parts := strings.Split(path, "/")
	last := parts[len(parts)-1]
	if last == "download" {
		parts = parts[:len(parts)-1]
	} else if stem, archive := strings.CutSuffix(last, ".crate"); archive {
		if name, version, ok := splitStem(stem); ok {
			return name, version, true
		}
		parts[len(parts)-1] = stem
	}
	if len(parts) < 2 {
		return "", "", false
	}
	name, version = parts[len(parts)-2], parts[len(parts)-1]
	_, ok = isVersion(version)
	return name, version, ok && isName(name)
}

// splitStem splits NAME-VERSION. A name has no dot, so the separating hyphen is the last one before
// the first dot.
func splitStem(stem string) (name, version string, ok bool) {
	dot := strings.IndexByte(stem, '.')
	if dot < 0 {
		return "", "", false
	}
	at := strings.LastIndexByte(stem[:dot], '-')
	if at < 0 {
		return "", "", false
	}
	name, version = stem[:at], stem[at+1:]
	_, ok = isVersion(version)
	return name, version, ok && isName(name)
}

// cleanPath reports whether a path only has plain segments without escapes.
func cleanPath(path string) bool {
	if len(path) > 2048 {
		return false
	}
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "" || segment == "." || segment == ".." {
			return false
		}
		for i := 0; i < len(segment); i++ {
			if c := segment[i]; !alphanumeric(c) && !strings.ContainsRune("-_.+~", rune(c)) {
				return false
			}
		}
	}
	return true
}
