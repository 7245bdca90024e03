package policy

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// schema is the input schema of a tool. It is compiled when it is first needed:
// to compile those of all tools takes longer than the rest of a policy.
type schema struct {
	source jsonx.Value
	once   sync.Once // makes compiled, broken and shape
	// compiled and the next two are read after compile has returned.
	compiled *jsonschema.Schema
	broken   error // why it cannot be used; then every call is denied
	shape    *shape
	// shapesOnly says that the schema speaks of names and types alone, so
	// that one string is as good as another.
	shapesOnly bool
}

// noRemote refuses to load schemas that refer to other documents.
type noRemote struct{}

func (noRemote) Load(string) (any, error) {
	return nil, errors.New("references outside the schema are not followed")
}

func newSchema(v jsonx.Value) *schema { return &schema{source: v, shapesOnly: shapesOnly(v)} }

// compile says why the schema cannot be used, if it cannot.
func (s *schema) compile() error {
	s.once.Do(func() {
		s.compiled, s.broken = compiled(s.source)
		if s.broken == nil && s.shapesOnly {
			s.shape = shapeOf(s.source)
		}
	})
	return s.broken
}

func compiled(v jsonx.Value) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.UseLoader(noRemote{})
	const name = "mem:///tool.json"
	if err := c.AddResource(name, v.Any()); err != nil {
		return nil, fmt.Errorf("the input schema cannot be read: %w", err)
	}
	s, err := c.Compile(name)
	if err != nil {
		return nil, fmt.Errorf("the input schema cannot be compiled: %w", err)
	}
	return s, nil
}

// shapeKeywords are the keywords that no string can violate in another's
// place, and those that say nothing.
var shapeKeywords = []string{
	"$schema", "type", "properties", "required", "additionalProperties", "items", "minItems", "maxItems",
	"description", "title", "default", "examples",
}

func shapesOnly(v jsonx.Value) bool {
	for _, m := range v.Members {
		if !slices.Contains(shapeKeywords, m.Name) {
			return false
		}
		switch m.Name {
		case "properties":
			for _, p := range m.Value.Members {
				if !shapesOnly(p.Value) {
					return false
				}
			}
		case "items", "additionalProperties":
			if m.Value.Kind == jsonx.Array || !shapesOnly(m.Value) {
				return false
			}
		}
	}
	return true
}

// checkCanonical validates arguments that were valid before some of their
// strings took another form.
func (s *schema) checkCanonical(args jsonx.Value) error {
	if s != nil && s.shapesOnly {
		return nil
	}
	return s.check(args)
}

// check validates arguments. The reason names an argument only when the
// schema itself knows it.
func (s *schema) check(args jsonx.Value) error {
	if s == nil {
		return nil
	}
	if s.compile() != nil {
		return errors.New("the tool's input schema cannot be used")
	}
	if s.shape.accepts(args) {
		return nil
	}
	err := s.compiled.Validate(args.Any())
	if err == nil {
		return nil
	}
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) {
		if name := s.culprit(invalid); name != "" {
			return fmt.Errorf("argument %q does not match the tool's schema", name)
		}
	}
	return errors.New("the arguments do not match the tool's schema")
}

// culprit finds the first declared argument that an error is about.
func (s *schema) culprit(e *jsonschema.ValidationError) string {
	if len(e.InstanceLocation) > 0 {
		if _, ok := s.property(e.InstanceLocation[0]); ok {
			return e.InstanceLocation[0]
		}
	}
	for _, cause := range e.Causes {
		if name := s.culprit(cause); name != "" {
			return name
		}
	}
	return ""
}

// property returns the schema of one argument.
func (s *schema) property(name string) (jsonx.Value, bool) {
	if s == nil {
		return jsonx.Value{}, false
	}
	properties, _ := s.source.Member("properties")
	return properties.Member(name)
}

// declares reports whether the schema lists its arguments at all.
func (s *schema) declares() bool {
	if s == nil {
		return false
	}
	p, ok := s.source.Member("properties")
	return ok && p.Kind == jsonx.Object
}

// required reports whether a call must have the argument.
func (s *schema) required(name string) bool {
	if s == nil {
		return false
	}
	list, _ := s.source.Member("required")
	return slices.ContainsFunc(list.Items, func(v jsonx.Value) bool { return v.Text == name })
}

// defaultOf returns what the server takes for an absent argument. Only the
// default of an enum counts: it says which mode an absent mode means.
func (s *schema) defaultOf(name string) (jsonx.Value, bool) {
	p, ok := s.property(name)
	if !ok {
		return jsonx.Value{}, false
	}
	if _, isEnum := p.Member("enum"); !isEnum {
		return jsonx.Value{}, false
	}
	return p.Member("default")
}

// mayNarrow says why a case may not narrow the roles of an argument, or "".
// Whoever writes the call chooses the discriminating value, so it must be one
// the schema enumerates: a flag or a free string is no evidence of what the
// server will do.
func (s *schema) mayNarrow(c roleCase, from []Role) string {
	lost := slices.ContainsFunc(from, func(r Role) bool {
		return (r.Judged() || r == RepoPath) && !slices.Contains(c.roles, r)
	})
	if !lost {
		return ""
	}
	p, ok := s.property(c.arg)
	enum, isEnum := p.Member("enum")
	if !ok || !isEnum || enum.Kind != jsonx.Array {
		return "the discriminating argument is not an enumeration in the schema"
	}
	if c.op == "is" {
		return "the state of an argument does not say which mode the server takes"
	}
	for _, want := range c.value {
		if !slices.ContainsFunc(enum.Items, func(v jsonx.Value) bool { return v.Kind == want.Kind && v.Text == want.Text && v.Truth == want.Truth }) {
			return "the value is not in the enumeration of the schema"
		}
	}
	return ""
}
