package obeyed

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Finding is a file or directory that programs of this machine run or obey, and that is new or has
// changed since an earlier look.
type Finding struct {
	Path  string `json:"path"`            // below the workspace; an agent chose it
	Why   string `json:"why"`             // which program does what with it
	State string `json:"state"`           // "new", "changed", or what is known about that
	Files int    `json:"files,omitempty"` // the number of files in a directory that counts as a whole
	git   bool
}

// String describes the finding in one line.
func (f Finding) String() string {
	if f.Files > 1 {
		return fmt.Sprintf("%s: %s, %d files (%s)", f.State, shown(f.Path), f.Files, f.Why)
	}
	return fmt.Sprintf("%s: %s (%s)", f.State, shown(f.Path), f.Why)
}

// Since lists the findings that are new or have changed since an earlier look: first those about
// git, then those nearest to the top.
func (l Look) Since(before Look) []Finding {
	units, names := map[string]*Finding{}, before.names()
	for name, f := range l.Files {
		was, known := before.Files[name]
		if known && was.Digest == f.Digest && f.Digest != "" || f.idle || f.inner && !before.around(name) {
			continue
		}
		one := units[f.unit]
		if one == nil {
			one = &Finding{Path: f.unit, Why: f.why, git: f.git, State: before.state(names[f.unit])}
			units[f.unit] = one
		}
		if one.Files++; f.unit == name {
			one.Why = f.why
		}
	}
	var all []Finding
	for _, one := range units {
		all = append(all, *one)
	}
	slices.SortFunc(all, func(a, b Finding) int {
		if a.git != b.git {
			if a.git {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(strings.Count(a.Path, "/"), strings.Count(b.Path, "/")), cmp.Compare(a.Path, b.Path))
	})
	return all
}

// names returns the paths of the findings and of the directories above them.
func (l Look) names() map[string]bool {
	all := map[string]bool{}
	for name := range l.Files {
		for ; name != "." && name != "/" && !all[name]; name = path.Dir(name) {
			all[name] = true
		}
	}
	return all
}

// state describes how something has changed since the look.
func (l Look) state(known bool) string {
	switch {
	case known:
		return "changed"
	case l.Missed != "":
		return "new, or not examined before"
	}
	return "new"
}

// around reports whether a repository is in the work tree of another one that the look found.
func (l Look) around(name string) bool {
	if isGit(path.Base(name)) {
		if name = path.Dir(name); name == "." {
			return false
		}
	}
	for {
		name = path.Dir(name)
		if _, is := l.Files[path.Join(name, ".git")]; is || name == "." {
			return is
		}
	}
}

// shown returns a path for a message: shortened, and on one line.
func shown(name string) string {
	const most = 120
	if len(name) > most {
		name = name[:most/2] + "…" + name[len(name)-most/2:]
	}
	for _, r := range name {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return strconv.Quote(name)
		}
	}
	return name
}
