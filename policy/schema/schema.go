// Package schema checks arguments of tools against the JSON Schemas that the tools were
// annotated by, and compares these schemas with the ones that a server has now.
package schema

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// Schema is the input schema of a tool. It is compiled when it is first needed, because
// compiling the schemas of all tools takes longer than loading the rest of a policy.
type Schema struct {
	source jsonx.Value
	once   sync.Once // makes compiled, broken and shape
	// compiled, broken and shape may be read only after Compile has returned.
	compiled *jsonschema.Schema
	broken   error // why the schema cannot be used; then every call is denied
	shape    *shape
	// shapesOnly is true when the schema restricts only names and types, so that it
	// accepts any string in place of another.
	shapesOnly bool
}

// noRemote refuses to load schemas that refer to other documents.
type noRemote struct{}

func (noRemote) Load(string) (any, error) {
	return nil, errors.New("references outside the schema are not followed")
}

// New makes a Schema of a parsed JSON Schema.
func New(v jsonx.Value) *Schema { return &Schema{source: v, shapesOnly: shapesOnly(v)} }

// Compile compiles the schema once. It returns an error if the schema cannot be used.
func (s *Schema) Compile() error {
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

// shapeKeywords are keywords that still accept a value after one of its strings was
// replaced by another, and keywords that restrict nothing.
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

// CheckCanonical validates arguments that were valid before some of their strings were
// replaced by canonical ones.
func (s *Schema) CheckCanonical(args jsonx.Value) error {
	if s != nil && s.shapesOnly {
		return nil
	}
	return s.Check(args)
}

// Check validates arguments. The error names an argument only if the schema declares it.
func (s *Schema) Check(args jsonx.Value) error {
	if s == nil {
		return nil
	}
	if s.Compile() != nil {
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

// culprit returns the argument that an error is about. Of several it is the one that the
// schema declares first, because the library reports them in no order.
func (s *Schema) culprit(e *jsonschema.ValidationError) string {
	wrong := map[string]bool{}
	collectArguments(e, wrong)
	properties, _ := s.source.Member("properties")
	for _, p := range properties.Members {
		if wrong[p.Name] {
			return p.Name
		}
	}
	return ""
}

// collectArguments adds the names of the arguments that an error and its causes are about.
func collectArguments(e *jsonschema.ValidationError, names map[string]bool) {
	if len(e.InstanceLocation) > 0 {
		names[e.InstanceLocation[0]] = true
	}
	for _, cause := range e.Causes {
		collectArguments(cause, names)
	}
}

// Property returns the schema of one argument.
func (s *Schema) Property(name string) (jsonx.Value, bool) {
	if s == nil {
		return jsonx.Value{}, false
	}
	properties, _ := s.source.Member("properties")
	return properties.Member(name)
}

// Declares reports whether the schema lists its arguments.
func (s *Schema) Declares() bool {
	if s == nil {
		return false
	}
	p, ok := s.source.Member("properties")
	return ok && p.Kind == jsonx.Object
}

// Required reports whether a call must have the argument.
func (s *Schema) Required(name string) bool {
	if s == nil {
		return false
	}
	list, _ := s.source.Member("required")
	return slices.ContainsFunc(list.Items, func(v jsonx.Value) bool { return v.Text == name })
}

// Default returns the value that the server uses for an absent argument. Only the default
// of an enumeration counts: it says which mode an absent mode means.
func (s *Schema) Default(name string) (jsonx.Value, bool) {
	p, ok := s.Property(name)
	if !ok {
		return jsonx.Value{}, false
	}
	if _, isEnum := p.Member("enum"); !isEnum {
		return jsonx.Value{}, false
	}
	return p.Member("default")
}

// Textual reports whether the schema declares the argument as any text: a string, a list
// of strings, or objects of strings, without restrictions.
func (s *Schema) Textual(name string) bool {
	p, ok := s.Property(name)
	return ok && anyText(p)
}

func anyText(v jsonx.Value) bool {
	kind, _ := v.Member("type")
	for _, restriction := range []string{"enum", "const", "pattern", "format"} {
		if _, restricted := v.Member(restriction); restricted {
			return false
		}
	}
	switch kind.Text {
	case "string":
		return true
	case "array":
		items, ok := v.Member("items")
		return ok && anyText(items)
	case "object":
		properties, _ := v.Member("properties")
		for _, m := range properties.Members {
			if !anyText(m.Value) {
				return false
			}
		}
		return len(properties.Members) > 0
	}
	return false
}

// Source returns the JSON Schema that New got.
func (s *Schema) Source() jsonx.Value { return s.source }

// Defines reports whether a live schema defines the same arguments as this one.
func (s *Schema) Defines(live jsonx.Value) bool { return same(live, s.source) }
