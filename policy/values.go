package policy

import (
	"fmt"
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// values returns what the call names: every element of a role that rules judge.
func (f *facts) values() []Value {
	var out []Value
	for i := range f.elements {
		el := &f.elements[i]
		if !el.role.Judged() {
			continue
		}
		v := Value{Argument: el.argument, Role: el.role, Text: el.text, Sandbox: el.path && el.sandbox}
		if el.target != nil {
			v.Origin = fmt.Sprintf("%s://%s:%d", el.target.Scheme, el.target.Host, el.target.Port)
		}
		out = append(out, v)
	}
	return out
}

// contacts returns what the call does at the remotes among its values.
func (f *facts) contacts(values []Value) Contact {
	named := slices.ContainsFunc(values, func(v Value) bool { return v.Role == GitRemote })
	switch {
	case !named || f.tool.can(configures):
		return ""
	case f.tool.can(pushes):
		return Pushes
	}
	return Fetches
}

// modeNames are arguments that choose what a tool does, even if their schema declares a
// plain string.
var modeNames = []string{
	"mode", "type", "action", "operation", "op", "command", "cmd", "method", "kind", "strategy", "format",
	"script", "code", "query", "sql", "shell", "args", "arguments", "options", "flags", "env",
}

// prose returns the arguments of the call that are only text. These have no role that is
// judged or checked, are no flag, number or enumeration, and have no name in modeNames.
func (f *facts) prose() []string {
	var out []string
	for _, m := range f.args.Members {
		arg, ok := f.tool.args[m.Name]
		if !ok || slices.Contains(modeNames, m.Name) || !f.tool.schema.Textual(m.Name) {
			continue
		}
		if m.Value.Kind != jsonx.String && m.Value.Kind != jsonx.Array {
			continue
		}
		roles := arg.resolve(f.args, f.tool.schema)
		if !slices.ContainsFunc(roles, func(r Role) bool { return r != CommitMessage && r != EmailBody }) {
			out = append(out, m.Name)
		}
	}
	return out
}

// maxShown bounds a value in a trace or reason, in bytes.
const maxShown = 4096

// sanitize makes a value fit to be shown in a trace or reason.
func sanitize(s string) string { return text.Readable(s, maxShown) }
