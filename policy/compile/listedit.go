package compile

import (
	"fmt"
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// Add adds a value to a list by hand. The value stays on the list when the list is looked
// up again.
func Add(def policy.ListDefinition, l policy.List, value string) (policy.List, error) {
	if err := checkValue(def.Type, value); err != nil {
		return l, fmt.Errorf("%q cannot be on list %s (%s): %w", value, def.Name, def.Type, err)
	}
	l.Removed = without(l.Removed, value)
	if !slices.Contains(l.Values, value) && !slices.Contains(l.Added, value) {
		if len(l.Effective()) >= maxValues {
			return l, fmt.Errorf("list %s has %d values already", def.Name, maxValues)
		}
		l.Added = append(slices.Clone(l.Added), value)
	}
	return l, nil
}

// Remove removes a value from a list by hand. The value stays removed when the list is
// looked up again.
func Remove(def policy.ListDefinition, l policy.List, value string) (policy.List, error) {
	if !slices.Contains(l.Effective(), value) {
		return l, fmt.Errorf("list %s does not contain %q", def.Name, value)
	}
	l.Added = without(l.Added, value)
	if slices.Contains(l.Values, value) {
		l.Removed = append(slices.Clone(l.Removed), value)
	}
	return l, nil
}

func without(list []string, value string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(v string) bool { return v == value })
}
