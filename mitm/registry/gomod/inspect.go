package gomod

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
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

// maxFiles bounds the names of files and of modules in an inspection.
const maxFiles = 1000

// Inspect compares a file with its hash in the checksum database, which nothing else does, and
// checks that the go command would accept it as a module.
func (*Ecosystem) Inspect(f *registry.Facts, v *registry.Version, file *registry.File, data io.ReaderAt, size int64) (*registry.Inspection, error) {
	switch {
	case strings.HasSuffix(file.URL, ".info"):
		return inspectInfo(f, v, data, size)
	case strings.HasSuffix(file.URL, ".mod"):
		return inspectMod(f, v, file, data, size)
	}
	return inspectZip(f, v, file, data, size)
}

func refuseContent(f *registry.Facts, v *registry.Version, why string) *registry.Refusal {
	return registry.Refuse(403, registry.ReasonContent, "%s@%s: %s", f.Name, v.Version, why)
}

func refuseHash(f *registry.Facts, v *registry.Version, what string) *registry.Refusal {
	return registry.Refuse(403, registry.ReasonDigest, "%s@%s: %s is not the one in the checksum database", f.Name, v.Version, what)
}

func inspectInfo(f *registry.Facts, v *registry.Version, data io.ReaderAt, size int64) (*registry.Inspection, error) {
	raw, err := readAll(data, size, maxInfo)
	if err != nil {
		return nil, refuseContent(f, v, "its .info is too large or malformed")
	}
	if told, err := readInfo(raw); err != nil || told.version != v.Version {
		return nil, refuseContent(f, v, "its .info is of another version")
	}
	return &registry.Inspection{}, nil
}

func inspectMod(f *registry.Facts, v *registry.Version, file *registry.File, data io.ReaderAt, size int64) (*registry.Inspection, error) {
	raw, err := readAll(data, size, maxMod)
	if err != nil {
		return nil, refuseContent(f, v, "its go.mod is too large or malformed")
	}
	if !fits(file, hashOfMod(raw)) {
		return nil, refuseHash(f, v, "its go.mod")
	}
	return &registry.Inspection{Needs: required(raw)}, nil
}

// required returns the versions that a go.mod requires. A malformed go.mod, which the go command
// rejects as well, requires none.
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

// fits reports whether a hash equals all listed ones.
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
		return nil, refuseContent(f, v, "its zip is larger than the go command accepts")
	}
	if length, ok := directoryOf(data, size); !ok || length > maxDirectory {
		return nil, refuseContent(f, v, "its zip has too many files to be inspected, or does not end with its directory")
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
			return nil, refuseContent(f, v, "its zip has a file outside the module's directory, or the same file twice")
		}
		files[entry.Name], names = entry, append(names, entry.Name)
		if entry.UncompressedSize64 > room {
			return nil, refuseContent(f, v, "its zip unpacks to more than the go command accepts")
		}
		room -= entry.UncompressedSize64
		if dir, ok := strings.CutSuffix(below, "/"); ok || below == "" {
			if entry.UncompressedSize64 > 0 || below != "" && module.CheckFilePath(dir) != nil {
				return nil, refuseContent(f, v, "its zip has a directory that the go command refuses")
			}
			continue
		}
		if !entry.Mode().IsRegular() {
			return nil, refuseContent(f, v, "its zip has something that is not a file")
		}
		checked = append(checked, zipFile{below, entry})
	}
	if _, err := modzip.CheckFiles(checked); err != nil {
		return nil, refuseContent(f, v, "the go command refuses its zip")
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

// maxDirectory bounds the list of files at the end of a zip, in bytes: enough for about 100,000
// files. Reading it takes ten times as much memory.
const maxDirectory = 16 << 20

// directoryOf returns the length of the list of files in a zip. It returns false if the list does
// not reach the record at the end of the zip, because the library reads the whole list, whatever
// length that record gives.
func directoryOf(data io.ReaderAt, size int64) (int64, bool) {
	const end, locator, end64 = 22, 20, 56
	record := make([]byte, end64+locator+end)
	from := max(size-int64(len(record)), 0)
	record = record[:size-from]
	if n, _ := data.ReadAt(record, from); n < len(record) || n < end {
		return 0, false
	}
	le := binary.LittleEndian
	last := record[len(record)-end:]
	if string(last[:4]) != "PK\x05\x06" || le.Uint16(last[20:]) != 0 {
		return 0, false
	}
	length, start, after := int64(le.Uint32(last[12:])), int64(le.Uint32(last[16:])), size-end
	if before := record[:len(record)-end]; len(before) == end64+locator && string(before[end64:end64+4]) == "PK\x06\x07" { // more than 65,534 files
		if string(before[:4]) != "PK\x06\x06" || int64(le.Uint64(before[end64+8:])) != from {
			return 0, false
		}
		length, start, after = int64(le.Uint64(before[40:])), int64(le.Uint64(before[48:])), from
	}
	return length, length >= 0 && start >= 0 && length <= after && start == after-length
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
