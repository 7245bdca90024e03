package compile

import (
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// schemaOf returns a tool's input schema, null when there is none.
func schemaOf(t policy.ToolDescription) jsonx.Value {
	if t.Schema == nil {
		return jsonx.Value{}
	}
	v, err := jsonx.Parse(t.Schema, jsonx.Limits{Trusted: true})
	if err != nil {
		return jsonx.Value{}
	}
	return v
}

// member follows names into an object. It returns null when a name is missing.
func member(v jsonx.Value, names ...string) jsonx.Value {
	for _, name := range names {
		v, _ = v.Member(name)
	}
	return v
}

// harmless returns a value of a role that does no harm in a sampled call.
func harmless(role policy.Role) string {
	switch {
	case role.IsPath():
		return "/workspace/README.md"
	case role.IsURL():
		return "https://example.com/"
	case role == policy.EmailAddress:
		return "somebody@example.com"
	}
	return "x"
}

// sample makes a call of a tool in which the arguments of one role have the given value.
// The other arguments are only those that the schema requires, with minimal values.
func sample(server string, t policy.ToolDescription, schema jsonx.Value, role policy.Role, value string) policy.Call {
	args := jsonx.Value{Kind: jsonx.Object}
	for _, a := range t.Arguments {
		property := member(schema, "properties", a.Name)
		switch {
		case slices.Contains(a.Roles, role):
			args = args.With(a.Name, least(property, value))
		case a.Required:
			text := "x"
			for _, r := range a.Roles {
				text = harmless(r)
			}
			args = args.With(a.Name, least(property, text))
		}
	}
	return policy.Call{Server: server, Tool: t.Name, Arguments: args.Encode()}
}

// least returns a minimal value that fits a schema, with text for its strings.
func least(schema jsonx.Value, text string) jsonx.Value {
	if enum, _ := schema.Member("enum"); len(enum.Items) > 0 {
		return enum.Items[0]
	}
	kind, _ := schema.Member("type")
	if kind.Kind == jsonx.Array && len(kind.Items) > 0 {
		kind = kind.Items[0]
	}
	switch kind.Text {
	case "number", "integer":
		if low, ok := schema.Member("minimum"); ok {
			return low
		}
		return jsonx.Value{Kind: jsonx.Number, Text: "1"}
	case "boolean":
		return jsonx.Value{Kind: jsonx.Bool}
	case "array":
		items, _ := schema.Member("items")
		return jsonx.Value{Kind: jsonx.Array, Items: []jsonx.Value{least(items, text)}}
	case "object":
		out := jsonx.Value{Kind: jsonx.Object}
		required, _ := schema.Member("required")
		for _, name := range required.Items {
			property := member(schema, "properties", name.Text)
			out = out.With(name.Text, least(property, text))
		}
		return out
	}
	return jsonx.Text(text)
}

// gridValues are the values in sampled calls, by kind of role.
var gridValues = struct{ paths, urls []string }{
	[]string{"/workspace/README.md", "~/Documents/report.txt", "~/Downloads/archive.zip", "~/Desktop/note.txt", "/etc/hosts", "/tmp/file"},
	[]string{"https://example.com/", "https://github.com/example/project.git", "http://example.com/"},
}

// Grid makes calls of every tool of a server with paths and addresses of every kind. Two
// policies can be compared by their verdicts on these calls.
func Grid(server string, tools []policy.ToolDescription) []policy.Call {
	var out []policy.Call
	for _, t := range tools {
		roles, schema := judgedRoles(t), schemaOf(t)
		if len(roles) == 0 {
			out = append(out, sample(server, t, schema, "", ""))
		}
		seen := map[string]bool{}
		for _, role := range roles {
			values := []string{harmless(role)}
			switch {
			case role.IsPath():
				values = gridValues.paths
			case role.IsURL():
				values = gridValues.urls
			}
			for _, v := range values {
				c := sample(server, t, schema, role, v)
				if !seen[string(c.Arguments)] {
					seen[string(c.Arguments)] = true
					out = append(out, c)
				}
			}
		}
	}
	return out
}
