package grant

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// pattern says which calls of a session a grant lets through.
type pattern struct {
	server, tool string
	digest       string // of the one call that fits, when set; the rest is unused
	any          bool   // every call of the tool fits, as long as it is not annotated
	slots        map[slot]allowed
	rest         map[string]string // the JSON of other arguments, which must be the same
}

// allowed describes the values that a slot may have.
type allowed struct {
	texts     []string
	origins   []string // any address at one of them is allowed
	directory string   // any path directly in it is allowed, unless it is hidden
}

// matches reports whether the pattern lets a call through.
func (p pattern) matches(c Call) bool {
	if c.Structural || c.Server != p.server || c.Tool != p.tool || c.Digest == "" {
		return false
	}
	if p.digest != "" {
		return c.Digest == p.digest
	}
	if p.any {
		return c.Unannotated
	}
	slots := c.slots()
	if len(slots) == 0 || len(slots) != len(p.slots) {
		return false
	}
	for at, values := range slots {
		may, ok := p.slots[at]
		if !ok || slices.ContainsFunc(values, func(v policy.Value) bool { return !may.allows(v) }) {
			return false
		}
	}
	rest, err := c.rest()
	return err == nil && maps.Equal(rest, p.rest)
}

func (a allowed) allows(v policy.Value) bool {
	switch {
	case slices.Contains(a.texts, v.Text):
		return true
	case v.Origin != "" && slices.Contains(a.origins, v.Origin):
		return true
	}
	return a.directory != "" && path.Dir(v.Text) == a.directory && !hidden(v.Text)
}

// hidden reports whether a path names a hidden file. Such files configure shells, tools and
// logins.
func hidden(p string) bool { return strings.HasPrefix(path.Base(p), ".") }
