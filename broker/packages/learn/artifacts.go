package learn

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// maxDocument bounds a document that is read, in bytes.
const maxDocument = 8 << 20

// probe has, by ecosystem, a package that every complete registry has, and the document that says
// where the registry's artifacts are.
var probe = map[string]struct{ name, path, accept string }{
	NPM:   {"npm", "npm/latest", "application/json"},
	PyPI:  {"pip", "pip/", "application/vnd.pypi.simple.v1+json, text/html;q=0.5"},
	Cargo: {"", "config.json", "application/json"},
}

var documentLimits = jsonx.Limits{Bytes: maxDocument, Members: 1 << 20, Trusted: true}

var errNoArtifact = errors.New("the registry's document names no artifact")

// readArtifacts finds the bases of artifacts in a registry's document about a package. kind is the
// document's media type, and at its address. It fails if the document names no artifact.
func readArtifacts(ecosystem string, data []byte, kind string, at *url.URL, name string) ([]string, error) {
	switch ecosystem {
	case NPM:
		return npmArtifacts(data, name)
	case PyPI:
		return pythonArtifacts(data, kind, at, name)
	case Cargo:
		return cargoArtifacts(data)
	}
	return nil, errNoArtifact
}

// npmArtifacts reads a version's document. The base ends where the tarball's path names the
// package.
func npmArtifacts(data []byte, name string) ([]string, error) {
	v, err := jsonx.Parse(data, documentLimits)
	if err != nil {
		return nil, err
	}
	dist, _ := v.Member("dist")
	tarball, _ := dist.Member("tarball")
	b, ok := directory(tarball.Text, name)
	if !ok {
		return nil, errNoArtifact
	}
	return []string{b}, nil
}

// pythonArtifacts reads the page of a project, as JSON or HTML. The base at each host is what the
// links to that host have in common.
func pythonArtifacts(data []byte, kind string, at *url.URL, name string) ([]string, error) {
	var links []string
	var err error
	if strings.Contains(kind, "json") {
		links, err = jsonLinks(data)
	} else {
		links = htmlLinks(data)
	}
	if err != nil {
		return nil, err
	}
	var bases []string
	for _, link := range links {
		ref, err := url.Parse(link)
		if err != nil {
			continue
		}
		b, ok := directory(at.ResolveReference(ref).String(), name)
		if !ok {
			continue
		}
		i := slices.IndexFunc(bases, func(known string) bool { return sameHost(known, b) })
		if i < 0 {
			bases = append(bases, b)
		} else {
			bases[i] = common(bases[i], b)
		}
		if len(bases) > maxBases {
			return nil, fmt.Errorf("the registry's artifacts are at more than %d hosts", maxBases)
		}
	}
	if len(bases) == 0 {
		return nil, errNoArtifact
	}
	return bases, nil
}

// maxBases is the number of hosts at which a registry may have its artifacts.
const maxBases = 4

func jsonLinks(data []byte) ([]string, error) {
	v, err := jsonx.Parse(data, documentLimits)
	if err != nil {
		return nil, err
	}
	files, _ := v.Member("files")
	var links []string
	for _, f := range files.Items {
		link, _ := f.Member("url")
		links = append(links, link.Text)
	}
	return links, nil
}

func htmlLinks(data []byte) []string {
	var links []string
	for z := html.NewTokenizer(bytes.NewReader(data)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return links
		case html.StartTagToken:
			if t := z.Token(); t.Data == "a" {
				for _, attribute := range t.Attr {
					if attribute.Key == "href" {
						links = append(links, attribute.Val)
					}
				}
			}
		default: // not a link
		}
	}
}

// cargoArtifacts reads the settings of an index. The base is the template for downloads up to the
// path segment with the first marker.
func cargoArtifacts(data []byte) ([]string, error) {
	v, err := jsonx.Parse(data, documentLimits)
	if err != nil {
		return nil, err
	}
	dl, _ := v.Member("dl")
	template, _, marked := strings.Cut(dl.Text, "{")
	if marked {
		template = template[:strings.LastIndexByte(template, '/')+1]
	}
	b, _, err := base(template)
	if err != nil {
		return nil, errNoArtifact
	}
	return []string{b}, nil
}

// directory returns the base of an artifact: its directory, cut before the first segment of the
// path that is the package's name.
func directory(address, name string) (string, bool) {
	u, err := url.Parse(address)
	if err != nil {
		return "", false
	}
	u.Fragment, u.RawFragment, u.RawQuery = "", "", ""
	parts := strings.Split(u.EscapedPath(), "/")
	parts = parts[:len(parts)-1] // the file
	if i := slices.Index(parts, name); i >= 0 {
		parts = parts[:i]
	}
	u.RawPath = ""
	if u.Path, err = url.PathUnescape(strings.Join(parts, "/")); err != nil {
		return "", false
	}
	b, _, err := base(u.String())
	return b, err == nil
}

// common returns the longest base that contains two bases of the same host.
func common(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	if n == len(a) || n == len(b) {
		return a[:n]
	}
	return a[:strings.LastIndexByte(a[:n], '/')+1]
}

// outside returns the bases that are not below the registry's own.
func outside(own *url.URL, bases []string) []string {
	return slices.DeleteFunc(bases, func(b string) bool { return strings.HasPrefix(b, own.String()) })
}
