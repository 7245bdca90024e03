package policy

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// Compiled is a compiled policy: an ordered list of rules.
type Compiled struct {
	GeneratedAt      string           `json:"generatedAt"`
	ConstitutionHash string           `json:"constitutionHash"`
	InputHash        string           `json:"inputHash"`
	Servers          []CompiledServer `json:"servers,omitempty"`
	Skipped          []SkippedServer  `json:"skippedServers,omitempty"`
	Rules            []Rule           `json:"rules"`
	Lists            []ListDefinition `json:"listDefinitions,omitempty"`
	// Verified is the digest of the rules and lists that were verified. It is empty when
	// a person wrote them.
	Verified string `json:"verified,omitempty"`

	raw []byte // canonical bytes, for the hash
}

// CompiledServer says what a server's rules were compiled from.
type CompiledServer struct {
	Name      string `json:"serverName"`
	InputHash string `json:"inputHash"`
}

// SkippedServer is a server without rules, and the reason why it has none.
type SkippedServer struct {
	Name   string `json:"serverName"`
	Reason string `json:"reason"`
}

// Rule gives the decision for the calls that its condition describes.
type Rule struct {
	Name        string    `json:"name"`
	Description string    `json:"description"`
	Principle   string    `json:"principle"`
	If          Condition `json:"if"`
	Then        Decision  `json:"then"`
	Reason      string    `json:"reason"`
}

// ListDefinition declares a dynamic list that rules refer to as @name.
type ListDefinition struct {
	Name      string `json:"name"`
	Type      string `json:"type"` // as ListCondition.Match
	Principle string `json:"principle"`
	// Prompt says which values belong on the list. It is for the model or person who
	// looks the values up.
	Prompt      string `json:"generationPrompt"`
	RequiresMCP bool   `json:"requiresMcp,omitempty"` // only a tool could look the values up
}

var (
	ruleName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	listName = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
)

// maxName is how long the name of a rule may be, in bytes. It is not part of ruleName,
// because a counted repetition would make that expression slow to compile at every start.
const maxName = 200

// LoadCompiled reads a compiled policy strictly. It fails on anything that it does not
// know, and the error names file, line and place.
func LoadCompiled(file string) (*Compiled, error) {
	return load(file, compiledFrom)
}

// ParseCompiled is LoadCompiled for bytes; name stands for the file in errors.
func ParseCompiled(name string, data []byte) (*Compiled, error) {
	return parse(name, data, compiledFrom)
}

func compiledFrom(d *document) (*Compiled, error) {
	top := d.top()
	if !top.object() {
		return nil, d.problem()
	}
	c := &Compiled{
		GeneratedAt:      top.optional("generatedAt").str(),
		ConstitutionHash: top.optional("constitutionHash").str(),
		InputHash:        top.optional("inputHash").str(),
		raw:              d.root.Encode(),
	}
	top.optional("serverName").str()
	top.optional("servers").each(func(n *node) {
		if n.object() {
			c.Servers = append(c.Servers, CompiledServer{n.required("serverName").str(), n.required("inputHash").str()})
			n.done()
		}
	})
	top.optional("skippedServers").each(func(n *node) {
		if n.object() {
			c.Skipped = append(c.Skipped, SkippedServer{n.required("serverName").str(), n.optional("reason").str()})
			n.done()
		}
	})
	top.optional("listDefinitions").each(func(n *node) {
		def := listDefinition(n)
		if slices.ContainsFunc(c.Lists, func(other ListDefinition) bool { return other.Name == def.Name }) {
			n.fail("list %q is defined twice", def.Name)
		}
		c.Lists = append(c.Lists, def)
	})
	verified := top.optional("verified")
	top.required("rules").each(func(n *node) {
		d.rule = n
		c.Rules = append(c.Rules, readRule(n))
	})
	top.done()
	if d.err == nil {
		c.checkReferences(d)
	}
	if verified != nil && d.err == nil {
		if c.Verified = verified.str(); c.Verified != c.Digest() {
			verified.fail("the rules or lists are not those that were verified; compile them again, or remove this member to take responsibility for them yourself")
		}
	}
	if err := d.problem(); err != nil {
		return nil, err
	}
	return c, nil
}

func listDefinition(n *node) ListDefinition {
	if !n.object() {
		return ListDefinition{}
	}
	def := ListDefinition{Name: n.required("name").str(), Type: n.required("type").str()}
	if !listName.MatchString(def.Name) {
		n.fail("list name %q must begin with a-z and have only a-z, 0-9 and hyphens", def.Name)
	}
	matchType(n.optional("type"), def.Type)
	def.Principle = n.optional("principle").str()
	def.Prompt = n.optional("generationPrompt").str()
	def.RequiresMCP = n.optional("requiresMcp").truth()
	n.optional("mcpServerHint").str()
	n.done()
	return def
}

func readRule(n *node) Rule {
	if !n.object() {
		return Rule{}
	}
	r := Rule{
		Name:        n.required("name").str(),
		Description: n.optional("description").str(),
		Principle:   n.optional("principle").str(),
		Then:        Decision(n.required("then").str()),
		Reason:      n.optional("reason").str(),
	}
	if n.doc.err == nil && len(r.Name) > maxName {
		n.optional("name").fail("rule name is longer than %d bytes", maxName)
	}
	if n.doc.err == nil && !ruleName.MatchString(r.Name) {
		n.optional("name").fail("rule name %q is not made of letters, digits, hyphens, underscores and dots", r.Name)
	}
	if strings.HasPrefix(r.Name, "structural-") || r.Name == RuleDefault {
		n.optional("name").fail("rule name %q is reserved", r.Name)
	}
	if n.doc.err == nil && r.Then != Allow && r.Then != Escalate && r.Then != Deny {
		n.optional("then").fail("unknown decision %q", string(r.Then))
	}
	r.If = readCondition(n.required("if"))
	n.done()
	return r
}

// reference is a list that a rule uses.
type reference struct {
	rule  *node
	place string
	match string // the type that the list must have
	name  string // with its "@"
}

// refers records the lists that a predicate of the current rule uses.
func (n *node) refers(match string, allowed []string) {
	for _, a := range allowed {
		if strings.HasPrefix(a, "@") {
			n.doc.references = append(n.doc.references, reference{n.doc.rule, n.place, match, a})
		}
	}
}

// checkReferences refuses rules that use a list which is not defined or has another type.
func (c *Compiled) checkReferences(d *document) {
	for _, ref := range d.references {
		at := &node{doc: d, place: ref.place, value: ref.rule.value}
		i := slices.IndexFunc(c.Lists, func(def ListDefinition) bool { return "@"+def.Name == ref.name })
		switch {
		case i < 0:
			at.fail("list %q is not defined", ref.name)
		case c.Lists[i].Type != ref.match:
			at.fail("list %q contains %s, not %s", ref.name, c.Lists[i].Type, ref.match)
		}
	}
}

// Digest identifies the rules and the list definitions. The policy's other members, such
// as the time when it was generated, do not change it.
func (c *Compiled) Digest() string {
	rules, _ := json.Marshal(append([]Rule{}, c.Rules...)) // plain strings, so encoding cannot fail
	lists, _ := json.Marshal(append([]ListDefinition{}, c.Lists...))
	return digest(rules, lists)
}
