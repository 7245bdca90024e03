package apt

import (
	"bytes"
	"encoding/hex"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

const (
	// maxRead bounds the indexes of an archive in memory.
	maxRead = 16
	// maxFilesListed bounds the files of one index.
	maxFilesListed = 1_000_000
)

// index is a Packages or Sources that was read or is being read.
type index struct {
	sum   string        // its SHA-256
	busy  chan struct{} // holds a value while somebody reads it
	files map[string]file
}

// file is what an index says about a file.
type file struct {
	name, version string // of the package
	size          int64
	sha256        [32]byte
}

// pkg finds the file of a package, by its path below the origin.
func (r *reading) pkg(filename, address string) (*registry.Facts, error) {
	var failed error
	for _, d := range r.eco.seen.Distributions(r.origin.URL.String()) {
		if len(d.Indexes) == 0 {
			continue
		}
		found, err := r.release(d.Name)
		if err != nil {
			failed = err
			continue
		}
		for _, name := range d.Indexes {
			if _, listed := found.entries[name]; !listed {
				continue
			}
			files, err := r.read(found, name)
			if err != nil {
				failed = err
				continue
			}
			if file, ok := files[filename]; ok {
				return file.facts(address), nil
			}
		}
	}
	if failed != nil {
		return nil, failed
	}
	return nil, registry.Refuse(403, registry.ReasonUnlisted, "no index that apt has fetched here lists this package: run apt-get update first")
}

func (f file) facts(address string) *registry.Facts {
	return &registry.Facts{Name: f.name, Versions: []registry.Version{{
		Version: f.version,
		Files: []registry.File{{
			URL: address, Size: f.size,
			Digests: []registry.Digest{{Algorithm: "sha256", Sum: f.sha256[:]}},
		}},
	}}}
}

// read returns the files that an index lists. The index is read only once.
func (r *reading) read(found *release, name string) (map[string]file, error) {
	ix := r.archive.index(found.entries[name].sha256)
	select {
	case ix.busy <- struct{}{}:
	case <-r.ctx.Done():
		return nil, r.ctx.Err()
	}
	defer func() { <-ix.busy }()
	if ix.files != nil {
		return ix.files, nil
	}
	doc, err := r.listed(found, name)
	if err != nil {
		return nil, err
	}
	files, err := parseIndex(name, doc.Data)
	if err != nil {
		return nil, registry.Refuse(502, registry.ReasonDocument, "the index %s of %s cannot be read", path.Base(name), found.dist)
	}
	ix.files = files
	return files, nil
}

// index returns the index with this hash. If there are too many, it forgets the least recently used
// one.
func (a *archive) index(sum string) *index {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.IndexFunc(a.indexes, func(ix *index) bool { return ix.sum == sum })
	ix := &index{sum: sum, busy: make(chan struct{}, 1)}
	if i >= 0 {
		ix = a.indexes[i]
		a.indexes = slices.Delete(a.indexes, i, i+1)
	} else if len(a.indexes) >= maxRead {
		a.indexes = slices.Delete(a.indexes, 0, 1)
	}
	a.indexes = append(a.indexes, ix)
	return ix
}

var (
	packagesFields = []string{"Package", "Version", "Filename", "Size", "SHA256"}
	sourcesFields  = []string{"Package", "Version", "Directory", "Checksums-Sha256"}
)

// parseIndex reads a Packages or Sources, compressed as its name says.
func parseIndex(name string, data []byte) (map[string]file, error) {
	text, err := decompress(path.Ext(name), bytes.NewReader(data), int64(len(data)), maxDecoded)
	if err != nil {
		return nil, err
	}
	defer text.Close()
	files := map[string]file{}
	add := func(filename string, f file) error {
		filename = strings.TrimPrefix(filename, "./")
		if other, twice := files[filename]; twice && other != f || len(files) >= maxFilesListed {
			return errFormat
		}
		files[filename] = f
		return nil
	}
	if stemOf(name) == "Sources" {
		err = stanzas(text, sourcesFields, func(s stanza) error { return addSource(s, add) })
	} else {
		err = stanzas(text, packagesFields, func(s stanza) error { return addBinary(s, add) })
	}
	return files, err
}

// addBinary adds the file of a binary package, unless it has no SHA-256 hash.
func addBinary(s stanza, add func(string, file) error) error {
	if s[4] == "" {
		return nil
	}
	f := file{name: s[0], version: s[1]}
	size, err := strconv.ParseInt(s[3], 10, 64)
	if err != nil || size < 0 || !f.hash(s[4]) || f.name == "" || f.version == "" || s[2] == "" {
		return errFormat
	}
	f.size = size
	return add(s[2], f)
}

// addSource adds the files of a source package.
func addSource(s stanza, add func(string, file) error) error {
	for line := range strings.SplitSeq(s[3], "\n") {
		if line == "" {
			continue
		}
		sum, name, size, ok := listed(line, 32)
		f := file{name: s[0], version: s[1], size: size}
		if !ok || !f.hash(sum) || strings.Contains(name, "/") {
			return errFormat
		}
		if err := add(path.Join(s[2], name), f); err != nil {
			return err
		}
	}
	return nil
}

// hash sets the hash of a file.
func (f *file) hash(sum string) bool {
	raw, err := hex.DecodeString(sum)
	copy(f.sha256[:], raw)
	return err == nil && len(raw) == len(f.sha256)
}
