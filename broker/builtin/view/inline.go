package view

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxDepth is how deep emphasis and links may be nested.
const maxDepth = 6

// inline makes glyphs of a paragraph's text: emphasis, code, and links with their address. Signs
// without their closing counterpart are shown as they are.
func inline(s string, st style, depth int) (out row) {
	before := ' '
	for s != "" {
		n, gs := 0, row(nil)
		switch c := s[0]; {
		case c == '\\' && len(s) > 1 && strings.IndexByte("\\`*_{}[]()<>#+-.!|~", s[1]) >= 0:
			n, gs = 2, own(s[1:2], st)
		case c == '`':
			n, gs = codeSpan(s, st)
		case depth >= maxDepth:
		case c == '[':
			n, gs = link(s, st, depth)
		case c == '*', c == '_' && !unicode.IsLetter(before) && !unicode.IsDigit(before):
			n, gs = emphasis(s, st, depth)
		}
		if n == 0 {
			_, n = utf8.DecodeRuneInString(s)
			if s[0] == '`' || s[0] == '*' || s[0] == '_' {
				n = run(s)
			}
			if next := strings.IndexAny(s[n:], "\\`[*_"); next >= 0 {
				n += next
			} else {
				n = len(s)
			}
			gs = foreign(s[:n], st)
		}
		out = append(out, gs...)
		before, _ = utf8.DecodeLastRuneInString(s[:n])
		s = s[n:]
	}
	return out
}

// run returns how often the first byte of s is repeated at its beginning.
func run(s string) int { return len(s) - len(strings.TrimLeft(s, s[:1])) }

func codeSpan(s string, st style) (n int, gs row) {
	n = run(s)
	end := strings.Index(s[n:], s[:n])
	if end < 0 {
		return 0, nil
	}
	inner := s[n : n+end]
	if strings.HasPrefix(inner, " ") && strings.HasSuffix(inner, " ") && len(inner) > 2 {
		inner = inner[1 : len(inner)-1]
	}
	return 2*n + end, foreign(inner, st|code)
}

func emphasis(s string, st style, depth int) (n int, gs row) {
	n = min(run(s), 3)
	sign := s[:n]
	end := n + strings.Index(s[n:], sign)
	for n == 1 && end > n && end+1 < len(s) && s[end+1] == s[0] { // a double sign belongs to other emphasis
		more := strings.Index(s[end+2:], sign)
		if more < 0 {
			return 0, nil
		}
		end += 2 + more
	}
	if end <= n || strings.IndexByte(" \t", s[n]) >= 0 || strings.IndexByte(" \t", s[end-1]) >= 0 {
		return 0, nil
	}
	if n >= 2 {
		st |= strong
	}
	if n != 2 {
		st |= slanted
	}
	return end + n, inline(s[n:end], st, depth+1)
}

func link(s string, st style, depth int) (n int, gs row) {
	middle := strings.Index(s, "](")
	if middle < 0 {
		return 0, nil
	}
	end := strings.IndexByte(s[middle:], ')')
	if end < 0 {
		return 0, nil
	}
	label, address := s[1:middle], s[middle+2:middle+end]
	gs = inline(label, st|linked, depth+1)
	if label != address {
		gs = append(gs, own(" (", st)...)
		gs = append(gs, foreign(address, st|muted)...)
		gs = append(gs, own(")", st)...)
	}
	return middle + end + 1, gs
}
