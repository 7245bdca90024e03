package pypi

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// maxFiles bounds the entries of a document.
const maxFiles = 200_000

// checkJSON refuses a document whose ranges must not be copied.
func checkJSON(data []byte) error {
	if !utf8.Valid(data) || !jsonx.Valid(data) {
		return errors.New("it is not JSON")
	}
	return nil
}

// member returns the index of a member's name in names, or a negative number. A name that differs
// only in case is refused, because some reader may treat it as equal.
func member(name string, names []string) (int, error) {
	for i, n := range names {
		if name == n {
			return i, nil
		}
	}
	for _, n := range names {
		if strings.EqualFold(name, n) {
			return -1, fmt.Errorf("it has a member that is almost %q", n)
		}
	}
	return -1, nil
}

// value is raw JSON and where it begins in the document.
type value struct {
	raw []byte
	at  int
}

func (v value) there() bool { return v.raw != nil && string(v.raw) != "null" }

// members returns the members of an object with these names, in this order.
func members(object value, names ...string) ([]value, error) {
	found := make([]value, len(names))
	err := jsonx.Walk(object.raw, func(name string, raw []byte, at int) error {
		n, err := member(name, names)
		if n >= 0 {
			found[n] = value{raw, object.at + at}
		}
		return err
	})
	return found, err
}

// text returns a string; null and a missing member are empty.
func (v value) text() (string, error) {
	if !v.there() {
		return "", nil
	}
	if v.raw[0] == '"' && bytes.IndexByte(v.raw, '\\') < 0 {
		return string(v.raw[1 : len(v.raw)-1]), nil // checkJSON has checked it
	}
	s, ok := jsonx.Unquote(v.raw)
	if !ok {
		return "", errors.New("it has another value where a text should be")
	}
	return s, nil
}

// readJSON reads the document of a project in JSON (PEP 691, 700, 714).
func readJSON(o *registry.Origin, d *registry.Document, project string) (*page, error) {
	p := newPage(o, project)
	p.json = true
	if err := checkJSON(d.Data); err != nil {
		return nil, err
	}
	top, err := members(value{raw: d.Data}, "meta", "name", "files", "versions")
	if err != nil {
		return nil, err
	}
	if err := checkHead(top[0], top[1], project); err != nil {
		return nil, err
	}
	files, versions := top[2], top[3]
	fileList, err := readList(files, func(v value) (element, error) { return p.readFile(d, v) })
	if err != nil {
		return nil, err
	}
	p.lists = []list{fileList}
	if versions.there() {
		versionList, err := readList(versions, p.readVersion)
		if err != nil {
			return nil, err
		}
		if p.lists = append(p.lists, versionList); versions.at < files.at {
			p.lists[0], p.lists[1] = p.lists[1], p.lists[0]
		}
	}
	return p, nil
}

func newPage(o *registry.Origin, project string) *page {
	return &page{project: project, places: places(o), index: map[string]int{}, names: map[string]int{}}
}

// checkHead checks the version of the interface and the name of the project.
func checkHead(meta, name value, project string) error {
	m, err := members(meta, "api-version")
	if err != nil {
		return err
	}
	if api, err := m[0].text(); err != nil || !strings.HasPrefix(api, "1.") {
		return errors.New("it does not have version 1 of the interface")
	}
	text, err := name.text()
	if err != nil {
		return err
	}
	if normal, ok := normalize(text); !ok || normal != project {
		return errors.New("it is about another project")
	}
	return nil
}

// readList reads an array.
func readList(array value, read func(v value) (element, error)) (list, error) {
	l := list{start: array.at, end: array.at + len(array.raw)}
	err := jsonx.WalkArray(array.raw, func(raw []byte, at int) error {
		if len(l.elements) == maxFiles {
			return errors.New("it has too many entries")
		}
		e, err := read(value{raw, array.at + at})
		e.start, e.end = array.at+at, array.at+at+len(raw)
		if errors.Is(err, errSkip) {
			e.version, err = -1, nil
		}
		l.elements = append(l.elements, e)
		return err
	})
	return l, err
}

// readVersion reads an entry of the list of versions.
func (p *page) readVersion(v value) (element, error) {
	text, err := v.text()
	if err != nil {
		return element{}, err
	}
	if parsed, ok := parseVersion(text); ok {
		if at, known := p.index[parsed.key]; known {
			return element{version: at}, nil
		}
	}
	return element{}, errSkip
}

// readFile reads an entry of the list of files.
func (p *page) readFile(d *registry.Document, v value) (element, error) {
	m, err := members(v, "filename", "url", "requires-python", "upload-time", "hashes", "yanked", "size", "provenance",
		"core-metadata", "dist-info-metadata", "data-dist-info-metadata")
	if err != nil {
		return element{}, err
	}
	var it item
	var link, uploaded string
	for i, into := range []*string{&it.file, &link, &it.requires, &uploaded} {
		if *into, err = m[i].text(); err != nil {
			return element{}, err
		}
	}
	hashes, yanked, size, proof := m[4], m[5], m[6], m[7]
	if it.hashes, err = readHashes(hashes); err != nil {
		return element{}, err
	}
	if it.metadata, err = readMetadata(m[8:]...); err != nil {
		return element{}, err
	}
	if it.yanked, it.reason, err = readYanked(yanked); err != nil {
		return element{}, err
	}
	if size.there() {
		if it.size, err = strconv.ParseInt(string(size.raw), 10, 64); err != nil || it.size < 0 {
			return element{}, errors.New("it has an invalid size")
		}
	}
	it.uploaded = registry.ParseTime(uploaded)
	if proof.raw != nil {
		it.proof = registry.No
		if proof.there() {
			it.proof = registry.Yes
		}
	}
	err = p.add(d, link, it)
	return element{version: p.versionOf(it.file)}, err
}

// versionOf returns the index of the version of an added file, or a negative number.
func (p *page) versionOf(file string) int {
	if at, ok := p.names[file]; ok {
		return p.items[at].version
	}
	return -1
}

// readHashes reads an object of digests by algorithm.
func readHashes(v value) ([]hash, error) {
	if !v.there() {
		return nil, nil
	}
	m, err := members(v, algorithms...)
	if err != nil {
		return nil, err
	}
	var all []hash
	for i, algorithm := range algorithms {
		text, err := m[i].text()
		if err != nil {
			return nil, err
		}
		if text == "" {
			continue
		}
		h, err := newHash(algorithm, text)
		if err != nil {
			return nil, err
		}
		all = append(all, h...)
	}
	return all, nil
}

// readMetadata reads the member about the metadata, which has had three names. If several are
// there, they must agree, because clients differ in which one they read.
func readMetadata(values ...value) (metadata, error) {
	var found metadata
	first := true
	for _, v := range values {
		if !v.there() {
			continue
		}
		var m metadata
		switch string(v.raw) {
		case "true":
			m.there = true
		case "false":
		default:
			hashes, err := readHashes(v)
			if err != nil {
				return m, err
			}
			m = metadata{there: true, hashes: hashes}
		}
		if !first && (m.there != found.there || !slices.Equal(m.hashes, found.hashes)) {
			return m, errors.New("it contradicts itself about a file's metadata")
		}
		found, first = m, false
	}
	return found, nil
}

// readYanked reads false, true, or a text with the reason.
func readYanked(v value) (yanked bool, reason string, err error) {
	if s := string(v.raw); !v.there() || s == "false" {
		return false, "", nil
	} else if s == "true" {
		return true, "", nil
	}
	reason, err = v.text()
	return reason != "", reason, err
}
