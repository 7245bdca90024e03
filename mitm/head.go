package mitm

import (
	"bufio"
	"errors"
	"io"
	"net"
	"strings"
)

// field is one header field: its name in lower case, and its value without surrounding
// white space.
type field struct{ name, value string }

// head is the head of a request that was read strictly: every line ends in CR LF, no line
// is folded, no white space follows a name, and there are no control characters. Fields
// keep their order.
type head struct {
	method  string
	target  string // raw
	version string // "HTTP/1.1" or "HTTP/1.0"
	fields  []field
}

// errQuiet means that the connection ended before the first byte of a head.
var errQuiet = errors.New("the connection ended between requests")

// first returns the value of the first field with a name in lower case, and how many
// such fields there are.
func (h *head) first(name string) (value string, count int) {
	for _, f := range h.fields {
		if f.name != name {
			continue
		}
		if count++; count == 1 {
			value = f.value
		}
	}
	return value, count
}

// has reports whether there is a field with that name.
func (h *head) has(name string) bool {
	for _, f := range h.fields {
		if f.name == name {
			return true
		}
	}
	return false
}

// readHead reads one head. Its errors are errQuiet, when the peer closed
// before the first byte, a *denial, or an error of the connection.
func readHead(r *bufio.Reader, l Limits) (*head, error) {
	text := newLines(r, l.HeaderBytes)
	line, err := text.next()
	if err != nil {
		return nil, err
	}
	h, d := parseRequestLine(line)
	if d != nil {
		return nil, d
	}
	for {
		line, err := text.next()
		if errors.Is(err, errQuiet) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return h, err
		}
		if line == "" {
			return h, nil
		}
		if len(h.fields) == l.Headers {
			return h, deny(431, ReasonHeaderCount, "the request has more than %d header fields", l.Headers)
		}
		f, d := parseField(line)
		if d != nil {
			return h, d
		}
		h.fields = append(h.fields, f)
	}
}

// parseRequestLine reads method, target and version, separated by one space.
func parseRequestLine(line string) (*head, *denial) {
	method, rest, ok1 := strings.Cut(line, " ")
	target, version, ok2 := strings.Cut(rest, " ")
	if !ok1 || !ok2 || !isToken(method) || len(method) > 32 || target == "" {
		return nil, deny(400, ReasonMalformed, "the request line is not METHOD TARGET VERSION")
	}
	for i := range len(target) {
		if target[i] <= ' ' || target[i] >= 0x7f {
			return nil, deny(400, ReasonMalformed, "the request-target holds a character that is not printable ASCII")
		}
	}
	if len(version) != len("HTTP/1.1") || version[:len("HTTP/")] != "HTTP/" || version[6] != '.' {
		return nil, deny(400, ReasonMalformed, "the request line is not METHOD TARGET VERSION")
	}
	if version != "HTTP/1.1" && version != "HTTP/1.0" {
		return nil, deny(505, ReasonVersion, "the request must be HTTP/1.1")
	}
	return &head{method: method, target: target, version: version, fields: make([]field, 0, 12)}, nil
}

// parseField reads one header line.
func parseField(line string) (field, *denial) {
	name, value, ok := strings.Cut(line, ":")
	switch {
	case line[0] == ' ' || line[0] == '\t':
		return field{}, deny(400, ReasonMalformed, "a header line is folded")
	case !ok:
		return field{}, deny(400, ReasonMalformed, "a header line has no colon")
	case !isToken(name):
		return field{}, deny(400, ReasonMalformed, "a header name holds a character that names do not have")
	}
	for i := range len(value) {
		if c := value[i]; c != '\t' && (c < ' ' || c >= 0x7f) {
			return field{}, deny(400, ReasonMalformed, "the header field %s holds a character that is not printable ASCII", printable(lowerASCII(name), 60))
		}
	}
	return field{name: fieldName(name), value: strings.Trim(value, " \t")}, nil
}

// isToken reports whether s is a token as HTTP defines it.
func isToken(s string) bool {
	if s == "" {
		return false
	}
	for i := range len(s) {
		if !tokenBytes[s[i]] {
			return false
		}
	}
	return true
}

var tokenBytes = func() (set [256]bool) {
	for c := range 256 {
		b := byte(c)
		set[c] = b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' ||
			strings.IndexByte("!#$%&'*+-.^_`|~", b) >= 0
	}
	return set
}()

// isTimeout reports whether err comes from a deadline.
func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}
