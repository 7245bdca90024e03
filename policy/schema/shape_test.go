package schema

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// anySchema draws a schema of names and types.
func anySchema(t *rapid.T, depth int) string {
	if rapid.IntRange(0, 9).Draw(t, "boolean schema") == 0 {
		return fmt.Sprint(rapid.Bool().Draw(t, "true"))
	}
	kinds := []string{`"string"`, `"integer"`, `"number"`, `"boolean"`, `"null"`, `"array"`, `"object"`, `["string","null"]`, `["integer","array"]`}
	s := `{"description":"d"`
	if rapid.IntRange(0, 4).Draw(t, "typed") > 0 {
		s += `,"type":` + rapid.SampledFrom(kinds).Draw(t, "type")
	}
	if depth > 0 {
		if rapid.Bool().Draw(t, "properties") {
			s += fmt.Sprintf(`,"properties":{"a":%s,"b":%s}`, anySchema(t, depth-1), anySchema(t, depth-1))
		}
		if rapid.Bool().Draw(t, "items") {
			s += fmt.Sprintf(`,"items":%s`, anySchema(t, depth-1))
		}
		if rapid.Bool().Draw(t, "additional") {
			s += fmt.Sprintf(`,"additionalProperties":%s`, anySchema(t, depth-1))
		}
	}
	s += rapid.SampledFrom([]string{"", `,"required":["a"]`, `,"required":[]`, `,"minItems":1`, `,"maxItems":1`, `,"minItems":1,"maxItems":2`}).Draw(t, "bounds")
	return s + "}"
}

func anyValue(t *rapid.T, depth int) string {
	plain := []string{`"x"`, `1`, `1.5`, `-0`, `3e2`, `1.0`, `true`, `null`, `[]`, `{}`}
	switch kind := rapid.IntRange(0, 3).Draw(t, "kind"); {
	case depth > 0 && kind == 0:
		return fmt.Sprintf(`[%s,%s]`, anyValue(t, depth-1), anyValue(t, depth-1))
	case depth > 0 && kind == 1:
		return fmt.Sprintf(`{%q:%s,"z":%s}`, rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name"), anyValue(t, depth-1), anyValue(t, depth-1))
	}
	return rapid.SampledFrom(plain).Draw(t, "value")
}

// A schema accepts everything that its shape accepts. If the schema restricts only names
// and types, its shape accepts everything that the schema accepts.
func TestShapeIsTheSchema(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anySchema(t, 2)
		source, err := jsonx.Parse([]byte(text), jsonx.Limits{Trusted: true})
		if err != nil {
			t.Fatal(err)
		}
		s := New(source)
		if err := s.Compile(); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if s.shape == nil {
			t.Fatalf("%s has no shape", text)
		}
		written := anyValue(t, 2)
		value, err := jsonx.Parse([]byte(written), jsonx.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if valid := s.compiled.Validate(value.Any()) == nil; s.shape.accepts(value) != valid {
			t.Fatalf("%s: %s is valid: %v", text, written, valid)
		}
	})
}

// A schema that restricts more than names and types is left to the validator.
func TestSchemasThatAreMoreThanShapes(t *testing.T) {
	for _, text := range []string{
		`{"type":"string","pattern":"^a"}`, `{"enum":["a"]}`, `{"properties":{"a":{"minLength":3}}}`, `{"items":{"anyOf":[{"type":"string"}]}}`,
		`{"additionalProperties":{"const":1}}`, `{"type":"integer","minimum":1}`, `{"$ref":"#/x"}`, `{"patternProperties":{}}`,
	} {
		source, err := jsonx.Parse([]byte(text), jsonx.Limits{Trusted: true})
		if err != nil {
			t.Fatal(err)
		}
		if shapeOf(source) != nil {
			t.Errorf("%s passes for a shape", text)
		}
	}
}
