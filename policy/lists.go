package policy

import (
	"slices"
	"strconv"
	"strings"
)

// Lists are the resolved dynamic lists.
type Lists struct {
	byName map[string][]string
	raw    []byte
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
	l := &Lists{byName: map[string][]string{}, raw: d.root.Encode()}
	top := d.top()
	if !top.object() {
		return nil, d.problem()
	}
	top.optional("generatedAt").str()
	if all := top.required("lists"); d.err == nil && all.object() {
		for _, m := range all.value.Members {
			n := all.child(m.Name, m.Value)
			if !listName.MatchString(m.Name) {
				n.fail("list name %q is not of the form a-z, 0-9 and hyphens", m.Name)
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

func readList(n *node) []string {
	if !n.object() {
		return nil
	}
	values := n.required("values").strings()
	added := n.optional("manualAdditions").strings()
	removed := n.optional("manualRemovals").strings()
	n.optional("resolvedAt").str()
	n.optional("inputHash").str()
	n.done()
	effective := make([]string, 0, len(values)+len(added))
	for _, v := range slices.Concat(values, added) {
		if strings.TrimSpace(v) != v || v == "" || strings.ContainsAny(v, " \t\r\n") {
			n.fail("value %s is empty or contains white space", strconv.Quote(v))
		}
		if !slices.Contains(removed, v) && !slices.Contains(effective, v) {
			effective = append(effective, v)
		}
	}
	return effective
}

// values returns the effective values of a list; a missing one is empty.
func (l *Lists) values(name string) []string {
	if l == nil {
		return nil
	}
	return l.byName[name]
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
