package schema

import (
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// silent are the keywords that a live schema may leave out. They describe, or
// they bound values, and every call is held against the annotated schema, whose
// bounds stay: a server that announces fewer accepts whatever is forwarded.
var silent = []string{
	"$schema", "description", "title", "examples", "additionalProperties", "items", "enum", "format", "pattern",
	"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
	"minLength", "maxLength", "minItems", "maxItems", "uniqueItems",
}

// same reports whether a live schema defines the same arguments as
// the annotated one: the same names, types and required list, and nothing that
// the annotated one does not say. The order of members does not matter.
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

// harmless reports whether a keyword may stand in a live schema though the
// annotated one lacks it: it only says what holds anyway.
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

// mayLack reports whether a live schema may leave a keyword out. It may not leave out
// the default of an enumeration, by which an absent argument is judged.
func mayLack(m jsonx.Member, known jsonx.Value) bool {
	if m.Name == "default" {
		_, mode := known.Member("enum")
		return !mode
	}
	return slices.Contains(silent, m.Name) || harmless(m)
}

// sameSet compares lists whose order means nothing; anything else must be
// equal.
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
