package mitm

import "strings"

// validHost reports whether s is a host name of at least two labels in normal form: in
// lower case, without a final dot and without a port.
func validHost(s string) bool {
	if len(s) > 253 {
		return false
	}
	labels := 0
	for label := range strings.SplitSeq(s, ".") {
		if !validLabel(label) {
			return false
		}
		labels++
	}
	return labels >= 2
}

func validLabel(s string) bool {
	if s == "" || len(s) > 63 || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}

// parseConnectTarget reads the raw target of a CONNECT: a host name, a colon, a port. It
// only checks the syntax; the caller checks whether the host and port are allowed.
func parseConnectTarget(raw string) (host, port string, d *denial) {
	i := strings.LastIndexByte(raw, ':')
	if i < 0 {
		return "", "", deny(400, ReasonTarget, "the target of CONNECT must be HOST:PORT")
	}
	host, port = lowerASCII(raw[:i]), raw[i+1:]
	n, ok := parseLength(port)
	if !ok || n == 0 || n > 65535 || !validHost(host) {
		return "", "", deny(400, ReasonTarget, "the target of CONNECT must be HOST:PORT")
	}
	return host, port, nil
}

// lowerASCII turns only letters of ASCII into lower case, so that no other character
// becomes a letter of ASCII.
func lowerASCII(s string) string {
	if strings.IndexFunc(s, func(c rune) bool { return c >= 'A' && c <= 'Z' }) < 0 {
		return s
	}
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// splitTarget splits a raw request-target inside a tunnel into path and query.
func splitTarget(raw string) (path, query string, d *denial) {
	if strings.Contains(raw, "://") && raw[0] != '/' {
		return "", "", deny(400, ReasonAbsoluteForm, "inside a tunnel the request-target must be a path")
	}
	if strings.IndexByte(raw, '#') >= 0 {
		return "", "", deny(400, ReasonRawTarget, "the request-target has a fragment")
	}
	path, query, _ = strings.Cut(raw, "?")
	return path, query, nil
}

// checkPath refuses a path that could be read in two ways. Only text that needs no
// decoding passes, so the provider sees exactly what was compared with the table.
func checkPath(path string) *denial {
	if path == "" || path[0] != '/' {
		return deny(400, ReasonRawTarget, "the request-target must begin with a slash")
	}
	for i := range len(path) {
		c := path[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && strings.IndexByte("._~:/-", c) < 0 {
			return deny(400, ReasonRawTarget, "the path holds a character that providers' paths do not have")
		}
	}
	for segment := range strings.SplitSeq(path[1:], "/") {
		if segment == "" && path != "/" || segment == "." || segment == ".." {
			return deny(400, ReasonRawTarget, "the path has an empty or a dot segment")
		}
	}
	return nil
}

// checkQuery compares a raw query with the endpoint's: each key must be listed and appear
// at most once, and each value must be as listed.
func (e *Endpoint) checkQuery(query string) *denial {
	if query == "" {
		return nil
	}
	seen := make(map[string]bool, 4)
	for pair := range strings.SplitSeq(query, "&") {
		key, value, ok := strings.Cut(pair, "=")
		want, listed := e.Query[key]
		if !ok || !listed || seen[key] {
			return deny(403, ReasonQuery, "Blocked: the query of %s %s is not allowed.", e.Method, e.Path)
		}
		seen[key] = true
		if want == "*" && !plainValue(value) || want != "*" && value != want {
			return deny(403, ReasonQuery, "Blocked: the query of %s %s is not allowed.", e.Method, e.Path)
		}
	}
	return nil
}

// plainValue reports whether a query value needs no decoding and is short.
func plainValue(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && strings.IndexByte("._-", c) < 0 {
			return false
		}
	}
	return true
}

// queryNames returns the names in a raw query, in lower case and undecoded.
func queryNames(query string) []string {
	var names []string
	if query == "" {
		return nil
	}
	for pair := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '&' || r == ';' }) {
		key, _, _ := strings.Cut(pair, "=")
		names = append(names, lowerASCII(key))
	}
	return names
}
