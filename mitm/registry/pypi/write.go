package pypi

import (
	"cmp"
	"errors"
	"io"
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// Write writes the document without the hidden versions.
func (Ecosystem) Write(w io.Writer, f *registry.Facts, a *registry.Ask, hidden func(version string) bool) error {
	if len(f.Versions) == 0 {
		return registry.Refuse(404, registry.ReasonNotFound, "the registry has no installable file of %s", f.Name)
	}
	shown := make([]bool, len(f.Versions))
	for i := range f.Versions {
		shown[i] = !hidden(f.Versions[i].Version)
	}
	if !slices.Contains(shown, true) {
		return registry.Refuse(404, registry.ReasonQuarantine, "every version of %s is held back, for example because it is too young", f.Name)
	}
	out := &copier{w: w, data: f.Document.Data, shown: shown}
	switch s := f.State.(type) {
	case *page:
		switch {
		case a.Form == formHTML:
			return writeHTML(w, s, shown)
		case s.json:
			return out.document(s.lists)
		}
		return writeJSON(w, s, shown)
	case *legacy:
		return s.write(out, f, a)
	}
	return errors.New("write a document of a Python index: it has not been read")
}

// copier copies a document without the elements of hidden versions.
type copier struct {
	w     io.Writer
	data  []byte
	shown []bool
	err   error
}

// document copies the whole document. The lists are in its order and not nested.
func (c *copier) document(lists []list) error {
	c.span(0, len(c.data), lists)
	return c.err
}

func (c *copier) bytes(b []byte) {
	if c.err == nil {
		_, c.err = c.w.Write(b)
	}
}

// span copies a range that contains lists.
func (c *copier) span(start, end int, lists []list) {
	for _, l := range lists {
		c.bytes(c.data[start:l.start])
		c.list(l)
		start = l.end
	}
	c.bytes(c.data[start:end])
}

func (c *copier) list(l list) {
	c.bytes(c.data[l.start : l.start+1])
	first := true
	for _, e := range l.elements {
		if e.version < 0 || !c.shown[e.version] {
			continue
		}
		if !first {
			c.bytes([]byte{','})
		}
		first = false
		c.span(e.start, e.end, e.inner)
	}
	c.bytes(c.data[l.end-1 : l.end])
}

// write writes a document for poetry. If the version that it is about is hidden, another one takes
// its place.
func (l *legacy) write(c *copier, f *registry.Facts, a *registry.Ask) error {
	lists := []list{l.urls}
	if l.releases.end > 0 {
		lists = append(lists, l.releases)
	}
	if l.current >= 0 && c.shown[l.current] {
		return c.document(inOrder(lists))
	}
	if a.Form == formRelease {
		return registry.Refuse(404, registry.ReasonQuarantine, "%s %s is held back, for example because it is too young", f.Name, a.Version)
	}
	newest := newestShown(f.Versions, c.shown)
	files, listed := l.files[newest]
	start := 0
	for _, part := range inOrder(append(lists, l.info)) {
		c.bytes(c.data[start:part.start])
		switch {
		case part.start == l.info.start:
			c.bytes(info(f.Name, f.Versions[newest].Version))
		case part.start != l.urls.start:
			c.list(part)
		case listed:
			c.list(files)
		default:
			c.bytes([]byte("[]"))
		}
		start = part.end
	}
	c.bytes(c.data[start:])
	return c.err
}

func inOrder(lists []list) []list {
	slices.SortFunc(lists, func(a, b list) int { return cmp.Compare(a.start, b.start) })
	return lists
}

// info returns a minimal document about a version.
func info(name, version string) []byte {
	out := jsonx.AppendString([]byte(`{"name":`), name)
	out = jsonx.AppendString(append(out, `,"version":`...), version)
	return append(out, '}')
}

// newestShown returns the most recently published of the shown versions, a stable one if there is
// one.
func newestShown(versions []registry.Version, shown []bool) int {
	best := -1
	for i := range versions {
		if !shown[i] {
			continue
		}
		if best < 0 || rank(&versions[i]) > rank(&versions[best]) ||
			rank(&versions[i]) == rank(&versions[best]) && !versions[i].Published.Before(versions[best].Published) {
			best = i
		}
	}
	return best
}

func rank(v *registry.Version) int {
	switch {
	case v.Withdrawn:
		return 0
	case v.Prerelease:
		return 1
	}
	return 2
}
