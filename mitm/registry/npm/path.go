// Package npm reads the protocol of npm registries, which npm, pnpm, yarn and bun speak.
//
// A registry has one document for each package: a JSON object with all versions, their times,
// their tarballs and the tarballs' digests. Clients ask for a full or an abbreviated form. This
// package always asks for the full form, because the abbreviated one does not say when a version
// was published, and writes both from it: ranges of its bytes, without the versions that are held
// back and with tags that name remaining versions. If the registry signs versions and publishes its
// keys, the signatures are verified.
//
// Nothing can be published: only the paths for reading packages exist. The audit of known
// vulnerabilities is rewritten to contain only names that the registry knows anyway.
package npm

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// Ecosystem is the npm registry's protocol.
type Ecosystem struct{}

// Name is "npm".
func (Ecosystem) Name() string { return "npm" }

const (
	full      = "full"
	short     = "short"
	shortType = "application/vnd.npm.install-v1+json"
	tags      = "tags"
	one       = "version " // and a version or a tag: the document of one version

	bulkPath = "-/npm/v1/security/advisories/bulk"
	keysPath = "-/npm/v1/keys"
)

// Parse reads a request.
func (Ecosystem) Parse(o *registry.Origin, r *registry.Request) (*registry.Ask, error) {
	if r.Query != "" {
		return nil, registry.Refuse(403, registry.ReasonPath, "requests to the npm registry have no query")
	}
	if r.Method == http.MethodPost && r.Path == bulkPath {
		return parseAudit(r.Body)
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return nil, registry.Refuse(403, registry.ReasonMethod, "packages can only be installed here: publishing, logging in and changing packages are not possible")
	}
	if r.Base.String() != o.URL.String() {
		return parseElsewhere(r)
	}
	if r.Path == keysPath {
		return &registry.Ask{Kind: registry.Plain, Path: keysPath}, nil
	}
	if rest, is := strings.CutPrefix(r.Path, "-/package/"); is {
		name, rest := cutName(rest)
		if name != "" && rest == "/dist-tags" {
			return &registry.Ask{Kind: registry.Metadata, Name: name, Path: escape(name), Form: tags, Type: "application/json"}, nil
		}
		return nil, unknownPath()
	}
	name, rest := cutName(r.Path)
	switch file, is := strings.CutPrefix(rest, "/-/"); {
	case name == "":
		return parseElsewhere(r)
	case rest == "":
		ask := &registry.Ask{Kind: registry.Metadata, Name: name, Path: escape(name), Form: full, Type: "application/json"}
		if strings.Contains(r.Accept, shortType) && !strings.HasPrefix(strings.TrimSpace(r.Accept), "application/json,") {
			ask.Form, ask.Type = short, shortType
		}
		return ask, nil
	case is:
		if !plainPath(file) {
			return nil, unknownPath()
		}
		return &registry.Ask{Kind: registry.Artifact, Name: name, Path: r.Path, Base: r.Base, Type: "application/octet-stream"}, nil
	case isVersion(rest[1:]):
		return &registry.Ask{Kind: registry.Metadata, Name: name, Path: escape(name), Form: one + rest[1:], Type: "application/json"}, nil
	}
	return nil, unknownPath()
}

// Lookup is the request for a package's document.
func (Ecosystem) Lookup(_ *registry.Origin, name, _ string) (*registry.Ask, error) {
	if !isName(name) {
		return nil, registry.Refuse(404, registry.ReasonPath, "this is not the name of an npm package")
	}
	return &registry.Ask{Kind: registry.Metadata, Name: name, Path: escape(name), Form: full, Type: "application/json"}, nil
}

// parseElsewhere reads the path of an artifact that is not below its package, as in some
// registries: "download/@scope/name/1.0.0/0123abcd". The first name in it is the package's.
func parseElsewhere(r *registry.Request) (*registry.Ask, error) {
	if !plainPath(r.Path) {
		return nil, unknownPath()
	}
	rest, _ := strings.CutPrefix(r.Path, "download/")
	name, rest := cutName(rest)
	if name == "" || rest == "" {
		return nil, unknownPath()
	}
	return &registry.Ask{Kind: registry.Artifact, Name: name, Path: r.Path, Base: r.Base, Type: "application/octet-stream"}, nil
}

func unknownPath() error {
	return registry.Refuse(404, registry.ReasonPath, "this is not a path for reading packages")
}

// cutName cuts a package's name from the start of a path. The rest is empty or begins with a slash.
// The name is empty if there is none.
func cutName(path string) (name, rest string) {
	if scoped, is := strings.CutPrefix(path, "@"); is {
		scope, after, ok := strings.Cut(scoped, "/")
		if i := max(strings.Index(scoped, "%2f"), strings.Index(scoped, "%2F")); i >= 0 && (!ok || i < len(scope)) {
			scope, after, ok = scoped[:i], scoped[i+3:], true
		}
		base, _, slash := strings.Cut(after, "/")
		if !ok || !isNamePart(scope) || !isNamePart(base) {
			return "", ""
		}
		if slash {
			rest = after[len(base):]
		}
		return "@" + scope + "/" + base, rest
	}
	base, _, slash := strings.Cut(path, "/")
	if !isNamePart(base) || base == "node_modules" || base == "favicon.ico" {
		return "", ""
	}
	if slash {
		rest = path[len(base):]
	}
	return base, rest
}

// isNamePart reports whether s can be a scope, or a package's name without its scope. Old packages
// have capitals in their names.
func isNamePart(s string) bool {
	if s == "" || len(s) > 214 || s[0] == '.' || s[0] == '_' || s[0] == '-' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && strings.IndexByte("._~-", c) < 0 {
			return false
		}
	}
	return true
}

// isName reports whether s is the name of a package.
func isName(s string) bool {
	name, rest := cutName(s)
	return name == s && rest == "" && s != ""
}

// isVersion reports whether s can be a version or a tag.
func isVersion(s string) bool {
	if s == "" || len(s) > 256 {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && strings.IndexByte("._+-", c) < 0 {
			return false
		}
	}
	return s[0] != '.' && s[0] != '-'
}

// plainPath reports whether a path needs no decoding and no cleaning.
func plainPath(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && strings.IndexByte("._~@+/-", c) < 0 {
			return false
		}
	}
	for part := range strings.SplitSeq(s, "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return true
}

// escape returns the path of a package's document: the slash of a scope is written "%2f".
func escape(name string) string { return strings.Replace(name, "/", "%2f", 1) }

// below returns the base that an address is below, or nil. Some registries list addresses in which
// the slash of a scope is "%2f"; these are requested as listed.
func below(o *registry.Origin, address string) *url.URL {
	for _, base := range o.Bases() {
		path, is := strings.CutPrefix(address, base.String())
		if !is {
			continue
		}
		if name, rest := cutName(path); plainPath(path) || base == o.URL && name != "" && strings.HasPrefix(rest, "/-/") && plainPath(rest[1:]) {
			return base
		}
	}
	return nil
}
