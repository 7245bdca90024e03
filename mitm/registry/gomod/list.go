package gomod

import (
	"bytes"
	"errors"
	"slices"
	"sort"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

const (
	// maxVersions bounds a list.
	maxVersions = 100_000
	// settled is the age at which the search for an old enough version ends: no usual rule
	// holds back a version that is so old.
	settled = 30 * 24 * time.Hour
	// maxLookups bounds that search in each group of versions.
	maxLookups = 8
)

// list gets the versions of a module. It looks up the ages of the newest versions until one is
// settled, because the go command takes the newest that it sees. Older versions are assumed to be
// settled as well; their age is checked when they are requested.
func (r *reading) list() (*registry.Facts, error) {
	doc, err := r.document("/@v/list", maxList)
	if err != nil {
		return nil, err
	}
	lines, err := readList(r.ask.Name, doc.Data)
	if err != nil {
		return nil, err
	}
	facts := &registry.Facts{Name: r.ask.Name, Document: doc}
	for _, line := range lines {
		facts.Versions = append(facts.Versions, registry.Version{Version: line, Prerelease: semver.Prerelease(line) != ""})
	}
	gone := map[string]bool{}
	if r.database != nil {
		for _, group := range groups(facts.Versions) {
			if err := r.ages(group, gone); err != nil {
				return nil, err
			}
		}
	}
	lines = slices.DeleteFunc(lines, func(line string) bool { return gone[line] })
	facts.Versions = slices.DeleteFunc(facts.Versions, func(v registry.Version) bool { return gone[v.Version] })
	st := &state{lines: lines, infos: r.infos}
	facts.State = st
	if r.database != nil {
		err = r.retractions(facts.Versions, st)
	}
	return facts, err
}

// retractions reads which versions the newest one retracts, if that one is so young that it may be
// hidden. The go command then does not see its go.mod, and would take a retracted version.
func (r *reading) retractions(versions []registry.Version, st *state) error {
	all := groups(versions)
	newest := append(all[0], all[2]...) // a release, else a prerelease; +incompatible versions have no go.mod
	if len(newest) == 0 || r.infos[newest[0].Version] == nil || r.eco.now().Sub(newest[0].Published) >= settled {
		return nil
	}
	version := newest[0].Version
	below, err := filePath(version, formMod)
	if err != nil {
		return err
	}
	doc, err := r.document(below, maxMod)
	if errors.Is(err, registry.ErrNotFound) {
		return nil // nobody can download this version
	}
	if err != nil {
		return err
	}
	_, rec, err := r.version(version)
	if err != nil {
		return err
	}
	if hashOfMod(doc.Data) != rec.mod {
		return registry.Refuse(502, registry.ReasonDigest, "%s@%s: its go.mod, which may retract versions, is not the one in the checksum database", r.ask.Name, version)
	}
	mod, err := modfile.ParseLax("go.mod", doc.Data, nil)
	if err != nil {
		return nil // the go command cannot read it either
	}
	st.retracted, st.by = takenBack(versions, mod.Retract), version
	return nil
}

// takenBack returns the versions that are in at least one of the ranges.
func takenBack(versions []registry.Version, ranges []*modfile.Retract) map[string]bool {
	var all []string
	for i := range versions {
		all = append(all, versions[i].Version)
	}
	slices.SortFunc(all, semver.Compare)
	begin := make([]int, len(all)+1) // how many more ranges there are from each version on
	for _, r := range ranges {
		low := sort.Search(len(all), func(i int) bool { return semver.Compare(all[i], r.Low) >= 0 })
		high := sort.Search(len(all), func(i int) bool { return semver.Compare(all[i], r.High) > 0 })
		if low < high {
			begin[low]++
			begin[high]--
		}
	}
	taken, within := make(map[string]bool), 0
	for i, version := range all {
		if within += begin[i]; within > 0 {
			taken[version] = true
		}
	}
	return taken
}

// readList returns the versions of a list in its order. Like the go command, it skips what is not a
// canonical version of the module.
func readList(name string, data []byte) ([]string, error) {
	var lines []string
	seen := map[string]bool{}
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		version := string(line)
		if !canonical(name, version) || module.IsPseudoVersion(version) || seen[version] {
			continue
		}
		seen[version] = true
		if lines = append(lines, version); len(lines) > maxVersions {
			return nil, registry.Refuse(502, registry.ReasonLimit, "%s has more than %d versions", name, maxVersions)
		}
	}
	return lines, nil
}

// groups are the groups of versions from which the go command takes the newest: releases,
// versions from before modules (+incompatible), and prereleases. Each begins with its newest.
func groups(versions []registry.Version) [][]*registry.Version {
	all := make([][]*registry.Version, 3)
	for i := range versions {
		v := &versions[i]
		n := 0
		if v.Prerelease {
			n = 2
		} else if semver.Build(v.Version) != "" {
			n = 1
		}
		all[n] = append(all[n], v)
	}
	for _, group := range all {
		slices.SortFunc(group, func(a, b *registry.Version) int { return semver.Compare(b.Version, a.Version) })
	}
	return all
}

// ages looks up the ages of the newest versions. When several are young, it skips more and more
// versions, which stay without an age. So it finds a settled version even in a module that
// publishes twenty a day.
func (r *reading) ages(group []*registry.Version, gone map[string]bool) error {
	step := 1
	for i, lookups := 0, 0; i < len(group) && lookups < maxLookups; i += step {
		v := group[i]
		lookups++
		found, _, err := r.version(v.Version)
		if unavailable(err) {
			gone[v.Version] = true
			continue
		}
		if err != nil {
			return err
		}
		v.Published, v.Proof = found.Published, found.Proof
		if r.eco.now().Sub(v.Published) >= settled {
			for _, older := range group[i+1:] {
				older.Published, older.Proof = v.Published, "assumed to be no younger than "+v.Version+" until it is requested"
			}
			return nil
		}
		if lookups >= maxLookups/2 {
			step *= 3
		}
	}
	return nil
}

// unavailable reports whether a listed version cannot be downloaded: the proxy does not have its
// .info, or the checksum database does not have its record.
func unavailable(err error) bool {
	var refusal *registry.Refusal
	return errors.As(err, &refusal) && (refusal.Reason == registry.ReasonNotFound || refusal.Reason == registry.ReasonUnlisted)
}

// latest gets the version that a module proxy calls the newest, and the listed versions, one of
// which is shown if that one is hidden.
func (r *reading) latest() (*registry.Facts, error) {
	doc, err := r.document("/@latest", maxInfo)
	if err != nil {
		return nil, err
	}
	told, err := readInfo(doc.Data)
	if err != nil || !canonical(r.ask.Name, told.version) {
		return nil, registry.Refuse(502, registry.ReasonDocument, "%s: the module proxy's answer about the newest version cannot be read", r.ask.Name)
	}
	newest, _, err := r.version(told.version)
	if err != nil {
		return nil, err
	}
	facts, err := r.list()
	if errors.Is(err, registry.ErrNotFound) {
		facts, err = &registry.Facts{Name: r.ask.Name, State: &state{infos: r.infos}}, nil
	}
	if err != nil {
		return nil, err
	}
	facts.Document, facts.Tags = doc, map[string]string{"latest": told.version}
	if v := facts.Version(told.version); v != nil {
		*v = *newest
	} else {
		facts.Versions = append(facts.Versions, *newest)
	}
	return facts, nil
}
