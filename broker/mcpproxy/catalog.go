package mcpproxy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/codemode"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// maxName is the longest tool name that every agent's provider accepts.
const maxName = 64

// tool is a tool as its server defines it.
type tool struct {
	server      string
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Annotations json.RawMessage `json:"annotations"`
	// Output is the schema of its structured results. Only programs need it, and it is no part of
	// the fingerprint.
	Output json.RawMessage `json:"outputSchema"`
}

// fingerprint is a hash of a tool's whole definition.
func (t tool) fingerprint() string {
	h := sha256.New()
	for _, part := range []string{t.server, t.Name, t.Title, t.Description, string(t.InputSchema), string(t.Annotations)} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// same reports whether two definitions are equal.
func (t tool) same(other tool) bool {
	return t.fingerprint() == other.fingerprint() && bytes.Equal(t.Output, other.Output)
}

// target is the server and the tool that an offered name stands for.
type target struct{ server, tool string }

// catalog is the list of tools that the agent is offered. It is immutable.
type catalog struct {
	offered []offeredTool
	byName  map[string]target
	pins    map[target]string // first seen definition of every tool
	hidden  map[target]string // why a tool is not offered
	changed map[target]string // how a tool differs from the one that was annotated; each call of it is escalated
	list    json.RawMessage   // the result of tools/list

	programs *codemode.Toolset // what programs can call; nil: there are none
}

// offeredTool is a tool as the agent sees it.
type offeredTool struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Annotations json.RawMessage `json:"annotations,omitempty"`
	output      json.RawMessage
}

// Definitions are the tools of a server as it defines them, whether an agent is
// offered them or not.
func (p *Proxy) Definitions(server string) []policy.Definition {
	b := p.backend(server)
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make([]policy.Definition, 0, len(b.tools))
	for _, t := range b.tools {
		all = append(all, policy.Definition{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema})
	}
	return all
}

func newCatalog(pins map[target]string) *catalog {
	if pins == nil {
		pins = map[target]string{}
	}
	return &catalog{
		byName: map[string]target{}, pins: pins, hidden: map[target]string{}, changed: map[target]string{},
		list: json.RawMessage(`{"tools":[]}`),
	}
}

// rebuild makes the catalog from the servers' present tools, and notifies the agents when
// it has changed.
func (p *Proxy) rebuild() {
	p.relist.Lock()
	defer p.relist.Unlock()
	before := p.catalog.Load()
	c := newCatalog(before.pins)
	for _, b := range p.servers() {
		b.mu.Lock()
		tools, off := b.tools, b.off
		b.mu.Unlock()
		for _, t := range tools {
			if off {
				c.hidden[target{t.server, t.Name}] = "the person has turned the server off"
				continue
			}
			p.offer(c, t)
		}
	}
	p.offerBuiltins(c)
	slices.SortFunc(c.offered, func(a, b offeredTool) int { return strings.Compare(a.Name, b.Name) })
	if list, err := encode(map[string]any{"tools": append([]offeredTool{}, p.offerPrograms(c)...)}); err == nil {
		c.list = list
	}
	p.catalog.Store(c)
	if string(before.list) == string(c.list) {
		return
	}
	p.mu.Lock()
	open := make([]*agentConn, 0, len(p.connections))
	for cn := range p.connections {
		open = append(open, cn)
	}
	p.mu.Unlock()
	for _, cn := range open {
		cn.toolsChanged()
	}
}

// offer adds a tool to a catalog, or notes why the tool is not offered.
func (p *Proxy) offer(c *catalog, t tool) {
	key := target{t.server, t.Name}
	if reason := p.unfit(c, key, t); reason != "" {
		c.hidden[key] = reason
		return
	}
	name := exposedName(t.server, t.Name)
	if other, taken := c.byName[name]; taken {
		c.hidden[key] = fmt.Sprintf("its name is that of %s/%s", other.server, other.tool)
		return
	}
	c.byName[name] = key
	c.offered = append(c.offered, offeredTool{
		Name: name, Title: t.Title, Description: t.Description, InputSchema: t.InputSchema, Annotations: t.Annotations, output: t.Output,
	})
}

// unfit returns why a tool is not offered, or "".
func (p *Proxy) unfit(c *catalog, key target, t tool) string {
	if t.Name == "" || len(t.Name) > 256 || len(t.Description) > 64<<10 || len(t.InputSchema) > 256<<10 {
		return "its definition is too large or has no name"
	}
	if !isObject(t.InputSchema) {
		return "its input schema is not an object"
	}
	if len(t.Annotations) > 0 && !isObject(t.Annotations) {
		return "its annotations are not an object"
	}
	pin, known := c.pins[key]
	if !known {
		c.pins[key] = t.fingerprint()
	} else if pin != t.fingerprint() {
		return "its definition changed since it was first seen"
	}
	engine := p.engine()
	if !engine.Visible(key.server, key.tool) {
		return "the policy denies every call of it"
	}
	if b := p.backend(key.server); b != nil && b.spec.Own {
		if how := engine.Changed(key.server, policy.Definition{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema}); how != "" {
			c.changed[key] = how
		}
		return ""
	}
	if !bare(t.InputSchema) {
		if err := engine.SchemaMatches(key.server, key.tool, t.InputSchema); err != nil {
			return err.Error()
		}
	}
	return ""
}

// bare reports whether a schema says nothing about the arguments. Such a schema cannot
// contradict the annotated one, with which calls are compared.
func bare(schema json.RawMessage) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal(schema, &members) != nil {
		return false
	}
	for name, v := range members {
		switch name {
		case "type", "$schema":
		case "properties":
			if string(v) != "{}" {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func isObject(raw json.RawMessage) bool {
	var members map[string]json.RawMessage
	return json.Unmarshal(raw, &members) == nil && members != nil
}

var unusual = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// exposedName returns the agent's name of a tool: server__tool, with the characters and the
// length that all providers accept. A name that had to be changed gets a part of its hash,
// so that different tools keep different names.
func exposedName(server, tool string) string {
	plain := server + "__" + tool
	name := unusual.ReplaceAllString(plain, "_")
	if name == plain && len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(plain))
	mark := "_" + hex.EncodeToString(sum[:4])
	return name[:min(len(name), maxName-len(mark))] + mark
}

// resolve returns the tool that a name stands for. For a name that is not offered, it
// splits the name for the record only.
func (c *catalog) resolve(name string) (target, bool) {
	if t, ok := c.byName[name]; ok {
		return t, true
	}
	server, tool, found := strings.Cut(name, "__")
	if !found {
		return target{tool: name}, false
	}
	return target{server, tool}, false
}
