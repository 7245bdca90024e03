package apt

import (
	"encoding/hex"
	"net/url"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// The forms of requests. They are Ask.Form.
const (
	formInRelease = "inrelease"
	formRelease   = "release"
	formSignature = "signature"
	formIndex     = "index"
	formByHash    = "by-hash"
	formPackage   = "package"
)

// binaryEnds and sourceEnds are the endings of the names of binary packages and of parts of source
// packages. Below "dists" there are no source packages: a name with such an ending is an index of
// pictures.
var (
	binaryEnds = []string{".deb", ".udeb", ".ddeb"}
	sourceEnds = []string{
		".dsc", ".tar.xz", ".tar.gz", ".tar.bz2", ".tar.zst", ".diff.gz",
		".tar.xz.asc", ".tar.gz.asc", ".tar.bz2.asc",
	}
)

// Lookup refuses: packages are looked up in the repository's indexes, and none is held back for its
// age.
func (*Ecosystem) Lookup(*registry.Origin, string, string) (*registry.Ask, error) {
	return nil, registry.Refuse(404, registry.ReasonPath, "Debian packages are not held back: use apt-get")
}

// Parse reads a request. A path is below "dists" and has the name of an index that a Release may
// list, or it ends like a package.
func (*Ecosystem) Parse(o *registry.Origin, r *registry.Request) (*registry.Ask, error) {
	if r.Method != "GET" && r.Method != "HEAD" {
		return nil, registry.Refuse(405, registry.ReasonMethod, "repositories can only be read here: nothing can be uploaded")
	}
	if r.Query != "" || len(r.Body) > 0 {
		return nil, refusePath("requests to an apt repository have neither a query nor a body")
	}
	if !documents(o, r.Base) {
		return nil, refusePath("there is no apt repository at this address")
	}
	parts, ok := split(r.Path)
	if !ok {
		return nil, refusePath("this is not a path of an apt repository: use apt-get")
	}
	a := &registry.Ask{Path: join(parts), Base: r.Base}
	last := parts[len(parts)-1]
	switch {
	case ends(last, binaryEnds), parts[0] != "dists" && ends(last, sourceEnds):
		a.Kind, a.Form = registry.Artifact, formPackage
		a.Name, _, _ = strings.Cut(last, "_")
	case parts[0] != "dists":
		return nil, refusePath("only repositories with distributions are supported: indexes are below dists/, and packages are .deb files")
	default:
		a.Kind = registry.Plain
		return a, parseDists(a, parts[1:])
	}
	return a, nil
}

func refusePath(text string) *registry.Refusal {
	return registry.Refuse(403, registry.ReasonPath, "%s", text)
}

// documents reports whether the origin's documents are below a base.
func documents(o *registry.Origin, base *url.URL) bool {
	if base == nil {
		return false
	}
	return o.URL != nil && *o.URL == *base || slices.ContainsFunc(o.Aliases, func(u *url.URL) bool { return *u == *base })
}

func ends(name string, with []string) bool {
	return slices.ContainsFunc(with, func(end string) bool { return strings.HasSuffix(name, end) && len(name) > len(end) })
}

// parseDists reads what follows "dists/".
func parseDists(a *registry.Ask, parts []string) error {
	if len(parts) < 2 {
		return refusePath("below dists/ comes the name of a distribution, and then InRelease or an index")
	}
	switch last := parts[len(parts)-1]; {
	case last == "InRelease":
		a.Form = formInRelease
	case last == "Release":
		a.Form = formRelease
	case last == "Release.gpg":
		a.Form = formSignature
	case slices.ContainsFunc(parts, func(p string) bool { return strings.HasSuffix(p, ".diff") }):
		return refusePath("index diffs are not available here: apt falls back to the whole index")
	case slices.Contains(parts, "by-hash"):
		a.Form = formByHash
		if _, _, ok := byHash(parts); !ok {
			return refusePath("an index by its hash is at by-hash/SHA256/HASH, with the hash in lower case")
		}
	case len(parts) < 3:
		return refusePath("an index is below its component: dists/stable/main/binary-amd64/Packages.xz")
	default:
		a.Form = formIndex
	}
	return nil
}

// byHash reads the end of a path: by-hash/SHA256/HEX. dir is the part before it, length that of the
// hash in bytes.
func byHash(parts []string) (dir []string, sum string, ok bool) {
	n := len(parts)
	if n < 5 || parts[n-3] != "by-hash" || slices.Index(parts, "by-hash") != n-3 {
		return nil, "", false
	}
	sum = parts[n-1]
	raw, err := hex.DecodeString(sum)
	return parts[:n-3], sum, err == nil && strings.ToLower(sum) == sum &&
		(parts[n-2] == "SHA256" && len(raw) == 32 || parts[n-2] == "SHA512" && len(raw) == 64)
}
