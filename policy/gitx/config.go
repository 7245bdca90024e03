package gitx

import (
	"errors"
	"fmt"
	"strings"
)

// maxConfig bounds a configuration file, in bytes.
const maxConfig = 1 << 20

// Error is the reason why a repository or a remote was refused. It quotes nothing that the
// agent wrote.
type Error struct {
	Reason string
	fatal  bool // git itself fails with an error, too, before it runs anything
}

func (e *Error) Error() string { return e.Reason }

// gitStops reports whether git itself would fail for the same reason.
func gitStops(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.fatal
}

func refuse(format string, args ...any) error {
	return &Error{Reason: fmt.Sprintf(format, args...)}
}

// entry is one variable of a configuration. The key is section.name or
// section.subsection.name, with everything but the subsection in lower case.
type entry struct {
	section, subsection, name string
	value                     string
	implicit                  bool // written without "=", which means true
}

// config is a parsed configuration, in the order of its lines. A later entry overrides an
// earlier one for variables where git uses the last value.
type config struct {
	entries  []entry
	rewrites map[string][]rewrite // rules by variable, filled by rules
}

// rewrite is a rule that replaces the prefix "from" of an address by "base".
type rewrite struct {
	from, base string
	rank       int // of the base, in the order in which git reads them
}

// parseConfig reads a configuration file.
func parseConfig(data []byte) (*config, error) {
	if len(data) > maxConfig {
		return nil, refuse("a git configuration file is too large")
	}
	p := &configParser{data: strings.TrimPrefix(string(data), "\ufeff"), line: 1}
	for p.pos < len(p.data) {
		if err := p.next(); err != nil {
			return nil, err
		}
		if len(p.entries) > maxEntries {
			return nil, errSettings
		}
	}
	return &config{entries: p.entries}, nil
}

// readings returns the values that different versions of git read from one: before 2.45,
// git replaced white space between words by a space; later versions keep it.
func readings(value string) []string {
	if spaced := strings.NewReplacer("\t", " ", "\r", " ").Replace(value); spaced != value {
		return []string{value, spaced}
	}
	return []string{value}
}

// all returns the values of a variable, in order.
func (c *config) all(section, subsection, name string) []string {
	var out []string
	for _, e := range c.entries {
		if e.section == section && e.subsection == subsection && e.name == name {
			out = append(out, e.value)
		}
	}
	return out
}

// last returns the last value of a variable, or "".
func (c *config) last(section, subsection, name string) string {
	values := c.all(section, subsection, name)
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

// has reports whether any variable of the section exists.
func (c *config) has(section string) bool {
	for _, e := range c.entries {
		if e.section == section {
			return true
		}
	}
	return false
}

// remotes returns the names of the remotes, in order.
func (c *config) remotes() []string {
	var out []string
	seen := map[string]bool{}
	for _, e := range c.entries {
		if e.section == "remote" && e.subsection != "" && !seen[e.subsection] {
			seen[e.subsection] = true
			out = append(out, e.subsection)
		}
	}
	return out
}

// rules returns the rules of a variable, insteadOf or pushInsteadOf, in order.
func (c *config) rules(variable string) []rewrite {
	if found, ok := c.rewrites[variable]; ok {
		return found
	}
	ranks := map[string]int{}
	found := []rewrite{}
	for _, e := range c.entries {
		if e.section != "url" || e.subsection == "" || e.name != variable {
			continue
		}
		rank, met := ranks[e.subsection]
		if !met {
			rank = len(ranks)
			ranks[e.subsection] = rank
		}
		found = append(found, rewrite{e.value, e.subsection, rank})
	}
	if c.rewrites == nil {
		c.rewrites = map[string][]rewrite{}
	}
	c.rewrites[variable] = found
	return found
}

// join appends another configuration to this one.
func (c *config) join(o *config) {
	c.entries, c.rewrites = append(c.entries, o.entries...), nil
}
