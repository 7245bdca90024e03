package npm

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/mod/semver"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// document says where the parts of a package's document are.
type document struct {
	members  []member // top level, in order
	versions []entry  // of "versions", without those that were dropped
	times    []entry  // of "time"
	listed   map[string]bool
	signed   map[string]signed // versions with signatures
	keys     map[string]key    // of the registry, if a version is signed
}

type member struct {
	name string
	raw  []byte // the value
}

// entry is one member of an object that is written without some of its members.
type entry struct {
	name string
	raw  []byte
}

// Facts fetches and reads the document for a request.
func (e Ecosystem) Facts(ctx context.Context, f registry.Fetcher, o *registry.Origin, a *registry.Ask) (*registry.Facts, error) {
	path := a.Path
	if a.Kind == registry.Artifact {
		path = escape(a.Name)
	}
	doc, err := f.Document(ctx, o, path, "application/json")
	if err != nil {
		return nil, err
	}
	if a.Kind == registry.Plain {
		if _, err := jsonx.Parse(doc.Data, jsonx.Limits{}); err != nil {
			return nil, broken(err.Error())
		}
		return &registry.Facts{Document: doc}, nil
	}
	facts, err := read(o, a.Name, doc)
	if err != nil {
		return nil, err
	}
	if d := facts.State.(*document); len(d.signed) > 0 {
		d.keys, err = fetchKeys(ctx, f, o)
	}
	return facts, err
}

// broken refuses a document.
func broken(why string) error {
	return registry.Refuse(502, registry.ReasonDocument, "the registry's document is not acceptable: %s", why)
}

// read reads the document of a package.
func read(o *registry.Origin, name string, doc *registry.Document) (*registry.Facts, error) {
	if !utf8.Valid(doc.Data) || !jsonx.Valid(doc.Data) { // unread parts are copied
		return nil, broken("it is not JSON")
	}
	facts := &registry.Facts{Name: name, Document: doc, Tags: make(map[string]string)}
	d := &document{listed: make(map[string]bool), signed: make(map[string]signed)}
	published := make(map[string]time.Time)
	var said string
	err := jsonx.Walk(doc.Data, func(key string, raw []byte, _ int) (err error) {
		d.members = append(d.members, member{key, raw})
		switch key {
		case "name":
			said, _ = jsonx.Unquote(raw)
		case "dist-tags":
			err = readTexts(raw, func(tag, version string) { facts.Tags[tag] = version })
		case "time":
			err = jsonx.Walk(raw, func(version string, at []byte, _ int) error {
				d.times = append(d.times, entry{version, at})
				text, _ := jsonx.Unquote(at)
				published[version] = registry.ParseTime(text)
				return nil
			})
		case "versions":
			err = jsonx.Walk(raw, func(version string, raw []byte, _ int) error {
				v, proof, err := readVersion(o, name, version, raw)
				if err != nil || v == nil {
					return err
				}
				if proof.signatures != nil {
					d.signed[version] = proof
				}
				facts.Versions = append(facts.Versions, *v)
				d.versions = append(d.versions, entry{version, raw})
				d.listed[version] = true
				return nil
			})
		}
		return err
	})
	if err != nil {
		return nil, broken(err.Error())
	}
	if said != name {
		return nil, broken("it is about another package")
	}
	for i := range facts.Versions {
		facts.Versions[i].Published = published[facts.Versions[i].Version]
	}
	facts.State = d
	return facts, nil
}

// readTexts reads an object's members that are strings and ignores the others.
func readTexts(raw []byte, f func(name, text string)) error {
	return jsonx.Walk(raw, func(name string, raw []byte, _ int) error {
		if text, is := jsonx.Unquote(raw); is {
			f(name, text)
		}
		return nil
	})
}

