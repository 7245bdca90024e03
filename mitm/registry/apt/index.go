package apt

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

const (
	// maxIndex bounds an index as it is sent, in bytes; maxDecoded bounds it decompressed.
	maxIndex   = 256 << 20
	maxDecoded = 512 << 20
	// maxGiven bounds the indexes of one distribution in which packages are looked up.
	maxGiven = 64
)

// index gets an index that a Release lists. parts are its path below "dists".
func (r *reading) index(parts []string) (*registry.Document, error) {
	found, name, err := r.locate(parts)
	if err != nil {
		return nil, err
	}
	doc, err := r.listed(found, name)
	if err != nil {
		return nil, err
	}
	if stem := stemOf(name); stem == "Packages" || stem == "Sources" {
		err = r.given(found.dist, name)
	}
	return doc, err
}

// stemOf returns the name of an index without directory and compression.
func stemOf(name string) string {
	stem, _, _ := strings.Cut(path.Base(name), ".")
	return stem
}

// locate finds the Release that lists an index, and the index's path below the distribution.
func (r *reading) locate(parts []string) (*release, string, error) {
	var failed error
	for _, dist := range r.candidates(parts) {
		found, err := r.release(dist)
		if err == nil {
			below := strings.TrimPrefix(strings.Join(parts, "/"), dist+"/")
			if name, ok := found.find(below); ok {
				return found, name, nil
			}
			err = registry.Refuse(403, registry.ReasonUnlisted, "the Release of %s does not list this index: run apt-get update", dist)
		}
		if failed == nil || errors.Is(failed, registry.ErrNotFound) {
			failed = err
		}
	}
	return nil, "", failed
}

// candidates are the distributions that a path below "dists" may belong to. The path does not say
// how many of its parts are the distribution's name. If no known one fits, these are the first part
// and the first two.
func (r *reading) candidates(parts []string) []string {
	var known []string
	for _, d := range r.eco.seen.Distributions(r.origin.URL.String()) {
		if strings.HasPrefix(strings.Join(parts, "/"), d.Name+"/") {
			known = append(known, d.Name)
		}
	}
	if known == nil {
		return []string{parts[0], strings.Join(parts[:2], "/")}
	}
	return known
}

// find returns the path of an index that is requested by its path or by its hash.
func (r *release) find(below string) (string, bool) {
	if dir, sum, ok := byHash(append([]string{"", ""}, strings.Split(below, "/")...)); ok {
		name, ok := r.hashes[path.Join(path.Join(dir...), sum)]
		return name, ok
	}
	_, ok := r.entries[below]
	return below, ok
}

// listed gets an index and compares it with the Release. If the repository has indexes by their
// hashes, that path is used, because its bytes never change.
func (r *reading) listed(found *release, name string) (*registry.Document, error) {
	entry := found.entries[name]
	if entry.size > maxIndex {
		return nil, registry.Refuse(502, registry.ReasonLimit, "the index %s is too large", path.Base(name))
	}
	below := "dists/" + found.dist + "/"
	var doc *registry.Document
	err := error(registry.ErrNotFound)
	if found.byHash {
		doc, err = r.document(below+path.Join(path.Dir(name), "by-hash/SHA256", entry.sha256), maxIndex)
	}
	if errors.Is(err, registry.ErrNotFound) {
		doc, err = r.document(below+name, maxIndex)
	}
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(doc.Data)
	if int64(len(doc.Data)) != entry.size || hex.EncodeToString(sum[:]) != entry.sha256 {
		return nil, registry.Refuse(502, registry.ReasonDigest,
			"an index differs from the one that the Release of %s lists, probably because the mirror is being updated; run apt-get update again", found.dist)
	}
	return doc, nil
}

// given remembers that an agent got an index, so that packages are looked up in it.
func (r *reading) given(dist, name string) error {
	r.archive.mu.Lock()
	defer r.archive.mu.Unlock()
	d := r.remembered(dist)
	if slices.Contains(d.Indexes, name) {
		return nil
	}
	same := func(other string) bool {
		return path.Dir(other) == path.Dir(name) && stemOf(other) == stemOf(name)
	}
	d.Indexes = append(slices.DeleteFunc(slices.Clone(d.Indexes), same), name)
	if n := len(d.Indexes); n > maxGiven {
		d.Indexes = d.Indexes[n-maxGiven:]
	}
	return r.eco.seen.Remember(r.origin.URL.String(), d)
}
