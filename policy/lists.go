package policy

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// Lists are the resolved dynamic lists.
type Lists struct {
	byName map[string]List
	raw    []byte
}

// List is one resolved list. Values that a person added or removed by hand are kept
// separately, so that they stay when the list is resolved again.
type List struct {
	Values     []string `json:"values"`
	Added      []string `json:"manualAdditions"`
	Removed    []string `json:"manualRemovals"`
	ResolvedAt string   `json:"resolvedAt"`
	InputHash  string   `json:"inputHash"`

	effective []string
}

// Effective returns the values that rules use: the resolved and the added values, without
// the removed ones.
func (l List) Effective() []string {
	out := make([]string, 0, len(l.Values)+len(l.Added))
	for _, v := range slices.Concat(l.Values, l.Added) {
		if !slices.Contains(l.Removed, v) && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// LoadLists reads dynamic-lists.json strictly.
func LoadLists(file string) (*Lists, error) {
	return load(file, listsFrom)
}

// ParseLists is LoadLists for bytes; name stands for the file in errors.
func ParseLists(name string, data []byte) (*Lists, error) {
	return parse(name, data, listsFrom)
}

func listsFrom(d *document) (*Lists, error) {
	l := &Lists{byName: map[string]List{}, raw: d.root.Encode()}
	top := d.top()
	if !top.object() {
		return nil, d.problem()
	}
	top.optional("generatedAt").str()
	if all := top.required("lists"); d.err == nil && all.object() {
		for _, m := range all.value.Members {
			n := all.child(m.Name, m.Value)
			if !listName.MatchString(m.Name) {
				n.fail("list name %q must begin with a-z and have only a-z, 0-9 and hyphens", m.Name)
			}
			l.byName[m.Name] = readList(n)
		}
	}
	top.done()
	if err := d.problem(); err != nil {
		return nil, err
	}
	return l, nil
}

func readList(n *node) List {
	if !n.object() {
		return List{}
	}
	l := List{
		Values:  n.required("values").strings(),
		Added:   n.optional("manualAdditions").strings(),
		Removed: n.optional("manualRemovals").strings(),
	}
	l.ResolvedAt = n.optional("resolvedAt").str()
	l.InputHash = n.optional("inputHash").str()
	n.done()
	for _, v := range slices.Concat(l.Values, l.Added) {
		if strings.TrimSpace(v) != v || v == "" || strings.ContainsAny(v, " \t\r\n") {
			n.fail("value %s is empty or contains white space", strconv.Quote(v))
		}
	}
	l.effective = l.Effective()
	return l
}

// Get returns the list of that name, and whether it is resolved.
func (l *Lists) Get(name string) (List, bool) {
	if l == nil {
		return List{}, false
	}
	got, ok := l.byName[name]
	return got, ok
}

// EncodeLists writes dynamic-lists.json.
func EncodeLists(generatedAt string, lists map[string]List) ([]byte, error) {
	all := map[string]List{}
	for name, l := range lists {
		l.Values, l.Added, l.Removed = append([]string{}, l.Values...), append([]string{}, l.Added...), append([]string{}, l.Removed...)
		all[name] = l
	}
	data, err := json.MarshalIndent(map[string]any{"generatedAt": generatedAt, "lists": all}, "", "  ")
	return append(data, '\n'), err
}

// values returns the effective values of a list, none if the list is not resolved.
func (l *Lists) values(name string) []string {
	if l == nil {
		return nil
	}
	return l.byName[name].effective
}

// lacks reports whether allowed names a list that is not resolved.
func (l *Lists) lacks(allowed []string) bool {
	for _, a := range allowed {
		if name, isRef := strings.CutPrefix(a, "@"); isRef {
			if _, resolved := l.Get(name); !resolved {
				return true
			}
		}
	}
	return false
}

// expand replaces every @name by the values of that list.
func (l *Lists) expand(allowed []string) []string {
	var out []string
	for _, a := range allowed {
		if name, isRef := strings.CutPrefix(a, "@"); isRef {
			out = append(out, l.values(name)...)
			continue
		}
		out = append(out, a)
	}
	return out
}
