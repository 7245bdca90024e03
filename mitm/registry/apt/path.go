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

// binaryEnds and sourceEnds are how names of binary packages and of the parts of source
// packages end. Below "dists" there are no sources: what ends like one there is an index of
// pictures.
var (
	binaryEnds = []string{".deb", ".udeb", ".ddeb"}
	sourceEnds = []string{
		".dsc", ".tar.xz", ".tar.gz", ".tar.bz2", ".tar.zst", ".diff.gz",
		".tar.xz.asc", ".tar.gz.asc", ".tar.bz2.asc",
	}
)

// Lookup refuses: a repository is looked up by its indexes, and none of its packages is held
// back for its age.
func (*Ecosystem) Lookup(*registry.Origin, string, string) (*registry.Ask, error) {
	return nil, registry.Refuse(404, registry.ReasonPath, "packages of Debian repositories are not held back: use apt-get")
}

// Parse reads a request. Paths are below "dists", where each name of an index is accepted
// that a Release may list, or end as packages do.
func (*Ecosystem) Parse(o *registry.Origin, r *registry.Request) (*registry.Ask, error) {
	if r.Method != "GET" && r.Method != "HEAD" {
		return nil, registry.Refuse(405, registry.ReasonMethod, "repositories are only read here: nothing can be uploaded")
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
		return nil, refusePath("only repositories with distributions are served here, whose indexes are below dists/ and whose packages are .deb files")
	default:
		a.Kind = registry.Plain
		return a, parseDists(a, parts[1:])
	}
	return a, nil
}

func refusePath(text string) *registry.Refusal {
	return registry.Refuse(403, registry.ReasonPath, "%s", text)
}

// documents reports whether a base is one below which the origin has documents.
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
		return refusePath("differences of indexes are not served here: apt takes the whole index")
	case slices.Contains(parts, "by-hash"):
		a.Form = formByHash
		if _, _, ok := byHash(parts); !ok {
			return refusePath("an index by its hash is at by-hash/SHA256/ and the hash in small letters")
		}
	case len(parts) < 3:
		return refusePath("an index is below its component: dists/stable/main/binary-amd64/Packages.xz")
	default:
		a.Form = formIndex
	}
	return nil
}

// byHash reads the end of a path: by-hash/SHA256/HEX. dir is what is before, length that
// of the hash in bytes.
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
