package gitx

import (
	"fmt"
	"strings"
)

// configParser parses git's configuration grammar: sections with an optional quoted
// subsection, variables, and values with quotes, escapes, comments and continued lines.
type configParser struct {
	data                string
	pos, line           int
	section, subsection string
	entries             []entry
}

// fail refuses input that git refuses as well.
func (p *configParser) fail(what string) error {
	return &Error{Reason: fmt.Sprintf("git configuration, line %d: %s", p.line, what), fatal: true}
}

// ambiguous refuses input that git accepts but reads differently than a person would.
func (p *configParser) ambiguous(what string) error {
	return refuse("git configuration, line %d: %s", p.line, what)
}

func (p *configParser) peek() byte {
	if p.pos < len(p.data) {
		return p.data[p.pos]
	}
	return '\n'
}

// next reads one section header, variable, comment or empty line.
func (p *configParser) next() error {
	switch c := p.peek(); {
	case c == '\n':
		p.pos++
		p.line++
	case c == ' ' || c == '\t' || c == '\r':
		p.pos++
	case c == '#' || c == ';':
		p.comment()
	case c == '[':
		return p.header()
	case isAlpha(c):
		return p.variable()
	default:
		return p.fail("unexpected character")
	}
	return nil
}

func (p *configParser) comment() {
	for p.pos < len(p.data) && p.data[p.pos] != '\n' {
		p.pos++
	}
}

func (p *configParser) header() error {
	p.pos++
	start := p.pos
	for isAlnum(p.peek()) || p.peek() == '-' || p.peek() == '.' {
		p.pos++
	}
	section, dotted, old := strings.Cut(strings.ToLower(p.data[start:p.pos]), ".")
	if section == "" || old && dotted == "" {
		return p.ambiguous("section without a name")
	}
	// In the old form [section.subsection] git ignores the subsection's case.
	p.section, p.subsection = section, dotted
	if c := p.peek(); c == ' ' || c == '\t' {
		for c := p.peek(); c == ' ' || c == '\t'; c = p.peek() {
			p.pos++
		}
		quoted, err := p.quotedSubsection()
		if err != nil {
			return err
		}
		// Both forms together name one subsection: [a.b "c"] means [a "b.c"].
		if p.subsection = quoted; old {
			p.subsection = dotted + "." + quoted
		}
	}
	if p.pos >= len(p.data) || p.data[p.pos] != ']' {
		return p.fail("malformed section")
	}
	p.pos++
	return nil
}

// quotedSubsection reads a subsection between quotes. It refuses an empty one: for git,
// [a ""] is another section than [a], and nobody intends that.
func (p *configParser) quotedSubsection() (string, error) {
	if p.peek() != '"' {
		return "", p.fail("malformed section")
	}
	var b strings.Builder
	for p.pos++; p.pos < len(p.data); p.pos++ {
		switch c := p.data[p.pos]; c {
		case '"':
			p.pos++
			if b.Len() == 0 {
				return "", p.ambiguous("subsection without a name")
			}
			return b.String(), nil
		case '\n', 0:
			return "", p.fail("malformed section")
		case '\\':
			p.pos++
			if p.pos >= len(p.data) || p.data[p.pos] == '\n' {
				return "", p.fail("malformed section")
			}
			b.WriteByte(p.data[p.pos])
		default:
			b.WriteByte(c)
		}
	}
	return "", p.fail("malformed section")
}

func (p *configParser) variable() error {
	if p.section == "" {
		return p.ambiguous("variable outside a section")
	}
	start := p.pos
	for isAlnum(p.peek()) || p.peek() == '-' {
		p.pos++
	}
	e := entry{section: p.section, subsection: p.subsection, name: strings.ToLower(p.data[start:p.pos])}
	for c := p.peek(); c == ' ' || c == '\t' || c == '\r'; c = p.peek() {
		if p.pos >= len(p.data) {
			break
		}
		p.pos++
	}
	switch c := p.peek(); c {
	case '=':
		p.pos++
		value, err := p.value()
		if err != nil {
			return err
		}
		e.value = value
	case '\n', '#', ';':
		e.value, e.implicit = "true", true
	default:
		return p.fail("malformed variable")
	}
	p.entries = append(p.entries, e)
	return nil
}

// value reads the rest of a line, and the lines that continue it.
func (p *configParser) value() (string, error) {
	var b strings.Builder
	quoted, trailing := false, 0 // trailing: white space at the end that may be cut off
	keep := func(s string) { b.WriteString(s); trailing = 0 }
	for p.pos < len(p.data) {
		c := p.data[p.pos]
		p.pos++
		switch {
		case c == '\n':
			p.line++
			if quoted {
				return "", p.fail("quote without an end")
			}
			return b.String()[:b.Len()-trailing], nil
		case c == 0:
			return "", p.ambiguous("NUL byte")
		case c == '\\':
			s, err := p.valueEscape()
			if err != nil {
				return "", err
			}
			keep(s)
		case c == '"':
			quoted = !quoted
			trailing = 0
		case !quoted && (c == '#' || c == ';'):
			p.comment()
		case !quoted && (c == ' ' || c == '\t' || c == '\r'):
			if b.Len() > 0 {
				b.WriteByte(c)
				trailing++
			}
		default:
			keep(string([]byte{c}))
		}
	}
	if quoted {
		return "", p.fail("quote without an end")
	}
	return b.String()[:b.Len()-trailing], nil
}

func (p *configParser) valueEscape() (string, error) {
	if p.pos >= len(p.data) {
		return "", nil
	}
	c := p.data[p.pos]
	p.pos++
	switch c {
	case '\n':
		p.line++
		return "", nil
	case '\r':
		if p.peek() == '\n' && p.pos < len(p.data) {
			p.pos++
			p.line++
			return "", nil
		}
	case '"', '\\':
		return string([]byte{c}), nil
	case 'n':
		return "\n", nil
	case 't':
		return "\t", nil
	case 'b':
		return "\b", nil
	}
	return "", p.fail("unknown escape")
}

func isAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isAlnum(c byte) bool { return isAlpha(c) || (c >= '0' && c <= '9') }
