package npm

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/archive"
)

// Bounds for inspecting a tarball, which is unpacked as a stream and never stored.
const (
	mostUnpacked = 1 << 30
	mostEntries  = 200_000
	mostNames    = 1000
	mostManifest = 4 << 20
)

// Inspect verifies the registry's signatures and finds what a tarball runs at install. The
// package.json in the tarball decides that, whatever the document says, so there must be exactly
// one.
func (Ecosystem) Inspect(f *registry.Facts, v *registry.Version, _ *registry.File, data io.ReaderAt, size int64) (*registry.Inspection, error) {
	if d, is := f.State.(*document); is {
		if err := d.checkSignatures(f.Name, v); err != nil {
			return nil, err
		}
	}
	unpacked, err := gzip.NewReader(io.NewSectionReader(data, 0, size))
	if err != nil {
		return nil, errors.New("it is not compressed with gzip")
	}
	bounded := &io.LimitedReader{R: unpacked, N: mostUnpacked}
	heads := &archive.Heads{R: bounded}
	entries := tar.NewReader(heads)
	found := &registry.Inspection{}
	manifest, gyp := false, false
	for n := 0; ; n++ {
		h, err := entries.Next()
		switch {
		case errors.Is(err, io.EOF):
			if !manifest {
				return nil, errors.New("it has no package.json")
			}
			if err := onlyZeros(bounded); err != nil {
				return nil, err
			}
			if gyp && !slices.ContainsFunc(found.Scripts, instead) {
				found.AddScript("install: node-gyp rebuild, because there is a binding.gyp")
			}
			return found, nil
		case bounded.N <= 0 || n >= mostEntries:
			return nil, errors.New("it unpacks to more than can be inspected")
		case err != nil:
			return nil, errors.New("it is not a tar archive")
		case len(h.Name) > archive.MaxName:
			return nil, errors.New("it has a name that is too long for a file system")
		}
		if err := heads.Check(h); err != nil {
			return nil, err
		}
		if h.Typeflag == tar.TypeXGlobalHeader {
			continue
		}
		inside, other := unpackedAs(h.Name)
		found.AddFile(inside)
		switch {
		case inside == "package.json" || other == "package.json":
			if manifest {
				return nil, errors.New("it has more than one package.json")
			}
			manifest = true
			if err := readManifest(entries, f.Name, v.Version, found); err != nil {
				return nil, err
			}
		case inside == "binding.gyp" || other == "binding.gyp":
			gyp = true
		case len(found.Scripts) < mostNames && (bundled.MatchString(inside) || bundled.MatchString(other)):
			readBundled(entries, inside, found)
		}
	}
}

// instead reports whether a script replaces the default one for a binding.gyp.
func instead(script string) bool {
	return strings.HasPrefix(script, "install: ") || strings.HasPrefix(script, "preinstall: ")
}

// bundled matches the files that decide what runs at the installation of a bundled package.
var bundled = regexp.MustCompile(`(^|/)node_modules/(@[^/]+/)?[^/]+/(package\.json|binding\.gyp)$`)

// readBundled finds what a bundled package runs.
func readBundled(r io.Reader, name string, found *registry.Inspection) {
	dir, file := path.Split(name)
	if file == "binding.gyp" {
		found.AddScript(dir + " install: node-gyp rebuild, unless its package.json says otherwise")
		return
	}
	data, err := io.ReadAll(io.LimitReader(r, mostManifest+1))
	var inner registry.Inspection
	if err == nil && len(data) <= mostManifest {
		_, _, err = readMembers(data, &inner)
	}
	if err != nil || len(data) > mostManifest {
		inner.Scripts = []string{"scripts unknown: its package.json cannot be read"}
	}
	for _, script := range inner.Scripts {
		found.AddScript(dir + " " + script)
	}
}

// unpackedAs returns the two names under which clients may unpack an entry, in lower case for file
// systems that ignore case. All clients strip the first directory, but some strip it before they
// clean the name: for these, "./package.json" is package.json.
func unpackedAs(name string) (cleaned, stripped string) {
	name = strings.ToLower(name)
	_, cleaned, _ = strings.Cut(path.Clean("/" + name)[1:], "/")
	_, stripped, _ = strings.Cut(name, "/")
	return cleaned, path.Clean("/" + stripped)[1:]
}

// onlyZeros reads what follows the end of an archive, where some clients look for more entries.
func onlyZeros(r *io.LimitedReader) error {
	block := make([]byte, 32<<10)
	for {
		n, err := r.Read(block)
		for _, b := range block[:n] {
			if b != 0 {
				return errors.New("it has data after its end")
			}
		}
		switch {
		case errors.Is(err, io.EOF) && r.N > 0:
			return nil
		case err != nil:
			return errors.New("it cannot be read to its end, or unpacks to more than can be inspected")
		}
	}
}

// readManifest reads a package.json.
func readManifest(r io.Reader, name, version string, found *registry.Inspection) error {
	data, err := io.ReadAll(io.LimitReader(r, mostManifest+1))
	if err != nil || len(data) > mostManifest {
		return errors.New("its package.json cannot be read")
	}
	saidName, saidVersion, err := readMembers(data, found)
	if err != nil {
		return errors.New("its package.json can be read in more than one way, or not at all")
	}
	if saidName != name || strings.TrimPrefix(strings.TrimPrefix(saidVersion, "v"), "=") != version {
		return errors.New("its package.json is about another package or version")
	}
	return nil
}

// readMembers reads name, version and scripts of a package.json, and adds the scripts to those
// found before.
func readMembers(data []byte, found *registry.Inspection) (name, version string, err error) {
	err = jsonx.Walk(trimMark(data), func(key string, raw []byte, _ int) error {
		switch key {
		case "name":
			name, _ = jsonx.Unquote(raw)
		case "version":
			version, _ = jsonx.Unquote(raw)
		case "scripts":
			if raw[0] == '{' {
				return readTexts(raw, func(script, command string) {
					if len(installScript(nil, script)) > 0 {
						found.AddScript(script + ": " + command)
					}
				})
			}
		}
		return nil
	})
	return name, version, err
}

// trimMark removes the byte order mark that some editors write.
func trimMark(data []byte) []byte {
	const mark = "\xef\xbb\xbf"
	if len(data) >= len(mark) && string(data[:len(mark)]) == mark {
		return data[len(mark):]
	}
	return data
}
