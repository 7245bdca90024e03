package pypi

import (
	"context"
	"errors"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// legacy is a document in the form that poetry reads. Only the files that the simple document lists
// with the same digests are kept.
type legacy struct {
	info     list // the object about one version; it has no elements
	current  int  // the index of that version, or negative if the simple document has no file of it
	urls     list // that version's files
	releases list // an object of lists of files by version; not in every document
	files    map[int]list
}

// legacyFacts reads the simple document, which everything is judged by, and then the requested
// one.
func legacyFacts(ctx context.Context, f registry.Fetcher, o *registry.Origin, a *registry.Ask) (*registry.Facts, error) {
	facts, err := pageFacts(ctx, f, o, a.Name)
	if err != nil {
		return nil, err
	}
	if a.Form == formRelease && facts.Version(a.Version) == nil {
		return nil, registry.ErrNotFound // so the registry does not learn the version that the agent asked for
	}
	doc, err := f.Document(ctx, o, a.Path, typePlain)
	if err != nil {
		return nil, err
	}
	p, _ := facts.State.(*page)
	l, needs, err := readLegacy(doc, p)
	if err == nil && a.Form == formRelease {
		asked, _ := parseVersion(a.Version)
		if at, known := p.index[asked.key]; !known || at != l.current {
			err = errors.New("it is about another version, or its version has no files")
		}
	}
	if err != nil {
		return nil, refuseDocument(a.Name, err)
	}
	if l.current >= 0 {
		facts.Versions[l.current].Needs = needs
	}
	facts.Document, facts.State = doc, l
	return facts, nil
}

func readLegacy(d *registry.Document, p *page) (l *legacy, needs []string, err error) {
	if d.Type != typePlain {
		return nil, nil, errors.New("it is not JSON")
	}
	if err := checkJSON(d.Data); err != nil {
		return nil, nil, err
	}
	top, err := members(value{raw: d.Data}, "info", "urls", "releases")
	if err != nil {
		return nil, nil, err
	}
	l = &legacy{files: map[int]list{}, current: -1}
	if needs, err = l.readInfo(top[0], p); err != nil {
		return nil, nil, err
	}
	readFile := func(v value) (element, error) { return p.legacyFile(d, v) }
	if l.urls, err = readList(top[1], readFile); err != nil {
		return nil, nil, err
	}
	for i := range l.urls.elements {
		if e := &l.urls.elements[i]; e.version != l.current {
			e.version = -1
		}
	}
	if releases := top[2]; releases.there() {
		err = l.readReleases(d.Data, releases, p, readFile)
	}
	return l, needs, err
}

// readInfo reads the object about one version, and returns that version's dependencies.
func (l *legacy) readInfo(v value, p *page) ([]string, error) {
	m, err := members(v, "name", "version", "requires_dist")
	if err != nil {
		return nil, err
	}
	l.info = list{start: v.at, end: v.at + len(v.raw)}
	name, err := m[0].text()
	if err != nil {
		return nil, err
	}
	if normal, ok := normalize(name); !ok || normal != p.project {
		return nil, errors.New("it is about another project")
	}
	text, err := m[1].text()
	if err != nil {
		return nil, err
	}
	parsed, ok := parseVersion(text)
	if !ok {
		return nil, errors.New("its version is not valid")
	}
	if at, known := p.index[parsed.key]; known {
		l.current = at
	}
	requires := m[2]
	if !requires.there() {
		return nil, nil
	}
	var needs []string
	_, err = readList(requires, func(v value) (element, error) {
		text, err := v.text()
		if name := requirementName(text); name != "" {
			needs = append(needs, name)
		}
		return element{}, err
	})
	return needs, err
}

// requirementName returns the normalized name at the beginning of a requirement.
func requirementName(text string) string {
	text = strings.TrimSpace(text)
	end := 0
	for end < len(text) && (wordByte(text[end]) || separator(text[end])) {
		end++
	}
	name, _ := normalize(text[:end])
	return name
}

// readReleases reads the object of lists of files. It refuses a version that appears in two
// spellings.
func (l *legacy) readReleases(data []byte, v value, p *page, readFile func(v value) (element, error)) error {
	l.releases = list{start: v.at, end: v.at + len(v.raw)}
	after := v.at + 1 // after the bracket or the last element
	return jsonx.Walk(v.raw, func(name string, raw []byte, at int) error {
		if len(l.releases.elements) == maxFiles {
			return errors.New("it has too many versions")
		}
		files, err := readList(value{raw, v.at + at}, readFile)
		if err != nil {
			return err
		}
		for after < files.start && data[after] != '"' {
			after++
		}
		e := element{start: after, end: files.end, version: -1}
		after = files.end
		if parsed, ok := parseVersion(name); ok {
			if at, known := p.index[parsed.key]; known {
				if _, twice := l.files[at]; twice {
					return errors.New("it has the same version twice")
				}
				for i := range files.elements {
					if f := &files.elements[i]; f.version != at {
						f.version = -1
					}
				}
				e.version, e.inner = at, []list{files}
				l.files[at] = files
			}
		}
		l.releases.elements = append(l.releases.elements, e)
		return nil
	})
}

// legacyFile finds the file of the simple document that an entry is about.
func (p *page) legacyFile(d *registry.Document, v value) (element, error) {
	m, err := members(v, "filename", "url", "digests", "yanked") // yanked only to check its spelling
	if err != nil {
		return element{}, err
	}
	file, err := m[0].text()
	if err != nil {
		return element{}, err
	}
	link, err := m[1].text()
	if err != nil {
		return element{}, err
	}
	hashes, err := readHashes(m[2])
	if err != nil {
		return element{}, err
	}
	at, known := p.names[file]
	if !known {
		return element{}, errSkip
	}
	it := p.items[at]
	address, ok := locate(p.places, d.URL, link)
	if !ok || address != it.address || !agree(hashes, it.hashes) {
		return element{}, errSkip
	}
	return element{version: it.version}, nil
}

// agree reports whether no algorithm has two different digests.
func agree(a, b []hash) bool {
	for _, x := range a {
		for _, y := range b {
			if x.algorithm == y.algorithm && x.hex != y.hex {
				return false
			}
		}
	}
	return true
}
