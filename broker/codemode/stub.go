package codemode

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// stubOf returns the declaration of a tool as a function of TypeScript.
func stubOf(name string, t Tool) string {
	comment := ""
	if about := firstSentence(t.Description); about != "" {
		comment = "/** " + about + " */ "
	}
	arguments, required := parameters(t.Input)
	result := "unknown"
	if len(t.Output) > 0 {
		result = typeOf(t.Output)
	}
	if len(arguments) > maxStub {
		arguments, required = "{}", false
	}
	if len(result) > maxStub {
		result = "unknown"
	}
	optional := "?"
	if required {
		optional = ""
	}
	return comment + "function " + name + "(args" + optional + ": " + arguments + "): Promise<" + result + ">;"
}

// parameters returns the type of a tool's arguments, and whether there have to be any.
func parameters(schema []byte) (text string, required bool) {
	v, err := jsonx.Parse(schema, jsonx.Limits{Trusted: true, Depth: 64})
	if err != nil {
		return "{}", false
	}
	r := reader{root: v}
	needed, _ := v.Member("required")
	return r.of(v, 0), len(needed.Items) > 0
}

// typeOf returns the TypeScript type of what a JSON Schema describes; "unknown" where it
// describes too little.
func typeOf(schema []byte) string {
	v, err := jsonx.Parse(schema, jsonx.Limits{Trusted: true, Depth: 64})
	if err != nil {
		return "unknown"
	}
	r := reader{root: v}
	return r.of(v, 0)
}

// reader reads one schema.
type reader struct {
	root jsonx.Value
	read int // how many schemas were read
}

// Bounds of what is read of a schema.
const (
	maxDepth   = 8
	maxSchemas = 400
	maxEnum    = 24
)

func (r *reader) of(v jsonx.Value, depth int) string {
	r.read++
	if v.Kind != jsonx.Object || depth > maxDepth || r.read > maxSchemas {
		return "unknown"
	}
	if ref, ok := v.Member("$ref"); ok {
		return r.of(r.target(ref.Text), depth+1)
	}
	if constant, ok := v.Member("const"); ok {
		return literal(constant)
	}
	if enum, ok := v.Member("enum"); ok && len(enum.Items) > 0 && len(enum.Items) <= maxEnum {
		return union(enum.Items, literal)
	}
	for _, name := range []string{"anyOf", "oneOf"} {
		if several, ok := v.Member(name); ok && len(several.Items) > 0 {
			return union(several.Items, func(one jsonx.Value) string { return r.of(one, depth+1) })
		}
	}
	kind, _ := v.Member("type")
	if kind.Kind == jsonx.Array && len(kind.Items) > 0 {
		return union(kind.Items, func(one jsonx.Value) string { return r.named(one.Text, v, depth) })
	}
	return r.named(kind.Text, v, depth)
}

// target is the schema that a reference inside the document names.
func (r *reader) target(ref string) jsonx.Value {
	v := r.root
	path, inside := strings.CutPrefix(ref, "#/")
	if !inside {
		return jsonx.Value{}
	}
	for name := range strings.SplitSeq(path, "/") {
		v, _ = v.Member(name)
	}
	return v
}

// named returns the type of a schema whose "type" is kind.
func (r *reader) named(kind string, v jsonx.Value, depth int) string {
	switch kind {
	case "string", "boolean", "null":
		return kind
	case "number", "integer":
		return "number"
	case "array":
		items, _ := v.Member("items")
		item := r.of(items, depth+1)
		if strings.Contains(item, "|") {
			item = "(" + item + ")"
		}
		return item + "[]"
	case "object", "":
		if properties, ok := v.Member("properties"); ok && len(properties.Members) > 0 {
			return r.object(v, properties, depth)
		}
		if kind == "" {
			return "unknown"
		}
		if more, ok := v.Member("additionalProperties"); ok && more.Kind == jsonx.Object {
			return "Record<string, " + r.of(more, depth+1) + ">"
		}
		if more, ok := v.Member("additionalProperties"); ok && more.Kind == jsonx.Bool && !more.Truth || depth == 0 {
			return "{}"
		}
		return "Record<string, unknown>"
	}
	return "unknown"
}

func (r *reader) object(v, properties jsonx.Value, depth int) string {
	required, _ := v.Member("required")
	var parts []string
	for _, p := range properties.Members {
		optional := "?"
		if slices.ContainsFunc(required.Items, func(name jsonx.Value) bool { return name.Text == p.Name }) {
			optional = ""
		}
		parts = append(parts, propertyName(p.Name)+optional+": "+r.of(p.Value, depth+1))
	}
	return "{" + strings.Join(parts, "; ") + "}"
}

var plainName = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

func propertyName(name string) string {
	if plainName.MatchString(name) {
		return name
	}
	return literal(jsonx.Text(name))
}

// literal is the type that has one value.
func literal(v jsonx.Value) string {
	switch v.Kind {
	case jsonx.String, jsonx.Number, jsonx.Bool, jsonx.Null:
		return strings.ReplaceAll(string(v.Encode()), "*/", `*\/`)
	case jsonx.Array, jsonx.Object:
	}
	return "unknown"
}

// union joins the types of several schemas, each once.
func union(all []jsonx.Value, of func(jsonx.Value) string) string {
	var types []string
	for _, one := range all {
		if t := of(one); !slices.Contains(types, t) {
			types = append(types, t)
		}
	}
	if slices.Contains(types, "unknown") {
		return "unknown"
	}
	return strings.Join(types, " | ")
}
