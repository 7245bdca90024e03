package pypi

import (
	"net/url"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// cleanPath returns a file's path in its canonical spelling, and whether it is acceptable: segments
// of plain characters. pip escapes "+" and "!" in them, other clients do not.
func cleanPath(path string) (string, bool) {
	if path == "" || len(path) > 2048 {
		return "", false
	}
	out := make([]byte, 0, len(path)+8)
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "" || segment == "." || segment == ".." {
			return "", false
		}
		for i := 0; i < len(segment); i++ {
			c := segment[i]
			if c == '%' {
				if c = escaped(segment[i:]); c == 0 {
					return "", false
				}
				i += 2
			}
			switch {
			case wordByte(c), c == '-', c == '.', c == '~':
				out = append(out, c)
			case c == '+':
				out = append(out, "%2B"...)
			case c == '!':
				out = append(out, "%21"...)
			default:
				return "", false
			}
		}
		out = append(out, '/')
	}
	return string(out[:len(out)-1]), true
}

// escaped decodes an escape of one of these two characters.
func escaped(s string) byte {
	switch {
	case len(s) < 3:
	case strings.EqualFold(s[:3], "%2B"):
		return '+'
	case s[:3] == "%21":
		return '!'
	}
	return 0
}

// unescape undoes the escapes of cleanPath.
func unescape(path string) string {
	if strings.IndexByte(path, '%') < 0 {
		return path
	}
	return strings.ReplaceAll(strings.ReplaceAll(path, "%2B", "+"), "%21", "!")
}

// fileName is the last segment of a clean path, unescaped.
func fileName(path string) string {
	return unescape(path[strings.LastIndexByte(path, '/')+1:])
}

// place is a base of an origin.
type place struct {
	base     *url.URL
	text     string // the prefix of links below it
	path     string
	canonic  string // the prefix of their addresses; for an alias the origin's URL
	contains bool   // its path ends with a slash, so files can be below it
}

func places(o *registry.Origin) []place {
	var all []place
	for _, u := range append([]*url.URL{o.URL}, o.Artifacts...) {
		all = append(all, place{base: u, canonic: u.String()})
	}
	for _, u := range o.Aliases {
		all = append(all, place{base: u, canonic: o.URL.String()})
	}
	for i := range all {
		p := &all[i]
		p.text, p.path = p.base.String(), p.base.EscapedPath()
		p.contains = strings.HasSuffix(p.text, "/")
	}
	return all
}

// locate returns the address of a file as Parse spells it, or false if it is below none of the
// places. link has no fragment and is absolute or relative to where.
func locate(all []place, where *url.URL, link string) (address string, ok bool) {
	for _, p := range all { // the usual case: the link needs no decoding
		if rest, below := strings.CutPrefix(link, p.text); below && p.contains {
			if path, clean := cleanPath(rest); clean {
				return p.canonic + path, true
			}
		}
	}
	if strings.ContainsAny(link, "?#\\") {
		return "", false
	}
	u, err := url.Parse(link)
	if err != nil {
		return "", false
	}
	u = where.ResolveReference(u)
	if u.User != nil || u.Opaque != "" {
		return "", false
	}
	for _, p := range all {
		if u.Scheme != p.base.Scheme || !strings.EqualFold(u.Host, p.base.Host) || !p.contains {
			continue
		}
		if rest, below := strings.CutPrefix(u.EscapedPath(), p.path); below {
			path, clean := cleanPath(rest)
			return p.canonic + path, clean
		}
	}
	return "", false
}

// trimMetadata returns the path of the file that a path of metadata belongs to.
func trimMetadata(path string) string { return strings.TrimSuffix(path, metadataSuffix) }
