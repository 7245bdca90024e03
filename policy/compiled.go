package policy

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/urlx"
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
	// Verified is the digest of rules and lists as they were when they were
	// verified; empty when a person wrote them.
	Verified string `json:"verified,omitempty"`

	raw []byte // canonical bytes, for the hash
}

// CompiledServer says what a server's rules were compiled from.
type CompiledServer struct {
	Name      string `json:"serverName"`
	InputHash string `json:"inputHash"`
}

// SkippedServer is a server that has no rules, and why.
type SkippedServer struct {
	Name   string `json:"serverName"`
	Reason string `json:"reason"`
}

// Rule says what becomes of the calls that its condition describes.
type Rule struct {
	Name        string    `json:"name"`
	Description string    `json:"description"`
	Principle   string    `json:"principle"`
	If          Condition `json:"if"`
	Then        Decision  `json:"then"`
	Reason      string    `json:"reason"`
}

// Condition holds when all of its members hold. At least one is set. A rule that allows
// must hold for all values of a role, those of its directory apart; one that asks or
// denies speaks of each value that matches, whatever stands beside it.
type Condition struct {
	Servers []string         `json:"server,omitempty"`
	Tools   []string         `json:"tool,omitempty"`
	Roles   []Role           `json:"roles,omitempty"`
	Paths   *PathCondition   `json:"paths,omitempty"`
	Domains *DomainCondition `json:"domains,omitempty"`
	Lists   []ListCondition  `json:"lists,omitempty"`
}

// PathCondition holds for the paths of the roles that lie within a directory.
type PathCondition struct {
	Roles  []Role `json:"roles"`
	Within string `json:"within"` // absolute, "~" or "~/…"
}

// DomainCondition holds for URLs of the roles whose domain matches.
type DomainCondition struct {
	Roles   []Role   `json:"roles"`
	Allowed []string `json:"allowed"`
}

// ListCondition holds for values of the roles that are on the list.
type ListCondition struct {
	Roles   []Role   `json:"roles"`
	Allowed []string `json:"allowed"`
	Match   string   `json:"matchType"` // "domains", "emails" or "identifiers"
}

// ListDefinition declares a dynamic list that rules refer to as @name.
type ListDefinition struct {
	Name      string `json:"name"`
	Type      string `json:"type"` // as ListCondition.Match
	Principle string `json:"principle"`
	// Prompt says which values belong on the list, for whoever looks them up.
	Prompt      string `json:"generationPrompt"`
	RequiresMCP bool   `json:"requiresMcp,omitempty"` // only a tool could tell the values
}

var (
	ruleName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$`)
	listName = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
)

// LoadCompiled reads a compiled policy and refuses it, naming file, line and
// place, unless every part of it is understood.
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
	rules := top.required("rules")
	rules.each(func(n *node) { c.Rules = append(c.Rules, readRule(n)) })
	top.done()
	if d.err == nil {
		checkReferences(rules, c)
	}
	if verified != nil && d.err == nil {
		if c.Verified = verified.str(); c.Verified != c.Digest() {
			verified.fail("the rules or lists are not those that were verified; compile them again, or remove this member to answer for them yourself")
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
		n.fail("list name %q is not of the form a-z, 0-9 and hyphens", def.Name)
	}
	matchType(n.optional("type"), def.Type)
	def.Principle = n.optional("principle").str()
	def.Prompt = n.optional("generationPrompt").str()
	def.RequiresMCP = n.optional("requiresMcp").truth()
	n.optional("mcpServerHint").str()
	n.done()
	return def
}

func matchType(n *node, s string) {
	if n != nil && s != "domains" && s != "emails" && s != "identifiers" {
		n.fail("unknown list type %q", s)
	}
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

func readCondition(n *node) Condition {
	if n.doc.err != nil || !n.object() {
		return Condition{}
	}
	if len(n.value.Members) == 0 {
		n.fail("the rule has no condition")
		return Condition{}
	}
	var c Condition
	c.Servers = n.optional("server").names()
	c.Tools = n.optional("tool").names()
	c.Roles = n.optional("roles").someRoles()
	if p := n.optional("paths"); p != nil && p.object() {
		c.Paths = &PathCondition{Roles: p.required("roles").someRoles(), Within: p.required("within").str()}
		checkCategory(p, c.Paths.Roles, Role.IsPath, "is not a path role")
		checkWithin(p.optional("within"), c.Paths.Within)
		p.done()
	}
	if p := n.optional("domains"); p != nil && p.object() {
		c.Domains = &DomainCondition{Roles: p.required("roles").someRoles(), Allowed: p.required("allowed").strings()}
		checkPatterns(p.optional("allowed"))
		p.done()
	}
	lists := n.optional("lists")
	if lists != nil && lists.value.Kind == jsonx.Array && len(lists.value.Items) == 0 {
		lists.fail("the list is empty")
	}
	lists.each(func(p *node) {
		if p.object() {
			l := ListCondition{
				Roles: p.required("roles").someRoles(), Allowed: p.required("allowed").strings(),
				Match: p.required("matchType").str(),
			}
			matchType(p.optional("matchType"), l.Match)
			if l.Match == "domains" {
				checkPatterns(p.optional("allowed"))
			}
			c.Lists = append(c.Lists, l)
			p.done()
		}
	})
	n.done()
	return c
}

func checkCategory(n *node, list []Role, ok func(Role) bool, complaint string) {
	for _, r := range list {
		if !ok(r) {
			n.fail("role %q %s", string(r), complaint)
		}
	}
}

func checkWithin(n *node, within string) {
	if n == nil || n.doc.err != nil {
		return
	}
	if within != "~" && !strings.HasPrefix(within, "~/") && !strings.HasPrefix(within, "/") {
		n.fail("%q is neither absolute nor below ~", within)
	}
	if slices.Contains(strings.Split(within, "/"), "..") {
		n.fail("%q contains \"..\"", within)
	}
	if strings.ContainsFunc(within, func(c rune) bool { return c < ' ' || c == 0x7f || c == '*' }) {
		n.fail("%q contains \"*\" or a control character; a directory is named as it is", within)
	}
}

func checkPatterns(n *node) {
	if n == nil {
		return
	}
	n.each(func(c *node) {
		if s := c.str(); !strings.HasPrefix(s, "@") {
			if _, err := urlx.ParsePattern(s); err != nil {
				c.fail("%q is not a domain pattern: %w", s, err)
			}
		}
	})
}

// checkReferences refuses rules that refer to lists which are not declared or
// are of another type.
func checkReferences(rules *node, c *Compiled) {
	types := map[string]string{}
	for _, def := range c.Lists {
		types[def.Name] = def.Type
	}
	check := func(i int, place, match string, allowed []string) {
		for _, a := range allowed {
			name, isRef := strings.CutPrefix(a, "@")
			if !isRef {
				continue
			}
			at := rules.child("["+strconv.Itoa(i)+"]", rules.value.Items[i])
			at.place += "." + place
			switch t, ok := types[name]; {
			case !ok:
				at.fail("list %q is not defined", a)
			case t != match:
				at.fail("list %q holds %s, not %s", a, t, match)
			}
		}
	}
	for i, r := range c.Rules {
		if r.If.Domains != nil {
			check(i, "if.domains.allowed", "domains", r.If.Domains.Allowed)
		}
		for _, l := range r.If.Lists {
			check(i, "if.lists", l.Match, l.Allowed)
		}
	}
}
