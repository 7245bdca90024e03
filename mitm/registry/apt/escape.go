package apt

import (
	"slices"
	"strings"
)

// maxPath bounds a request's path, in bytes.
const maxPath = 1024

// plainByte reports whether a byte needs no escape in a path.
func plainByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._:@=,", c) >= 0
}

// escapes are the other bytes in names of packages, and how apt writes them.
var escapes = map[byte]string{'+': "%2b", '~': "%7e", '%': "%25"}

// split splits a path into unescaped names. A plus and a tilde may also be unescaped.
func split(path string) ([]string, bool) {
	if len(path) > maxPath {
		return nil, false
	}
	var name []byte
	var parts []string
	for i := 0; i < len(path); i++ {
		c := path[i]
		switch {
		case c == '/':
			parts, name = append(parts, string(name)), nil
			continue
		case c == '%':
			if c = unescape(path[i:min(i+3, len(path))]); c == 0 {
				return nil, false
			}
			i += 2
		case !plainByte(c) && c != '+' && c != '~':
			return nil, false
		}
		name = append(name, c)
	}
	parts = append(parts, string(name))
	return parts, !slices.ContainsFunc(parts, func(p string) bool { return p == "" || p[0] == '.' })
}

// plain reports whether split can return an unescaped path.
func plain(path string) bool {
	parts, ok := split(join(strings.Split(path, "/")))
	return ok && strings.Join(parts, "/") == path
}

// unescape returns the byte of one of apt's escapes, or 0.
func unescape(escaped string) byte {
	for c, e := range escapes {
		if strings.EqualFold(e, escaped) {
			return c
		}
	}
	return 0
}

// join returns the path of names, as apt writes it.
func join(parts []string) string {
	var b strings.Builder
	for i, part := range parts {
		if i > 0 {
			b.WriteByte('/')
		}
		for j := range len(part) {
			if e, ok := escapes[part[j]]; ok {
				b.WriteString(e)
			} else {
				b.WriteByte(part[j])
			}
		}
	}
	return b.String()
}
