package login

import "strings"

// maxChallenge is the longest header that is read, in bytes.
const maxChallenge = 8 << 10

// challenge returns the parameters of the first "Bearer" challenge in the values of
// WWW-Authenticate (RFC 9110, 11.6.1), by their names in lower case. It ignores the rest of a
// malformed value, and returns nil if there is no such challenge.
func challenge(values []string) map[string]string {
	for _, v := range values {
		if len(v) > maxChallenge {
			continue
		}
		s := scanner(v)
		for {
			s.separators()
			scheme := s.token()
			if scheme == "" {
				break
			}
			params, ok := s.params()
			if !ok {
				break
			}
			if strings.EqualFold(scheme, "Bearer") {
				return params
			}
		}
	}
	return nil
}

// scanner is the rest of a header.
type scanner string

// params reads the parameters of one challenge, up to the next one.
func (s *scanner) params() (map[string]string, bool) {
	all := map[string]string{}
	for {
		s.separators()
		before := *s
		name := s.token()
		if name == "" {
			return all, *s == ""
		}
		spaced := s.spaces()
		if !s.skip('=') {
			if len(all) > 0 || spaced || *s == "" || (*s)[0] == ',' {
				*s = before // the token is the scheme of the next challenge
				return all, true
			}
			return nil, false
		}
		s.spaces()
		value, ok := s.value()
		if !ok {
			return nil, false
		}
		name = strings.ToLower(name)
		if _, twice := all[name]; twice {
			return nil, false
		}
		all[name] = value
	}
}

// value reads a token or a quoted text.
func (s *scanner) value() (string, bool) {
	if !s.skip('"') {
		v := s.token()
		return v, v != ""
	}
	var b strings.Builder
	for i := 0; i < len(*s); i++ {
		c := (*s)[i]
		switch {
		case c == '"':
			*s = (*s)[i+1:]
			return b.String(), true
		case c == '\\' && i+1 < len(*s):
			i++
			c = (*s)[i]
		}
		if c < ' ' && c != '\t' || c == 0x7f {
			return "", false
		}
		b.WriteByte(c)
	}
	return "", false
}

func (s *scanner) token() string {
	n := 0
	for n < len(*s) && isTokenByte((*s)[n]) {
		n++
	}
	t := string((*s)[:n])
	*s = (*s)[n:]
	return t
}

func isTokenByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c != 0 && strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}

func (s *scanner) spaces() bool {
	rest := strings.TrimLeft(string(*s), " \t")
	some := len(rest) < len(*s)
	*s = scanner(rest)
	return some
}

func (s *scanner) separators() { *s = scanner(strings.TrimLeft(string(*s), " \t,")) }

func (s *scanner) skip(c byte) bool {
	if *s == "" || (*s)[0] != c {
		return false
	}
	*s = (*s)[1:]
	return true
}
