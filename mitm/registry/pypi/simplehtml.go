package pypi

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// readHTML reads the document of a project in HTML (PEP 503, 592, 658, 714). No part of it is
// copied, so it does not matter if other readers understand it differently.
func readHTML(o *registry.Origin, d *registry.Document, project string) (*page, error) {
	if !utf8.Valid(d.Data) {
		return nil, errors.New("it is not UTF-8")
	}
	p := newPage(o, project)
	where := *d
	based := false
	z := html.NewTokenizer(bytes.NewReader(d.Data))
	z.SetMaxBuf(1 << 20)
	for count := 0; ; {
		switch z.Next() {
		case html.ErrorToken:
			if err := z.Err(); !errors.Is(err, io.EOF) {
				return nil, errors.New("it is not HTML")
			}
			return p, nil
		case html.StartTagToken, html.SelfClosingTagToken:
		default:
			continue
		}
		name, more := z.TagName()
		switch tag := string(name); {
		case !more:
		case tag == "base" && !based:
			if href, there := attributes(z)["href"]; there {
				u, err := d.URL.Parse(href)
				if err != nil {
					return nil, errors.New("it has a base that is not an address")
				}
				where.URL, based = u, true
			}
		case tag == "a":
			if count++; count > maxFiles {
				return nil, errors.New("it has too many entries")
			}
			if err := p.readAnchor(&where, attributes(z)); err != nil && !errors.Is(err, errSkip) {
				return nil, err
			}
		}
	}
}

// attributes returns the attributes of a tag. If a name appears twice, the first one counts.
func attributes(z *html.Tokenizer) map[string]string {
	all := map[string]string{}
	for more := true; more; {
		var name, value []byte
		name, value, more = z.TagAttr()
		if _, twice := all[string(name)]; !twice {
			all[string(name)] = string(value)
		}
	}
	return all
}

// readAnchor reads a link to a file.
func (p *page) readAnchor(d *registry.Document, a map[string]string) error {
	href, there := a["href"]
	if !there {
		return errSkip
	}
	link, fragment, _ := strings.Cut(strings.TrimSpace(href), "#")
	path, _, _ := strings.Cut(link, "?")
	clean, ok := cleanPath(path[strings.LastIndexByte(path, '/')+1:])
	if !ok {
		return errSkip
	}
	it := item{file: unescape(clean), requires: a["data-requires-python"]}
	if fragment != "" {
		algorithm, text, _ := strings.Cut(fragment, "=")
		var err error
		if it.hashes, err = newHash(algorithm, text); err != nil || it.hashes == nil {
			return errSkip
		}
	}
	it.reason, it.yanked = a["data-yanked"]
	if proof, told := a["data-provenance"]; told && proof != "" {
		it.proof = registry.Yes
	}
	var err error
	if it.metadata, err = anchorMetadata(a); err != nil {
		return err
	}
	return p.add(d, link, it)
}

// anchorMetadata reads the attribute about the metadata, which has had two names.
func anchorMetadata(a map[string]string) (metadata, error) {
	now, there := a["data-core-metadata"]
	before, old := a["data-dist-info-metadata"]
	if there && old && now != before {
		return metadata{}, errors.New("it contradicts itself about a file's metadata")
	}
	if !there {
		now = before
	}
	if now == "" || now == "false" {
		return metadata{}, nil
	}
	m := metadata{there: true}
	if algorithm, text, ok := strings.Cut(now, "="); ok {
		hashes, err := newHash(algorithm, text)
		if err != nil {
			return m, err
		}
		m.hashes = hashes
	}
	return m, nil
}
