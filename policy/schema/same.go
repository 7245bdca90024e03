package schema

import (
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// silent are keywords that a live schema may leave out. They only describe arguments or
// bound values. Every call is checked against the annotated schema, so its bounds still
// apply; a server with fewer bounds accepts every call that is forwarded.
var silent = []string{
	"$schema", "description", "title", "examples", "additionalProperties", "items", "enum", "format", "pattern",
	"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
	"minLength", "maxLength", "minItems", "maxItems", "uniqueItems",
}

// same reports whether a live schema defines the same arguments as the annotated one: the
// same names, types and required list, and no additional keywords. The order of members
// does not matter.
func same(live, known jsonx.Value) bool {
	if live.Kind != jsonx.Object || known.Kind != jsonx.Object {
		return live.Equal(known)
	}
	for _, m := range live.Members {
		said, ok := known.Member(m.Name)
		if !ok && !harmless(m) || ok && !sameKeyword(m, said) {
			return false
		}
	}
	for _, m := range known.Members {
		if _, ok := live.Member(m.Name); !ok && !mayLack(m, known) {
			return false
		}
	}
	return true
}

// sameKeyword compares one keyword that both schemas have.
func sameKeyword(live jsonx.Member, known jsonx.Value) bool {
	switch live.Name {
	case "properties":
		if live.Value.Kind != jsonx.Object || len(live.Value.Members) != len(known.Members) {
			return false
		}
		return !slices.ContainsFunc(live.Value.Members, func(p jsonx.Member) bool {
			said, ok := known.Member(p.Name)
			return !ok || !same(p.Value, said)
		})
	case "items", "additionalProperties":
		return same(live.Value, known)
	case "required", "type", "enum":
		return sameSet(live.Value, known)
	}
	return live.Value.Equal(known)
}

// harmless reports whether a live schema may have a keyword that the annotated one does
// not have, because the keyword changes nothing.
func harmless(m jsonx.Member) bool {
	switch m.Name {
	case "$schema":
		return true
	case "additionalProperties":
		return m.Value.Kind == jsonx.Bool && !m.Value.Truth
	case "required":
		return m.Value.Kind == jsonx.Array && len(m.Value.Items) == 0
	}
	return false
}

// mayLack reports whether a live schema may leave a keyword out. It must not leave out the
// default of an enumeration, because an absent argument is judged by that default.
func mayLack(m jsonx.Member, known jsonx.Value) bool {
	if m.Name == "default" {
		_, mode := known.Member("enum")
		return !mode
	}
	return slices.Contains(silent, m.Name) || harmless(m)
}

// sameSet compares two lists without their order. Values that are not lists must be equal.
func sameSet(a, b jsonx.Value) bool {
	if a.Kind != jsonx.Array || b.Kind != jsonx.Array {
		return a.Equal(b)
	}
	subset := func(x, y jsonx.Value) bool {
		return !slices.ContainsFunc(x.Items, func(i jsonx.Value) bool {
			return !slices.ContainsFunc(y.Items, i.Equal)
		})
	}
	return subset(a, b) && subset(b, a)
}
