package pypi

import (
	"net/url"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// cleanPath returns a path of a file in one spelling, and whether it is one: segments of
// plain characters, of which pip escapes "+" and "!" and other clients do not.
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

// escaped reads an escape of one of the two characters that may be escaped.
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
	return strings.NewReplacer("%2B", "+", "%21", "!").Replace(path)
}

// fileName is the last segment of a clean path, unescaped.
func fileName(path string) string {
	return unescape(path[strings.LastIndexByte(path, '/')+1:])
}

// locate returns the address of a file as Parse spells it, or false when it is below no base
// of the origin. link is absolute, or relative to where it stands, and has no fragment.
func locate(o *registry.Origin, where *url.URL, link string) (address string, ok bool) {
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
	bases := append([]*url.URL{o.URL}, o.Artifacts...)
	for i, base := range append(bases, o.Aliases...) {
		if u.Scheme != base.Scheme || !strings.EqualFold(u.Host, base.Host) {
			continue
		}
		rest, below := strings.CutPrefix(u.EscapedPath(), base.EscapedPath())
		if !below || !strings.HasSuffix(base.EscapedPath(), "/") {
			continue
		}
		path, clean := cleanPath(rest)
		if !clean {
			return "", false
		}
		if i >= len(bases) {
			base = o.URL
		}
		return base.String() + path, true
	}
	return "", false
}

// trimMetadata returns the path of the file that a path of metadata belongs to.
func trimMetadata(path string) string { return strings.TrimSuffix(path, metadataSuffix) }
