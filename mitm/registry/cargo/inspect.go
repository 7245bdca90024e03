package cargo

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/archive"
)

const (
	maxManifest = 1 << 20  // bytes of a Cargo.toml
	maxLockfile = 16 << 20 // bytes of a Cargo.lock
)

// notAll is in Scripts if an archive is too large to be inspected completely.
const notAll = "the archive is too large to be inspected completely"

// Inspect looks into a crate: everything must be in one directory, and its manifest must have the
// name and version of the facts.
func (Ecosystem) Inspect(f *registry.Facts, v *registry.Version, _ *registry.File, data io.ReaderAt, size int64) (*registry.Inspection, error) {
	c := crate{top: f.Name + "-" + v.Version + "/"}
	whole, err := archive.Tar(data, size, c.visit)
	if err == nil && c.manifest == nil && !whole {
		return nil, registry.Refuse(403, registry.ReasonLimit, "%s %s is too large to be inspected", f.Name, v.Version)
	}
	if err == nil {
		err = c.read(f.Name, v.Version)
	}
	if err != nil {
		return nil, registry.Refuse(403, registry.ReasonContent, "%s %s is not what the registry says: %v", f.Name, v.Version, err)
	}
	if !whole {
		c.in.Scripts = append(c.in.Scripts, notAll)
	}
	return &c.in, nil
}

// crate collects the relevant parts of an archive.
type crate struct {
	top      string // the top directory, with a slash
	in       registry.Inspection
	manifest []byte
	build    bool // there is a build.rs
}

// visit handles one entry.
func (c *crate) visit(e archive.Entry, r io.Reader) error {
	if e.Dir && e.Name+"/" == c.top {
		return nil
	}
	rest, ok := strings.CutPrefix(e.Name, c.top)
	switch {
	case !ok:
		return errors.New("it has files outside its top directory")
	case e.Extended:
		return errors.New("it has pax records, which cargo never writes and reads in its own way")
	case e.Link:
		return errors.New("it has a link")
	case e.Dir:
		return nil
	case rest == ".cargo-ok":
		return errors.New("it has the file with which cargo marks unpacked crates")
	case rest == "build.rs":
		c.build = true
	}
	c.in.AddFile(e.Name)
	if rest != "Cargo.toml" {
		return nil
	}
	if c.manifest != nil {
		return errors.New("it has Cargo.toml twice")
	}
	manifest, err := archive.ReadAll(r, maxManifest)
	if err == nil {
		c.manifest = append([]byte{}, manifest...)
	}
	return err
}

// read reads the manifest into a map, so that member names are compared exactly.
func (c *crate) read(name, version string) error {
	if c.manifest == nil {
		return errors.New("it has no Cargo.toml")
	}
	m, err := registry.ParseManifest(c.manifest)
	if err != nil {
		return errors.New("its Cargo.toml cannot be read")
	}
	p, ok := m["package"].(map[string]any)
	if _, old := m["project"]; !ok || old {
		return errors.New("its Cargo.toml has no [package], or the older [project]")
	}
	if p["name"] != name || p["version"] != version {
		return errors.New("its Cargo.toml has another name or version")
	}
	switch build := p["build"].(type) {
	case nil:
		if c.build {
			c.in.Scripts = append(c.in.Scripts, "build: build.rs")
		}
	case bool:
		if build {
			c.in.Scripts = append(c.in.Scripts, "build: build.rs")
		}
	case string:
		c.in.Scripts = append(c.in.Scripts, "build: "+printable(build))
	default:
		c.in.Scripts = append(c.in.Scripts, "build: several programs")
	}
	if lib, ok := m["lib"].(map[string]any); ok && isMacro(lib) {
		c.in.Scripts = append(c.in.Scripts, "in the compiler: procedural macros")
	}
	return nil
}

// isMacro reports whether a library runs in the compiler. There are several ways to declare it.
func isMacro(lib map[string]any) bool {
	kinds, _ := lib["crate-type"].([]any)
	older, _ := lib["crate_type"].([]any)
	return lib["proc-macro"] == true || lib["proc_macro"] == true || slices.Contains(append(kinds, older...), any("proc-macro"))
}

// printable returns a short untrusted text, or a note that it is not printable.
func printable(s string) string {
	if len(s) > 100 || s == "" || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) {
		return "(unreadable)"
	}
	return s
}

// Pins reads Cargo.lock.
func (Ecosystem) Pins(base string, data []byte) []registry.Pin {
	if base != "Cargo.lock" || len(data) > maxLockfile {
		return nil
	}
	var pins []registry.Pin
	registry.LockedPackages(data, func(texts map[string]string) {
		name, version, source := texts["name"], texts["version"], texts["source"]
		if _, ok := isVersion(version); !ok || !isName(name) {
			return
		}
		if strings.HasPrefix(source, "registry+") || strings.HasPrefix(source, "sparse+") {
			pins = append(pins, registry.Pin{Name: name, Version: version})
		}
	})
	return pins
}
