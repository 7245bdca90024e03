package packages

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/pypi"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/store"
)

// Malicious is a list of malicious versions, read from files in the format of the Open Source
// Vulnerabilities project (OSV).
type Malicious struct {
	Entries map[string][]MaliciousEntry // by listedKey
	Files   int                         // how many were read
}

// MaliciousEntry is one report. Without versions and ranges it concerns all versions.
type MaliciousEntry struct {
	ID       string
	Versions []string   `json:",omitempty"`
	Ranges   []osvRange `json:",omitempty"` // of semantic versions
}

// osvRange are versions between events: from one that introduced a problem up to one that fixed it.
type osvRange struct {
	Type   string `json:"type"`
	Events []struct {
		Introduced   string `json:"introduced,omitempty"`
		Fixed        string `json:"fixed,omitempty"`
		LastAffected string `json:"last_affected,omitempty"`
	} `json:"events"`
}

// osvEcosystems are our ecosystems by the first word of their names in OSV files. Some of these names
// are hosts; what follows the first dot or colon is ignored.
var osvEcosystems = map[string]string{"npm": "npm", "PyPI": "pypi", "Go": "go", "crates": "cargo", "Debian": "apt"}

// maxReport bounds one file of the list, in bytes.
const maxReport = 8 << 20

// ReadMalicious reads all ".json" files below the directories. Many thousands are usual, so the
// result is kept in the store until a file changes. Without directories it returns nil, a list in
// which Find finds nothing.
func ReadMalicious(dirs []string, kept *store.Store) (*Malicious, error) {
	if len(dirs) == 0 {
		return nil, nil
	}
	files, state, err := listReports(dirs)
	if err != nil {
		return nil, err
	}
	m := &Malicious{}
	if kept.Read(state, m) && m.Files == len(files) {
		return m, nil
	}
	m = &Malicious{Entries: make(map[string][]MaliciousEntry), Files: len(files)}
	for _, path := range files {
		if err := m.add(path); err != nil {
			return nil, fmt.Errorf("read the list of malicious packages: %s: %w", path, err)
		}
	}
	return m, kept.Note(state, m)
}

// listReports lists the files, with a description that changes when they do.
func listReports(dirs []string) (files []string, state string, err error) {
	var b strings.Builder
	b.WriteString("malicious 2\n")
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".json" {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			files = append(files, path)
			fmt.Fprintf(&b, "%s %d %d\n", path, info.Size(), info.ModTime().UnixNano())
			return nil
		})
		if err != nil {
			return nil, "", fmt.Errorf("read the list of malicious packages: %w", err)
		}
	}
	return files, b.String(), nil
}

// add adds the report in a file.
func (m *Malicious) add(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Size() > maxReport {
		return fmt.Errorf("the file is larger than %d bytes", maxReport)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var report struct {
		ID        string  `json:"id"`
		Withdrawn *string `json:"withdrawn"`
		Affected  []struct {
			Package struct {
				Ecosystem, Name string
			} `json:"package"`
			Versions []string   `json:"versions"`
			Ranges   []osvRange `json:"ranges"`
		} `json:"affected"`
	}
	if err := json.Unmarshal(data, &report); err != nil {
		return err
	}
	if !strings.HasPrefix(report.ID, "MAL-") || report.Withdrawn != nil {
		return nil // an ordinary vulnerability, or a mistake
	}
	for _, a := range report.Affected {
		family, _, _ := strings.Cut(strings.ReplaceAll(a.Package.Ecosystem, ".", ":"), ":") // "Debian:12"
		ecosystem := osvEcosystems[family]
		if ecosystem == "" || a.Package.Name == "" {
			continue
		}
		k := listedKey(ecosystem, a.Package.Name)
		e, every := MaliciousEntry{ID: report.ID, Versions: a.Versions}, false
		for _, r := range a.Ranges {
			switch {
			case r.all(), r.Type == "ECOSYSTEM" && len(a.Versions) == 0: // nothing says which versions
				every = true
			case r.Type == "SEMVER":
				e.Ranges = append(e.Ranges, r)
			}
		}
		if every {
			e.Versions, e.Ranges = nil, nil
		}
		m.Entries[k] = append(m.Entries[k], e)
	}
	return nil
}

// Find returns the ID of a report about a version, or "".
func (m *Malicious) Find(ecosystem, name, version string) string {
	if m == nil {
		return ""
	}
	for _, e := range m.Entries[listedKey(ecosystem, name)] {
		if len(e.Versions)+len(e.Ranges) == 0 || slices.ContainsFunc(e.Versions, func(listed string) bool { return sameVersion(ecosystem, listed, version) }) ||
			slices.ContainsFunc(e.Ranges, func(r osvRange) bool { return r.contains(version) }) {
			return e.ID
		}
	}
	return ""
}

// all reports whether a range contains all versions: it begins with the first one and has no end.
func (r osvRange) all() bool {
	begins, ends := false, r.Type == "GIT"
	for _, e := range r.Events {
		begins = begins || e.Introduced == "0"
		ends = ends || e.Fixed != "" || e.LastAffected != ""
	}
	return begins && !ends
}

// contains reports whether a version is in a range of semantic versions; an invalid one counts as in
// it.
func (r osvRange) contains(version string) bool {
	version = "v" + strings.TrimPrefix(version, "v")
	if !semver.IsValid(version) {
		return true
	}
	atLeast := func(limit string) bool {
		return limit == "0" || semver.IsValid("v"+limit) && semver.Compare(version, "v"+limit) >= 0
	}
	inside := false
	for _, e := range r.Events { // in their order
		switch {
		case e.Introduced != "" && atLeast(e.Introduced):
			inside = true
		case e.Fixed != "" && atLeast(e.Fixed), e.LastAffected != "" && atLeast(e.LastAffected) && semver.Compare(version, "v"+e.LastAffected) != 0:
			inside = false
		}
	}
	return inside
}

// listedKey returns the same key for all spellings of a name, because reports spell it as its author
// did, and registries of Python and Cargo treat some spellings as equal. The count of names does not
// use it, because each spelling is another request.
func listedKey(ecosystem, name string) string {
	if ecosystem == "pypi" || ecosystem == "cargo" {
		name = text.Fold(name)
	}
	return key(ecosystem, name)
}

// sameVersion compares a version in a report with another one. Reports write Go versions without
// "v", and Python versions as their author did. In npm and cargo, what follows a plus does not make
// another version.
func sameVersion(ecosystem, listed, version string) bool {
	switch ecosystem {
	case "go":
		return strings.TrimPrefix(listed, "v") == strings.TrimPrefix(version, "v")
	case "pypi":
		return listed == version || pypi.SameVersion(listed, version)
	case "npm", "cargo":
		listed, _, _ = strings.Cut(strings.TrimLeft(listed, "v= "), "+")
		version, _, _ = strings.Cut(version, "+")
	}
	return listed == version
}
