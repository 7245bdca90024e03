package pypi

import (
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// page is the parsed document of a project.
type page struct {
	project string
	places  []place
	items   []item
	index   map[string]int // versions by their keys
	names   map[string]int // items by their files' names
	away    string         // the host of a file that is below none of the origin's bases
	json    bool           // whether the document is JSON; lists are then its arrays of files and versions
	lists   []list
}

// item is a file of a project.
type item struct {
	file     string
	address  string
	version  int // in Facts.Versions
	text     version
	hashes   []hash
	requires string // a version of Python; empty for any
	yanked   bool
	reason   string // why it was yanked
	metadata metadata
	uploaded time.Time // zero if unknown
	size     int64     // 0 if unknown
	proof    registry.Told
}

// hash is a digest as documents write it.
type hash struct{ algorithm, hex string }

// metadata says whether a separate copy of a file's metadata exists, and its digests.
type metadata struct {
	there  bool
	hashes []hash
}

// list is an array or object of a document. Its elements can be left out.
type list struct {
	start, end int // with its brackets
	elements   []element
}

// element is one element of a list. One whose version is negative is always left out.
type element struct {
	start, end int // in an object: including the name
	version    int
	inner      []list
}

// sums are the known digest algorithms and the lengths of their digests, in bytes.
var sums = map[string]int{"sha512": 64, "sha384": 48, "sha256": 32, "sha1": 20, "md5": 16}

// algorithms are their names in the order in which documents list them.
var algorithms = []string{"sha256", "sha384", "sha512", "sha1", "md5"}

// newHash reads a digest. It returns nil for an unknown algorithm.
func newHash(algorithm, text string) ([]hash, error) {
	size, known := sums[algorithm]
	if !known {
		return nil, nil
	}
	if _, err := hex.DecodeString(text); err != nil || len(text) != 2*size {
		return nil, errors.New("a digest has the wrong form")
	}
	return []hash{{algorithm, strings.ToLower(text)}}, nil
}

func digests(hashes []hash) (all []registry.Digest, weak bool) {
	weak = true
	for _, h := range hashes {
		sum, _ := hex.DecodeString(h.hex)
		all = append(all, registry.Digest{Algorithm: h.algorithm, Sum: sum})
		weak = weak && (h.algorithm == "sha1" || h.algorithm == "md5")
	}
	return all, weak
}

// errSkip means that an entry of a document is ignored.
var errSkip = errors.New("the entry does not belong to the project")

// add adds an entry of the document. The error is errSkip if its file does not belong to the
// project, and another one if the document contradicts itself.
func (p *page) add(d *registry.Document, link string, it item) error {
	dist, ok := distributionOf(it.file, p.project)
	if !ok {
		return errSkip
	}
	it.address, ok = locate(p.places, d.URL, link)
	if !ok {
		p.away = hostOf(link)
		return errSkip
	}
	if fileName(it.address) != it.file {
		return errSkip
	}
	it.text = dist.version
	if at, twice := p.names[it.file]; twice {
		before := p.items[at]
		it.version = before.version
		if !it.equal(before) {
			return errors.New("a file is listed twice with different details")
		}
		return nil
	}
	if at, known := p.index[it.text.key]; known {
		it.version = at
	} else {
		it.version = len(p.index)
		p.index[it.text.key] = it.version
	}
	p.names[it.file] = len(p.items)
	p.items = append(p.items, it)
	return nil
}

func (it *item) equal(b item) bool {
	return it.address == b.address && slices.Equal(it.hashes, b.hashes) && it.requires == b.requires &&
		it.yanked == b.yanked && it.metadata.there == b.metadata.there &&
		slices.Equal(it.metadata.hashes, b.metadata.hashes)
}

// versions makes the facts from the items. A version is as old as its newest file, because files
// can be added to an old version.
func (p *page) versions() []registry.Version {
	all := make([]registry.Version, len(p.index))
	untimed := make([]bool, len(all))
	for i := range p.items {
		it := &p.items[i]
		v := &all[it.version]
		if v.Version == "" {
			*v = registry.Version{Version: it.text.text, Prerelease: it.text.prerelease, Withdrawn: true, Provenance: it.proof}
		}
		v.Withdrawn = v.Withdrawn && it.yanked
		if it.uploaded.IsZero() {
			untimed[it.version] = true
		} else if it.uploaded.After(v.Published) {
			v.Published = it.uploaded
		}
		if v.Provenance == registry.Yes {
			v.Provenance = it.proof
		}
		file := registry.File{URL: it.address, Size: it.size}
		file.Digests, file.Weak = digests(it.hashes)
		v.Files = append(v.Files, file)
		if it.metadata.there {
			file := registry.File{URL: it.address + metadataSuffix, Of: it.address}
			file.Digests, file.Weak = digests(it.metadata.hashes)
			v.Files = append(v.Files, file)
		}
	}
	for i := range all {
		if untimed[i] {
			all[i].Published = time.Time{}
		}
	}
	return all
}

// hostOf returns the host of a link for a message, without characters that hosts do not have.
func hostOf(link string) string {
	_, rest, _ := strings.Cut(link, "://")
	host, _, _ := strings.Cut(rest, "/")
	if host == "" || len(host) > 100 || strings.Trim(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:") != "" {
		return "another address"
	}
	return host
}
