package schema

import (
	"strconv"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// shape is a schema that restricts only names and types, in a form that quickly accepts
// most valid arguments. The full validator decides about arguments that it does not accept.
type shape struct {
	kinds      []string // accepted types; none: any
	properties map[string]*shape
	required   []string
	others     *shape // of members that are not listed
	items      *shape // nil: any
	minItems   int
	maxItems   int // -1: no limit
	never      bool
}

// shapeOf returns the shape of a schema, or nil if the schema has other restrictions.
func shapeOf(v jsonx.Value) *shape {
	if v.Kind == jsonx.Bool {
		return &shape{never: !v.Truth, maxItems: -1}
	}
	if v.Kind != jsonx.Object {
		return nil
	}
	s := &shape{maxItems: -1}
	for _, m := range v.Members {
		if !s.take(m.Name, m.Value) {
			return nil
		}
	}
	return s
}

// take reads one keyword. It returns false if the keyword is not supported.
func (s *shape) take(keyword string, v jsonx.Value) (ok bool) {
	switch keyword {
	case "$schema", "description", "title", "default", "examples":
		return true
	case "type":
		s.kinds, ok = texts(v)
	case "required":
		s.required, ok = texts(v)
		ok = ok && v.Kind == jsonx.Array
	case "properties":
		s.properties = map[string]*shape{}
		for _, m := range v.Members {
			if s.properties[m.Name] = shapeOf(m.Value); s.properties[m.Name] == nil {
				return false
			}
		}
		ok = v.Kind == jsonx.Object
	case "additionalProperties":
		s.others = shapeOf(v)
		ok = s.others != nil
	case "items":
		s.items = shapeOf(v)
		ok = s.items != nil
	case "minItems":
		s.minItems, ok = number(v)
	case "maxItems":
		s.maxItems, ok = number(v)
	}
	return ok
}

// texts reads a string or a list of strings.
func texts(v jsonx.Value) (list []string, ok bool) {
	if v.Kind == jsonx.String {
		return []string{v.Text}, true
	}
	for _, item := range v.Items {
		if item.Kind != jsonx.String {
			return nil, false
		}
		list = append(list, item.Text)
	}
	return list, v.Kind == jsonx.Array
}

func number(v jsonx.Value) (int, bool) {
	n, err := strconv.Atoi(v.Text)
	return n, err == nil && v.Kind == jsonx.Number && n >= 0
}

// accepts reports whether a value from the strict decoder is certainly valid.
func (s *shape) accepts(v jsonx.Value) bool {
	if s == nil || s.never || !s.ofKind(v) {
		return false
	}
	switch v.Kind {
	case jsonx.Array:
		return s.acceptsItems(v.Items)
	case jsonx.Object:
		return s.acceptsMembers(v)
	default:
		return true
	}
}

func (s *shape) acceptsItems(items []jsonx.Value) bool {
	if len(items) < s.minItems || s.maxItems >= 0 && len(items) > s.maxItems {
		return false
	}
	for i := range items {
		if s.items != nil && !s.items.accepts(items[i]) {
			return false
		}
	}
	return true
}

func (s *shape) acceptsMembers(v jsonx.Value) bool {
	for _, name := range s.required {
		if _, present := v.Member(name); !present {
			return false
		}
	}
	for i := range v.Members {
		of, listed := s.properties[v.Members[i].Name]
		if !listed {
			of = s.others
		}
		if of != nil && !of.accepts(v.Members[i].Value) {
			return false
		}
	}
	return true
}

func (s *shape) ofKind(v jsonx.Value) bool {
	for _, kind := range s.kinds {
		if kind == v.Kind.String() || kind == "integer" && v.Kind == jsonx.Number && !strings.ContainsAny(v.Text, ".eE") {
			return true
		}
	}
	return len(s.kinds) == 0
}
