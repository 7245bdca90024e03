package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// Files are what an engine judges by: rules, annotations and lists.
type Files struct {
	Policy      *Compiled
	Annotations *Annotations
	Lists       *Lists // nil: every dynamic list is empty
}

// Hash identifies the files together. It is the hash of an engine made of them.
func (f Files) Hash() string { return hashOf(f.Policy, f.Annotations, f.Lists) }

// Difference describes for people what changes when other files replace these, one change a
// line. A line begins with "+" for an addition, "-" for a removal, and "~" for any other
// change. There are no lines if calls are judged alike.
func (f Files) Difference(to Files) []string {
	lines := ruleChanges(f.Policy.Rules, to.Policy.Rules)
	lines = append(lines, toolChanges(f.Annotations, to.Annotations)...)
	return append(lines, listChanges(f.Lists, to.Lists)...)
}

// legible makes a line safe to print. A person decides by it, so nothing is cut.
func legible(line string) string { return text.Readable(line, math.MaxInt) }

// ruleChanges compares rules, which are known by their names.
func ruleChanges(from, to []Rule) (lines []string) {
	before, after := map[string]Rule{}, map[string]Rule{}
	for _, r := range from {
		before[r.Name] = r
	}
	for _, r := range to {
		after[r.Name] = r
	}
	var stay, now []string // the names of rules that both have, in the order of each
	for _, r := range from {
		next, is := after[r.Name]
		switch {
		case !is:
			lines = append(lines, "- "+r.line())
		case !r.same(next):
			lines = append(lines, "- "+r.line(), "+ "+next.line())
		}
		if is {
			stay = append(stay, r.Name)
		}
	}
	for _, r := range to {
		if _, was := before[r.Name]; was {
			now = append(now, r.Name)
		} else {
			lines = append(lines, "+ "+r.line())
		}
	}
	if !slices.Equal(stay, now) {
		lines = append(lines, "~ the rules are in another order: "+strings.Join(now, ", "))
	}
	return lines
}

// line describes a rule.
func (r Rule) line() string {
	servers := strings.Join(Find[Servers](r.If), ", ")
	if servers == "" {
		servers = "every server"
	}
	return legible(fmt.Sprintf("rule %s: %s, %s, %s", r.Name, r.Then, servers, r.If))
}

// same reports whether two rules judge alike.
func (r Rule) same(other Rule) bool {
	a, errA := json.Marshal(r.If)
	b, errB := json.Marshal(other.If)
	return errA == nil && errB == nil && r.Then == other.Then && bytes.Equal(a, b)
}

// toolChanges compares the annotations of tools.
func toolChanges(from, to *Annotations) (lines []string) {
	all := slices.Collect(maps.Keys(from.tools))
	for key := range to.tools {
		if from.tools[key] == nil {
			all = append(all, key)
		}
	}
	for _, key := range all {
		name := legible(key.server + "/" + key.tool)
		switch a, b := from.tools[key], to.tools[key]; {
		case a == nil:
			lines = append(lines, "+ tool "+name)
		case b == nil:
			lines = append(lines, "- tool "+name)
		case !bytes.Equal(a.raw, b.raw):
			lines = append(lines, "~ tool "+name+" is annotated differently")
		}
	}
	slices.Sort(lines)
	return lines
}

// listChanges compares the values of lists.
func listChanges(from, to *Lists) (lines []string) {
	before, after := from.inUse(), to.inUse()
	names := slices.Collect(maps.Keys(before))
	for name := range after {
		if _, was := before[name]; !was {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		for _, change := range []struct {
			sign      string
			has, lack []string
		}{{"-", before[name], after[name]}, {"+", after[name], before[name]}} {
			only := slices.DeleteFunc(slices.Clone(change.has), func(v string) bool { return slices.Contains(change.lack, v) })
			if len(only) > 0 {
				lines = append(lines, legible(fmt.Sprintf("%s list %s: %s", change.sign, name, strings.Join(only, ", "))))
			}
		}
	}
	return lines
}

// inUse returns the values that rules use, by the lists' names.
func (l *Lists) inUse() map[string][]string {
	all := map[string][]string{}
	if l != nil {
		for name, list := range l.byName {
			all[name] = list.Effective()
		}
	}
	return all
}
