package policy

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// Visible reports whether any call of a tool can be allowed or escalated. A tool that is
// not visible should not be offered to the agent.
func (e *Engine) Visible(server, tool string) bool {
	if slices.ContainsFunc(e.narrowings, func(n *Engine) bool { return !n.Visible(server, tool) }) {
		return false
	}
	t := e.collector.tool(server, tool)
	if t != nil && t.unknown {
		return true
	}
	if t == nil || (t.schema != nil && t.schema.Compile() != nil) {
		return false
	}
	if t.asks {
		return true
	}
	judged := false
	for name, arg := range t.args {
		for _, r := range arg.roles {
			if !r.Judged() {
				continue
			}
			judged = true
			certain := len(arg.cases) == 0 && (t.schema.Required(name) || !r.IsPath())
			if certain && !t.mayPass(r) {
				return false
			}
		}
	}
	return judged || t.mayPass("") || (server == "filesystem" && tool == "list_allowed_directories")
}

// mayPass reports whether the sandbox or a rule could allow or escalate a role.
func (t *tool) mayPass(role Role) bool {
	if role.IsPath() && t.traits.SandboxFiles {
		return true
	}
	for _, r := range t.rules {
		if r.then != Deny && (role == "" || r.takesPart(role)) {
			return true
		}
	}
	return false
}

// SchemaMatches compares the input schema that a server offers now with the one that the
// tool was annotated by. It returns an error when they do not define the same arguments,
// or when the tool is not annotated.
func (e *Engine) SchemaMatches(server, tool string, live []byte) error {
	t := e.collector.tool(server, tool)
	if t == nil {
		return fmt.Errorf("policy: tool %q of server %q is not annotated", tool, server)
	}
	if t.unknown {
		return nil // there is nothing to compare with
	}
	v, err := jsonx.Parse(live, fileLimits)
	if err != nil {
		return fmt.Errorf("policy: input schema of %s/%s: %w", sanitize(server), sanitize(tool), err)
	}
	if t.schema == nil {
		if name, found := t.unannotated(v); found {
			return fmt.Errorf("policy: the input schema of %s/%s has an argument %q that is not annotated", sanitize(server), sanitize(tool), sanitize(name))
		}
		return nil // the annotation has no schema to compare with
	}
	if !t.schema.Defines(v) {
		return fmt.Errorf("policy: the input schema of %s/%s is not the one it was annotated by", sanitize(server), sanitize(tool))
	}
	return nil
}

// unannotated returns the name of an argument that the live schema defines and the
// annotation does not name.
func (t *tool) unannotated(live jsonx.Value) (name string, found bool) {
	properties, _ := live.Member("properties")
	for _, p := range properties.Members {
		if _, ok := t.args[p.Name]; !ok {
			return p.Name, true
		}
	}
	return "", false
}

// Sandbox returns the resolved sandbox directory.
func (e *Engine) Sandbox() string { return e.collector.paths.Base }

// ToContainer replaces the sandbox's host path by its mount point in a text from a server,
// wherever the host path is a whole path or the beginning of one.
func (e *Engine) ToContainer(text string) string {
	if e.collector.paths.Mount == "" || e.collector.paths.Base == "" || e.collector.paths.Base == "/" {
		return text
	}
	text = replacePath(text, e.collector.paths.Base, e.collector.paths.Mount)
	if inURL := (&url.URL{Path: e.collector.paths.Base}).EscapedPath(); inURL != e.collector.paths.Base {
		text = replacePath(text, inURL, e.collector.paths.Mount)
	}
	if raw := strings.TrimRight(e.config.Sandbox, "/"); raw != "" && raw != e.collector.paths.Base {
		text = replacePath(text, raw, e.collector.paths.Mount)
	}
	return text
}

// replacePath replaces a path wherever the text after it cannot continue a file name.
func replacePath(text, from, to string) string {
	var b strings.Builder
	for {
		i := strings.Index(text, from)
		if i < 0 {
			b.WriteString(text)
			return b.String()
		}
		end := i + len(from)
		b.WriteString(text[:i])
		if continuesName(text[end:]) {
			b.WriteString(from)
		} else {
			b.WriteString(to)
		}
		text = text[end:]
	}
}

// continuesName reports whether the beginning of a text could still be part of a file
// name. A dot could, unless it ends a sentence.
func continuesName(rest string) bool {
	if rest == "" {
		return false
	}
	return nameByte(rest[0]) || (rest[0] == '.' && len(rest) > 1 && nameByte(rest[1]))
}

func nameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c >= 0x80
}

// Changed says how a tool differs from the one that was annotated: in its description or its
// input schema. It is empty if the tool is the same, if it was never annotated, or if its
// annotation does not say what it was.
func (e *Engine) Changed(server string, d Definition) string {
	t := e.collector.tool(server, d.Name)
	if t == nil || t.unknown {
		return ""
	}
	var all []string
	if t.description != nil && *t.description != d.Description {
		was, is := fromDifference(*t.description, d.Description)
		all = append(all, describe("its description was %q and is %q now", was, is))
	}
	if t.schema != nil {
		if v, err := jsonx.Parse(d.InputSchema, fileLimits); err != nil || !t.schema.Defines(v) {
			all = append(all, "its input schema is different")
		}
	}
	return strings.Join(all, "; ")
}

// fromDifference returns two texts without most of what both begin with.
func fromDifference(a, b string) (string, string) {
	const kept, shown = 20, 100
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	cut := func(s string) string {
		s = strings.ToValidUTF8(s[max(same-kept, 0):], "")
		if same > kept {
			s = "…" + s
		}
		return text.Clip(s, shown)
	}
	return cut(a), cut(b)
}
