package npm

import (
	"bufio"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// inShort are the members of a version in the abbreviated form.
var inShort = []string{
	"name", "version", "deprecated", "dependencies", "optionalDependencies", "devDependencies", "bundleDependencies",
	"bundledDependencies", "peerDependencies", "peerDependenciesMeta", "acceptDependencies", "bin", "directories",
	"dist", "engines", "funding", "os", "cpu", "libc", "_hasShrinkwrap", "hasInstallScript",
}

// Write writes a document.
func (e Ecosystem) Write(w io.Writer, f *registry.Facts, a *registry.Ask, hidden func(string) bool) error {
	d, is := f.State.(*document)
	if !is { // a plain document
		_, err := w.Write(f.Document.Data)
		return err
	}
	if !slices.ContainsFunc(d.versions, func(v entry) bool { return !hidden(v.name) }) {
		return nothingLeft(f)
	}
	o := &output{Writer: bufio.NewWriter(w)}
	switch version, single := strings.CutPrefix(a.Form, one); {
	case single:
		if err := d.writeVersion(o, f, version, hidden); err != nil {
			return err
		}
	case a.Form == tags:
		o.object(sorted(d.tagsOf(f, hidden)))
	default:
		d.writeAll(o, f, a.Form == short, hidden)
	}
	return o.Flush() // the first error of all writes
}

func nothingLeft(f *registry.Facts) error {
	return registry.Refuse(404, registry.ReasonQuarantine, "all versions of %s are held back by the person's rules for new packages; request_package asks for one", f.Name)
}

// writeVersion writes the document of one version, which may be named by a tag.
func (d *document) writeVersion(o *output, f *registry.Facts, version string, hidden func(string) bool) error {
	if named, is := d.tagsOf(f, hidden)[version]; is {
		version = named
	}
	i := slices.IndexFunc(d.versions, func(v entry) bool { return v.name == version })
	switch {
	case i < 0:
		return registry.ErrNotFound
	case hidden(version):
		return registry.Refuse(404, registry.ReasonQuarantine, "%s %s is held back by the person's rules for new packages; request_package asks for it", f.Name, version)
	}
	_, _ = o.Write(d.versions[i].raw)
	return nil
}

// writeAll writes the document of a package, member by member.
func (d *document) writeAll(o *output, f *registry.Facts, abbreviated bool, hidden func(string) bool) {
	o.open()
	for _, m := range d.members {
		switch m.name {
		case "dist-tags":
			o.member(m.name)
			o.object(sorted(d.tagsOf(f, hidden)))
		case "time":
			o.member(m.name)
			o.objectOf(d.times, hidden)
		case "versions":
			o.member(m.name)
			if abbreviated {
				d.writeShort(o, f, hidden)
			} else {
				o.objectOf(d.versions, hidden)
			}
		default:
			if !abbreviated || m.name == "name" || m.name == "modified" {
				o.member(m.name)
				_, _ = o.Write(m.raw)
			}
		}
	}
	o.close()
}

// writeShort writes the versions with the members of the abbreviated form.
func (d *document) writeShort(o *output, f *registry.Facts, hidden func(string) bool) {
	o.open()
	for i, v := range d.versions { // in the order of f.Versions
		if hidden(v.name) {
			continue
		}
		o.member(v.name)
		o.open()
		told := false
		_ = jsonx.Walk(v.raw, func(key string, raw []byte, _ int) error { // it was walked when it was read
			if slices.Contains(inShort, key) {
				told = told || key == "hasInstallScript"
				o.member(key)
				_, _ = o.Write(raw)
			}
			return nil
		})
		if !told && len(f.Versions[i].Scripts) > 0 {
			o.member("hasInstallScript")
			_, _ = o.WriteString("true")
		}
		o.close()
	}
	o.close()
}

// output is JSON that is being written.
type output struct {
	*bufio.Writer
	comma bool // before the next member
}

func (o *output) open()  { _ = o.WriteByte('{'); o.comma = false }
func (o *output) close() { _ = o.WriteByte('}'); o.comma = true }

// member begins a member.
func (o *output) member(name string) {
	if o.comma {
		_ = o.WriteByte(',')
	}
	o.comma = true
	_, _ = o.Write(append(jsonx.AppendString(o.AvailableBuffer(), name), ':'))
}

// objectOf writes an object without its hidden members.
func (o *output) objectOf(entries []entry, hidden func(string) bool) {
	o.open()
	for _, e := range entries {
		if !hidden(e.name) {
			o.member(e.name)
			_, _ = o.Write(e.raw)
		}
	}
	o.close()
}

func (o *output) object(entries []entry) { o.objectOf(entries, func(string) bool { return false }) }

// sorted returns texts as members, by name.
func sorted(texts map[string]string) []entry {
	var all []entry
	for name, text := range texts {
		all = append(all, entry{name, jsonx.AppendString(nil, text)})
	}
	slices.SortFunc(all, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	return all
}

// RefusalBody returns a body from which npm and similar clients print why a request was refused.
func (Ecosystem) RefusalBody(text string) (mediaType string, body []byte) {
	body, err := json.Marshal(map[string]string{"error": text})
	if err != nil { // encoding a text cannot fail
		return "application/json", []byte(`{"error":"refused"}`)
	}
	return "application/json", body
}
