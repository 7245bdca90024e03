package jsonx

import (
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// names collects the member names of one object and finds names that some reader could
// confuse.
type names struct {
	exactOnly bool // only equal names are refused
	exact     []string
	folded    map[string]struct{} // used from the ninth name on
	folds     []string
}

// add records a name. It returns why the name is refused, or "".
func (n *names) add(name string) string {
	if name == "__proto__" {
		// Assigning it changes the prototype of a JavaScript object.
		return "name that changes an object's prototype"
	}
	f := name
	if !n.exactOnly {
		f = fold(name)
	}
	for i, seen := range n.folds {
		if seen == f {
			return twinReason(n.exact[i], name)
		}
	}
	if n.folded != nil {
		if _, ok := n.folded[f]; ok {
			return "duplicate name, or names that differ only in case or form"
		}
		n.folded[f] = struct{}{}
		return ""
	}
	n.exact = append(n.exact, name)
	n.folds = append(n.folds, f)
	if len(n.folds) == 8 {
		n.folded = make(map[string]struct{}, 16)
	}
	return ""
}

func twinReason(a, b string) string {
	if a == b {
		return "duplicate name"
	}
	return "names that differ only in case or Unicode form"
}

// fold maps names that a lenient reader may confuse to one spelling.
func fold(s string) string {
	lower := true
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x80 {
			// Both orders, because folding can undo a normal form.
			return norm.NFKC.String(cases.Fold().String(norm.NFKC.String(s)))
		}
		if c >= 'A' && c <= 'Z' {
			lower = false
		}
	}
	if lower {
		return s
	}
	return strings.ToLower(s)
}
