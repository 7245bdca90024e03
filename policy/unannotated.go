package policy

import (
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// unannotated returns a tool that nobody has annotated. No rule can cover it, so a person
// decides every call.
func unannotated(key toolKey) *tool {
	return &tool{annotation: &annotation{key: key, behavior: &Behavior{}}, unknown: true}
}

// tool returns a tool that calls can name, or nil.
func (c *collector) tool(server, name string) *tool {
	key := toolKey{server, name}
	if t := c.tools[key]; t != nil {
		return t
	}
	if c.asking[server] && name != "" {
		return unannotated(key)
	}
	return nil
}

// unannotatedCall reads the arguments of a call to an unannotated tool. It refuses a call
// with a text that is the path of a protected file. That cannot find every way to name such
// a file; the server's sandbox keeps it from the rest.
func (p *preparation) unannotatedCall(raw []byte) error {
	p.args = jsonx.Value{Kind: jsonx.Object}
	if len(raw) > 0 {
		var err error
		if p.args, err = jsonx.Parse(raw, p.limits); err != nil {
			return &refusal{rule: RuleInvalidArguments, reason: "the arguments are refused: " + err.Error()}
		}
	}
	if p.args.Kind != jsonx.Object {
		return &refusal{rule: RuleInvalidArguments, reason: "the arguments are not an object"}
	}
	looked := 0
	return p.protectedTexts("", p.args, &looked)
}

// longestPath is the length of the longest path that a program can open, in bytes.
const longestPath = 4096

// protectedTexts refuses protected paths in a value. It counts the texts that it looks up.
func (p *preparation) protectedTexts(argument string, v jsonx.Value, looked *int) error {
	if v.Kind == jsonx.String && len(v.Text) <= longestPath && (strings.HasPrefix(v.Text, "/") || strings.HasPrefix(v.Text, "~/")) {
		if *looked++; *looked > maxElements {
			return p.refuse(RuleInvalidArguments, argument, ReadPath, "", "the call names too many files")
		}
		if r, err := p.view.Resolve(v.Text); err == nil { // otherwise the text is not a path
			return p.checkProtected(argument, ReadPath, r, itself)
		}
	}
	for _, item := range v.Items {
		if err := p.protectedTexts(argument, item, looked); err != nil {
			return err
		}
	}
	for _, m := range v.Members {
		if err := p.protectedTexts(m.Name, m.Value, looked); err != nil {
			return err
		}
	}
	return nil
}
