package learn

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Difference is one thing in which two lists of sources differ.
type Difference struct {
	Sign   byte   // '+' only in the second, '-' only in the first, '~' in both and changed
	Source Source // of the second list; of the first for '-'
	// Changes say what a '~' has changed, each as "member: before -> after".
	Changes []string
}

// Differences compares two lists of sources, in the order of the second; sources that are missing
// there come last. It ignores From.
func Differences(before, after []Source) []Difference {
	var all []Difference
	same := func(a, b Source) bool {
		return a.Ecosystem == b.Ecosystem && a.URL == b.URL && a.Name == b.Name
	}
	for _, s := range after {
		i := slices.IndexFunc(before, func(b Source) bool { return same(b, s) })
		if i < 0 {
			all = append(all, Difference{Sign: '+', Source: s})
		} else if changes := changes(before[i], s); len(changes) > 0 {
			all = append(all, Difference{Sign: '~', Source: s, Changes: changes})
		}
	}
	for _, s := range before {
		if !slices.ContainsFunc(after, func(a Source) bool { return same(a, s) }) {
			all = append(all, Difference{Sign: '-', Source: s})
		}
	}
	return all
}

// changes lists the members in which two descriptions of a source differ.
func changes(before, after Source) []string {
	var all []string
	for _, m := range []struct {
		name string
		a, b []string
	}{
		{"aliases", before.Aliases, after.Aliases},
		{"artifacts", before.Artifacts, after.Artifacts},
		{"scopes", before.Scopes, after.Scopes},
		{"suites", before.Suites, after.Suites},
		{"private", []string{fmt.Sprint(before.Private)}, []string{fmt.Sprint(after.Private)}},
		{"credential", word(before.Credential), word(after.Credential)},
		{"keys", before.Keys, after.Keys},
	} {
		if len(m.a)+len(m.b) > 0 && !reflect.DeepEqual(m.a, m.b) {
			all = append(all, fmt.Sprintf("%s: %s -> %s", m.name, words(m.a), words(m.b)))
		}
	}
	return all
}

func word(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

func words(all []string) string {
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, " ")
}
