package learn

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/wholefile"
)

// File returns the path of the file that keeps the learned sources, in the state directory.
func File(state string) string { return filepath.Join(state, "registries.json") }

// stored is the content of that file.
type stored struct {
	Sources []Source `json:"sources"`
}

// Load reads the learned sources. known is false if there is no file. It fails if the file cannot be
// read or has unknown members.
func Load(path string) (sources []Source, known bool, err error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	var s stored
	if err == nil {
		_, err = jsonx.Parse(data, jsonx.Limits{Trusted: true})
	}
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(data))
		d.DisallowUnknownFields()
		err = d.Decode(&s)
	}
	if err == nil {
		err = check(s.Sources)
	}
	if err != nil {
		return nil, false, fault.Wrap("read "+path, err, "remove the file, and learn again with 'ironcurtain-mux registry learn --write'")
	}
	return s.Sources, true, nil
}

// check fails for sources that Learn would not have returned.
func check(sources []Source) error {
	for _, s := range sources {
		if !slices.Contains([]string{NPM, PyPI, Go, Cargo, Apt}, s.Ecosystem) {
			return fault.New("", "unknown ecosystem %q", s.Ecosystem)
		}
		if s.URL == "" && len(s.Scopes) == 0 {
			return fault.New("", "a source of %s has neither a URL nor scopes", s.Ecosystem)
		}
		addresses := slices.Concat(s.Aliases, s.Artifacts)
		if s.URL != "" {
			addresses = append(addresses, s.URL)
		}
		for _, address := range addresses {
			if clean, login, err := base(address); err != nil || login != nil || clean != address {
				return fault.New("", "a source of %s has an address that 'registry learn' does not write", s.Ecosystem)
			}
		}
	}
	return nil
}

// Save replaces the learned sources.
func Save(path string, sources []Source) error {
	const op = "store the package registries"
	if sources == nil {
		sources = []Source{}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(stored{sources})
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = wholefile.Write(path, b.Bytes(), 0o600)
	}
	return fault.Wrap(op, err, "make the directory writable or set IRONCURTAIN_HOME")
}

// Effective returns the sources in use: those of config.json and, for ecosystems without a source
// there, the learned ones. If a source of config.json was learned as well, the aliases, artifacts,
// suites and keys that config.json leaves out come from the learned one.
func Effective(configured, learned []Source) []Source {
	all := slices.Clone(configured)
	for i := range all { // config.json may lack the slash at the end of an address
		all[i] = normal(all[i])
		for _, l := range learned {
			if l.Ecosystem == all[i].Ecosystem && l.URL == all[i].URL {
				all[i] = completed(all[i], l)
			}
		}
	}
	for _, s := range learned {
		if !slices.ContainsFunc(configured, func(c Source) bool { return c.Ecosystem == s.Ecosystem }) {
			all = append(all, s)
		}
	}
	return all
}

// completed fills in the lists that a configured source leaves out from the learned source with the
// same address.
func completed(s, learned Source) Source {
	for _, list := range []struct {
		to   *[]string
		from []string
	}{{&s.Aliases, learned.Aliases}, {&s.Artifacts, learned.Artifacts}, {&s.Suites, learned.Suites}, {&s.Keys, learned.Keys}} {
		if len(*list.to) == 0 {
			*list.to = list.from
		}
	}
	return s
}

// normal writes the addresses of a source as Learn does, and leaves malformed ones as they are.
func normal(s Source) Source {
	clean := func(address string) string {
		if b, _, err := base(address); err == nil {
			return b
		}
		return address
	}
	cleanAll := func(addresses []string) []string {
		addresses = slices.Clone(addresses)
		for i := range addresses {
			addresses[i] = clean(addresses[i])
		}
		return addresses
	}
	if s.URL != "" {
		s.URL = clean(s.URL)
	}
	s.Aliases, s.Artifacts = cleanAll(s.Aliases), cleanAll(s.Artifacts)
	return s
}
