package gomod

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	modzip "golang.org/x/mod/zip"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// maxFiles bounds the names of files and of modules that an inspection tells.
const maxFiles = 1000

// Inspect compares a file with the hash of the checksum database, which nobody else does,
// and looks whether it is what the go command would take for a module.
func (*Ecosystem) Inspect(f *registry.Facts, v *registry.Version, file *registry.File, data io.ReaderAt, size int64) (*registry.Inspection, error) {
	switch {
	case strings.HasSuffix(file.URL, ".info"):
		return inspectInfo(f, v, data, size)
	case strings.HasSuffix(file.URL, ".mod"):
		return inspectMod(f, v, file, data, size)
	}
	return inspectZip(f, v, file, data, size)
}

func refuseContent(f *registry.Facts, v *registry.Version, format string, args ...any) *registry.Refusal {
	return registry.Refuse(403, registry.ReasonContent, "%s@%s: %s", f.Name, v.Version, fmt.Sprintf(format, args...))
}

func refuseHash(f *registry.Facts, v *registry.Version, what string) *registry.Refusal {
	return registry.Refuse(403, registry.ReasonDigest, "%s@%s: %s is not the one in the checksum database", f.Name, v.Version, what)
}

func inspectInfo(f *registry.Facts, v *registry.Version, data io.ReaderAt, size int64) (*registry.Inspection, error) {
	raw, err := readAll(data, size, maxInfo)
	if err != nil {
		return nil, refuseContent(f, v, "its .info is too large or cannot be read")
	}
	if told, err := readInfo(raw); err != nil || told.version != v.Version {
		return nil, refuseContent(f, v, "its .info is not of this version")
	}
	return &registry.Inspection{}, nil
}

func inspectMod(f *registry.Facts, v *registry.Version, file *registry.File, data io.ReaderAt, size int64) (*registry.Inspection, error) {
	raw, err := readAll(data, size, maxMod)
	if err != nil {
		return nil, refuseContent(f, v, "its go.mod is too large or cannot be read")
	}
	if !fits(file, hashOfMod(raw)) {
		return nil, refuseHash(f, v, "its go.mod")
	}
	return &registry.Inspection{Needs: required(raw)}, nil
}

// required returns the versions that a go.mod requires. One that cannot be read, as the go
// command will say too, requires none.
func required(mod []byte) []registry.Pin {
	parsed, err := modfile.ParseLax("go.mod", mod, nil)
	if err != nil {
		return nil
	}
	var all []registry.Pin
	for _, r := range parsed.Require[:min(len(parsed.Require), maxFiles)] {
		all = append(all, registry.Pin{Name: r.Mod.Path, Version: r.Mod.Version})
	}
	return all
}

// fits reports whether a hash is each of those that are listed.
func fits(file *registry.File, hash string) bool {
	for _, d := range file.Digests {
		if d.Algorithm != "h1" || string(d.Sum) != hash {
			return false
		}
	}
	return true
}

// hashOfMod is the hash of a .mod as the checksum database has it.
func hashOfMod(data []byte) string {
	hash, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	})
	if err != nil {
		return ""
	}
	return hash
}

// inspectZip checks the names and sizes of a zip before anything of it is decompressed.
func inspectZip(f *registry.Facts, v *registry.Version, file *registry.File, data io.ReaderAt, size int64) (*registry.Inspection, error) {
	if size > modzip.MaxZipFile {
		return nil, refuseContent(f, v, "its zip is larger than the go command takes")
	}
	archive, err := zip.NewReader(data, size)
	if err != nil {
		return nil, refuseContent(f, v, "its zip cannot be read")
	}
	prefix := f.Name + "@" + v.Version + "/"
	files := make(map[string]*zip.File, len(archive.File))
	names := make([]string, 0, len(archive.File))
	checked := make([]modzip.File, 0, len(archive.File))
	room := uint64(modzip.MaxZipFile)
	for _, entry := range archive.File {
		below, ok := strings.CutPrefix(entry.Name, prefix)
		if !ok || files[entry.Name] != nil {
			return nil, refuseContent(f, v, "its zip has a file of another name than the module's, or one twice")
		}
		files[entry.Name], names = entry, append(names, entry.Name)
		if entry.UncompressedSize64 > room {
			return nil, refuseContent(f, v, "its zip holds more than the go command takes")
		}
		room -= entry.UncompressedSize64
		if dir, ok := strings.CutSuffix(below, "/"); ok || below == "" {
			if entry.UncompressedSize64 > 0 || below != "" && module.CheckFilePath(dir) != nil {
				return nil, refuseContent(f, v, "its zip has a directory that the go command refuses")
			}
			continue
		}
		if !entry.Mode().IsRegular() {
			return nil, refuseContent(f, v, "its zip has something that is no file")
		}
		checked = append(checked, zipFile{below, entry})
	}
	if _, err := modzip.CheckFiles(checked); err != nil {
		return nil, refuseContent(f, v, "its zip is one that the go command refuses")
	}
	hash, err := dirhash.Hash1(names, func(name string) (io.ReadCloser, error) { return files[name].Open() })
	if err != nil {
		return nil, refuseContent(f, v, "its zip cannot be decompressed")
	}
	if !fits(file, hash) {
		return nil, refuseHash(f, v, "its zip")
	}
	found := &registry.Inspection{}
	for _, c := range checked[:min(len(checked), maxFiles)] {
		found.Files = append(found.Files, c.Path())
	}
	return found, nil
}

// zipFile is a file of a zip for the checks of golang.org/x/mod.
type zipFile struct {
	path  string
	entry *zip.File
}

func (z zipFile) Path() string                { return z.path }
func (z zipFile) Lstat() (fs.FileInfo, error) { return z.entry.FileInfo(), nil }

// Open opens the file up to the size that a go.mod may have; nothing else is opened.
func (z zipFile) Open() (io.ReadCloser, error) {
	r, err := z.entry.Open()
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(r, maxMod), r}, nil
}

// readAll reads data of at most limit bytes.
func readAll(data io.ReaderAt, size, limit int64) ([]byte, error) {
	if size > limit {
		return nil, fmt.Errorf("%d bytes, more than %d", size, limit)
	}
	raw := make([]byte, size)
	if n, err := data.ReadAt(raw, 0); int64(n) < size {
		return nil, err
	}
	return raw, nil
}
