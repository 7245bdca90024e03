package gomod

import (
	"io"

	"golang.org/x/mod/semver"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

var _ registry.Ecosystem = (*Ecosystem)(nil)

// state is what Facts leaves for Write.
type state struct {
	// lines are the available versions of a list, in its order.
	lines []string
	// infos are the .info documents that were read, by version.
	infos map[string][]byte
	// retracted are the versions that the version by, the newest one, retracts.
	retracted map[string]bool
	by        string
}

// hides adds to the hidden versions those that a hidden version retracts.
func (s *state) hides(hidden func(string) bool) func(string) bool {
	if s.by == "" || !hidden(s.by) {
		return hidden
	}
	return func(version string) bool { return hidden(version) || s.retracted[version] }
}

// Write writes the document of the facts without the hidden versions.
func (*Ecosystem) Write(w io.Writer, f *registry.Facts, a *registry.Ask, hidden func(string) bool) error {
	held := registry.Refuse(403, registry.ReasonQuarantine,
		"%s: every available version is too young, held back for now, or retracted by a newer one; request_package asks for one", a.Name)
	switch a.Form {
	case formList:
		st := f.State.(*state)
		return writeList(w, st.lines, st.hides(hidden), held)
	case formLatest:
		return writeLatest(w, f, f.State.(*state).hides(hidden), held)
	case formLookup:
		if hidden(a.Version) {
			return registry.Refuse(403, registry.ReasonQuarantine,
				"%s@%s is too young or held back for now; use an older version", a.Name, a.Version)
		}
	}
	_, err := w.Write(f.Document.Data)
	return err
}

// writeList writes the versions that are not hidden.
func writeList(w io.Writer, lines []string, hidden func(string) bool, held error) error {
	var out []byte
	for _, line := range lines {
		if !hidden(line) {
			out = append(append(out, line...), '\n')
		}
	}
	if len(out) == 0 && len(lines) > 0 {
		return held
	}
	_, err := w.Write(out)
	return err
}

// writeLatest writes the .info of the newest version that is not hidden, among those whose
// .info was read. A release is newer than its prereleases.
func writeLatest(w io.Writer, f *registry.Facts, hidden func(string) bool, held error) error {
	if !hidden(f.Tags["latest"]) {
		_, err := w.Write(f.Document.Data)
		return err
	}
	infos := f.State.(*state).infos
	best := ""
	for i := range f.Versions {
		v := &f.Versions[i]
		if infos[v.Version] == nil || hidden(v.Version) {
			continue
		}
		release, bestIs := !v.Prerelease, best != "" && semver.Prerelease(best) == ""
		if best == "" || release && !bestIs || release == bestIs && semver.Compare(v.Version, best) > 0 {
			best = v.Version
		}
	}
	if best == "" {
		return held
	}
	_, err := w.Write(infos[best])
	return err
}