// readVersion reads one version. It returns nil for a version to leave out: one that names another
// version, whose tarball is elsewhere, or with an unreadable digest. This includes a version whose
// name is a key of "time" that does not stand for a version.
func readVersion(o *registry.Origin, name, version string, raw []byte) (*registry.Version, signed, error) {
	v := &registry.Version{Version: version, Prerelease: semver.Prerelease("v"+version) != ""}
	var saidName, saidVersion string
	var file registry.File
	var proof signed
	err := jsonx.Walk(raw, func(key string, raw []byte, _ int) error {
		switch key {
		case "name":
			saidName, _ = jsonx.Unquote(raw)
		case "version":
			saidVersion, _ = jsonx.Unquote(raw)
		case "dist":
			return readDist(raw, &file, v, &proof)
		case "scripts":
			if raw[0] == '{' {
				return readTexts(raw, func(script, _ string) { v.Scripts = installScript(v.Scripts, script) })
			}
		case "_npmUser":
			if raw[0] == '{' {
				return readTexts(raw, func(key, text string) {
					if key == "name" {
						v.Publisher = text
					}
				})
			}
		case "dependencies", "optionalDependencies", "peerDependencies":
			if raw[0] == '{' {
				return readTexts(raw, func(needed, _ string) { v.Needs = append(v.Needs, needed) })
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, proof, err
	case saidName != name || saidVersion != version || !isVersion(version) || version == "created" || version == "modified",
		below(o, file.URL) == nil || len(file.Digests) == 0 || proof.unread:
		return nil, proof, nil
	}
	if v.Provenance == registry.NotTold && proof.signatures != nil {
		v.Provenance = registry.No
	}
	file.Weak = !slices.ContainsFunc(file.Digests, func(d registry.Digest) bool { return d.Algorithm != "sha1" })
	v.Files = []registry.File{file}
	return v, proof, nil
}

// readDist reads the tarball's address, its digests and its proofs.
func readDist(raw []byte, file *registry.File, v *registry.Version, proof *signed) error {
	return jsonx.Walk(raw, func(key string, raw []byte, _ int) error {
		text, is := jsonx.Unquote(raw)
		switch key {
		case "tarball":
			file.URL = text
		case "integrity":
			proof.integrity = text
			sums, ok := parseIntegrity(text)
			proof.unread = proof.unread || !ok || !is && string(raw) != "null"
			file.Digests = append(file.Digests, sums...)
		case "shasum":
			sum, err := hex.DecodeString(text)
			if err == nil && len(sum) == 20 {
				file.Digests = append(file.Digests, registry.Digest{Algorithm: "sha1", Sum: sum})
			} else if string(raw) != "null" && string(raw) != `""` {
				proof.unread = true
			}
		case "attestations":
			if hasProvenance(raw) {
				v.Provenance = registry.Yes
			}
		case "signatures":
			proof.signatures = raw
		}
		return nil
	})
}

// hasProvenance reports whether the attestations say how a version was built.
func hasProvenance(attestations []byte) (has bool) {
	err := jsonx.Walk(attestations, func(key string, raw []byte, _ int) error {
		has = has || key == "provenance" && raw[0] == '{'
		return nil
	})
	return has && err == nil
}

// parseIntegrity reads digests in the syntax of subresource integrity. It ignores unknown
// algorithms. It returns false for an unreadable digest of a known algorithm, because the bytes
// cannot be compared with it.
func parseIntegrity(text string) (all []registry.Digest, ok bool) {
	ok = true
	for one := range strings.FieldsSeq(text) {
		algorithm, sum, _ := strings.Cut(one, "-")
		size := map[string]int{"sha512": 64, "sha384": 48, "sha256": 32, "sha1": 20}[strings.ToLower(algorithm)]
		if size == 0 {
			continue
		}
		sum, _, _ = strings.Cut(sum, "?") // options
		raw, err := base64.StdEncoding.DecodeString(sum)
		if err != nil || len(raw) != size || algorithm != strings.ToLower(algorithm) {
			ok = false
			continue
		}
		all = append(all, registry.Digest{Algorithm: algorithm, Sum: raw})
	}
	return all, ok
}

// installScript adds a script to those that run at install.
func installScript(scripts []string, name string) []string {
	switch name {
	case "preinstall", "install", "postinstall":
		return append(scripts, name)
	}
	return scripts
}

// newest returns the highest visible version up to a limit: a release, or else a prerelease. An
// empty limit means none.
func (d *document) newest(limit string, hidden func(string) bool) string {
	best := func(prereleases bool) string {
		var highest string
		for _, v := range d.versions {
			isPre := semver.Prerelease("v"+v.name) != ""
			if hidden(v.name) || !semver.IsValid("v"+v.name) || isPre != prereleases || limit != "" && semver.Compare("v"+v.name, "v"+limit) > 0 {
				continue
			}
			if highest == "" || semver.Compare("v"+v.name, "v"+highest) > 0 {
				highest = v.name
			}
		}
		return highest
	}
	return cmp.Or(best(false), best(true))
}

// tagsOf returns the tags without those that name hidden or dropped versions. If "latest" is one of
// them, it names the highest remaining version below the one that it named.
func (d *document) tagsOf(f *registry.Facts, hidden func(string) bool) map[string]string {
	all := make(map[string]string, len(f.Tags))
	for tag, version := range f.Tags {
		if d.listed[version] && !hidden(version) {
			all[tag] = version
		} else if tag == "latest" {
			if other := cmp.Or(d.newest(version, hidden), d.newest("", hidden)); other != "" {
				all[tag] = other
			}
		}
	}
	return all
}
