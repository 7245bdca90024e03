package cargo

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// maxLines bounds the document of a crate.
const maxLines = 100_000

// index is the document of a crate: the lines with its versions, in order.
type index struct {
	lines [][]byte // each is the version at the same index of Facts.Versions
}

// Facts reads config.json and the document of the crate.
func (Ecosystem) Facts(ctx context.Context, f registry.Fetcher, o *registry.Origin, a *registry.Ask) (*registry.Facts, error) {
	doc, err := f.Document(ctx, o, configPath, "")
	if err != nil {
		return nil, err
	}
	c, err := readConfig(o, doc)
	if err != nil {
		return nil, registry.Refuse(502, registry.ReasonDocument, "the registry's config.json is not accepted: %v", err)
	}
	if a.Kind == registry.Plain {
		return &registry.Facts{Document: doc}, nil
	}
	if doc, err = f.Document(ctx, o, indexPath(a.Name), ""); err != nil {
		return nil, err
	}
	facts, err := readIndex(o, c, doc, a.Name)
	if err != nil {
		return nil, registry.Refuse(502, registry.ReasonDocument, "the registry's document of %s is not accepted: %v", a.Name, err)
	}
	if a.Kind == registry.Artifact {
		if v, _ := facts.File(a.URL()); v == nil {
			return nil, registry.Refuse(403, registry.ReasonUnlisted, "the registry's document of %s does not list this archive", a.Name)
		}
	}
	return facts, nil
}

// readIndex reads the document of a crate; name is in lower case.
func readIndex(o *registry.Origin, c *config, d *registry.Document, name string) (*registry.Facts, error) {
	facts := &registry.Facts{Name: name, Document: d}
	doc := &index{}
	seen := map[string]bool{}
	count := 0
	for line := range bytes.SplitSeq(d.Data, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if count++; count > maxLines {
			return nil, errors.New("it has too many lines")
		}
		spelled, v, err := readLine(o, c, line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", count, err)
		}
		if v == nil || strings.ToLower(spelled) != name {
			continue // not a version of this crate
		}
		if len(facts.Versions) > 0 && spelled != facts.Name {
			return nil, errors.New("it spells the name in two ways")
		}
		if seen[v.Version] {
			return nil, errors.New("it has the same version twice")
		}
		seen[v.Version] = true
		facts.Name = spelled
		facts.Versions = append(facts.Versions, *v)
		doc.lines = append(doc.lines, line)
	}
	facts.State = doc
	return facts, nil
}

// readLine reads a version. It returns nil for a line that cargo could not use either.
func readLine(o *registry.Origin, c *config, line []byte) (name string, v *registry.Version, err error) {
	if err := checkJSON(line); err != nil {
		return "", nil, err
	}
	m, err := members(line, "name", "vers", "deps", "cksum", "yanked", "pubtime")
	if err != nil {
		return "", nil, err
	}
	texts := map[string]string{}
	for _, member := range []string{"name", "vers", "cksum", "pubtime"} {
		if raw := m[member]; there(raw) {
			text, ok := jsonx.Unquote(raw)
			if !ok {
				return "", nil, fmt.Errorf("its %s is not a text", member)
			}
			texts[member] = text
		}
	}
	name = texts["name"]
	prerelease, ok := isVersion(texts["vers"])
	sum, err := hex.DecodeString(texts["cksum"])
	if !ok || !isName(name) || err != nil || len(sum) != 32 {
		return name, nil, nil
	}
	v = &registry.Version{Version: texts["vers"], Prerelease: prerelease}
	switch string(m["yanked"]) {
	case "true":
		v.Withdrawn = true
	case "false", "null", "":
	default:
		return "", nil, errors.New("its yanked is neither true nor false")
	}
	v.Published = registry.ParseTime(texts["pubtime"])
	if v.Needs, err = readNeeds(m["deps"]); err != nil {
		return "", nil, err
	}
	address, err := c.address(o, name, v.Version, texts["cksum"])
	if err != nil {
		return "", nil, err
	}
	v.Files = []registry.File{{URL: address, Digests: []registry.Digest{{Algorithm: "sha256", Sum: sum}}}}
	return name, v, nil
}

// readNeeds returns the dependencies of a version that are from this registry.
func readNeeds(deps []byte) ([]string, error) {
	if !there(deps) {
		return nil, nil
	}
	var needs []string
	err := jsonx.WalkArray(deps, func(raw []byte, _ int) error {
		m, err := members(raw, "name", "package", "registry", "kind")
		if err != nil {
			return err
		}
		if kind, _ := jsonx.Unquote(m["kind"]); kind == "dev" || there(m["registry"]) {
			return nil
		}
		source := m["name"]
		if renamed := m["package"]; there(renamed) {
			source = renamed
		}
		name, ok := jsonx.Unquote(source)
		if !ok {
			return errors.New("a dependency has no name")
		}
		if isName(name) {
			needs = append(needs, name)
		}
		return nil
	})
	return needs, err
}

// Write writes config.json unchanged, and the document of a crate without the lines of hidden
// versions.
func (Ecosystem) Write(w io.Writer, f *registry.Facts, a *registry.Ask, hidden func(version string) bool) error {
	if a.Kind == registry.Plain {
		_, err := w.Write(f.Document.Data)
		return err
	}
	doc, ok := f.State.(*index)
	if !ok {
		return errors.New("write the document of a crate: it has not been read")
	}
	if len(doc.lines) == 0 {
		return registry.Refuse(404, registry.ReasonNotFound, "the registry has no usable version of %s", f.Name)
	}
	left := false
	for i, line := range doc.lines {
		if hidden(f.Versions[i].Version) {
			continue
		}
		left = true
		if _, err := w.Write(line); err != nil {
			return err
		}
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
	}
	if !left {
		return registry.Refuse(404, registry.ReasonQuarantine, "every version of %s is held back, for example because it is too young", f.Name)
	}
	return nil
}
