package learn

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
)

// apt learns the repositories of Debian packages, with the keys that this machine's own apt
// verifies them with.
func (a *asker) apt(ctx context.Context) {
	if a.Apt == nil {
		return
	}
	for _, line := range a.Apt(ctx) {
		s, err := aptSource(line)
		switch {
		case err != nil:
			a.note("apt-get indextargets: %v", err)
			continue
		case len(s.Keys) == 0:
			s.Keys = a.aptKeyrings()
		}
		i := slices.IndexFunc(a.Sources, func(other Source) bool { return other.URL == s.URL })
		if i < 0 {
			a.add(s)
			continue
		}
		a.Sources[i].Suites = append(a.Sources[i].Suites, s.Suites...)
		for _, key := range s.Keys {
			if !slices.Contains(a.Sources[i].Keys, key) {
				a.Sources[i].Keys = append(a.Sources[i].Keys, key)
			}
		}
	}
}

// aptKeyrings returns the keyrings for repositories that name none.
func (a *asker) aptKeyrings() []string {
	keys := []string{}
	for _, pattern := range []string{"trusted.gpg", "trusted.gpg.d/*.gpg", "trusted.gpg.d/*.asc"} {
		found, _ := filepath.Glob(a.system("/etc/apt/" + pattern)) // the patterns are well-formed
		keys = append(keys, found...)
	}
	return keys
}

// aptSource parses a line of a sources.list: deb [options] address suite component…
func aptSource(line string) (Source, error) {
	rest := strings.TrimSpace(strings.TrimPrefix(line, "deb "))
	s := Source{Ecosystem: Apt, From: "apt-get indextargets"}
	if options, after, ok := strings.Cut(rest, "]"); ok && strings.HasPrefix(options, "[") {
		rest = after
		for option := range strings.FieldsSeq(options[1:]) {
			if value, ok := strings.CutPrefix(option, "signed-by="); ok {
				s.Keys = list(value)
			}
		}
	}
	address, suite, _ := strings.Cut(strings.TrimSpace(rest), " ")
	s.Suites = []string{strings.Join(strings.Fields(suite), " ")}
	var err error
	s.URL, _, err = base(address)
	return s, err
}
