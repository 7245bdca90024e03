package compile

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// Lists are the lists of a policy directory. They can be shown and changed.
type Lists struct {
	Definitions []policy.ListDefinition // sorted by name
	Values      map[string]policy.List  // by name; only resolved lists
	dir, stamp  string
	policy      *policy.Compiled
}

// ReadLists reads the lists of a policy directory.
func ReadLists(dir string) (*Lists, error) {
	l := &Lists{Values: map[string]policy.List{}, dir: dir}
	var err error
	if l.stamp, err = stampOf(dir); err != nil {
		return nil, err
	}
	var resolved *policy.Lists
	if l.policy, resolved, err = policy.LoadDir(dir); err != nil {
		return nil, err
	}
	l.Definitions = slices.SortedFunc(slices.Values(l.policy.Lists), func(a, b policy.ListDefinition) int { return cmp.Compare(a.Name, b.Name) })
	for _, def := range l.Definitions {
		if got, ok := resolved.Get(def.Name); ok {
			l.Values[def.Name] = got
		}
	}
	return l, nil
}

// Definition finds a list by its name.
func (l *Lists) Definition(name string) (policy.ListDefinition, error) {
	for _, def := range l.Definitions {
		if def.Name == name {
			return def, nil
		}
	}
	return policy.ListDefinition{}, fmt.Errorf("the policy has no list %q", name)
}

// Forbidden returns descriptions of calls that must never be allowed and that the policy
// would allow with the current values of the lists.
func (l *Lists) Forbidden(w *World, a *policy.Annotations) ([]string, error) {
	o := &Options{World: w, Annotations: a}
	engine, err := o.engine(l.policy, l.Values)
	if err != nil {
		return nil, err
	}
	return forbidden(engine, a)
}

// Write replaces the lists' file as a whole. It fails if the policy or the lists have
// changed on disk since they were read.
func (l *Lists) Write(now time.Time) error {
	data, err := policy.EncodeLists(now.UTC().Format(time.RFC3339), l.Values)
	if err != nil {
		return err
	}
	if _, err := policy.ParseLists(ListsFile, data); err != nil {
		return err
	}
	return replace(l.dir, l.stamp, []file{{ListsFile, data}}, false)
}
