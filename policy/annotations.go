package policy

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/schema"
)

// Annotations give every argument of every tool its meaning.
type Annotations struct {
	tools    map[toolKey]*annotation
	order    []*annotation // in the order of the file
	servers  []string
	warnings []string
	raw      []byte
}

// toolKey names a tool. It is never joined into one string: a server "a" with
// a tool "b__c" is not a server "a__b" with a tool "c".
type toolKey struct{ server, tool string }

// annotation describes one tool.
type annotation struct {
	key      toolKey
	comment  string // unchanged from the file; sanitize it before it is shown
	args     map[string]argument
	schema   *schema.Schema // nil when the file has none
	behavior *Behavior      // nil when the file has none
	// description is the server's own when the tool was annotated; nil when the file has
	// none.
	description *string
	raw         []byte // as it was read, in canonical form
}

// argument says which roles an argument has. The first case whose condition is true
// narrows the roles. If there is no such case, all roles apply.
type argument struct {
	roles []Role // all roles; a case can only take some away
	cases []roleCase
}

type roleCase struct {
	arg   string // the argument that the condition looks at
	op    string // "equals", "in" or "is"
	value []jsonx.Value
	state string // of "is": present, absent, truthy, falsy
	roles []Role
}

// Warnings lists what was read but has no effect: schemas that cannot be used, then
// everything else, in the order of the file.
func (a *Annotations) Warnings() []string {
	var broken []string
	for _, t := range a.order {
		if t.schema == nil {
			continue
		}
		if err := t.schema.Compile(); err != nil {
			broken = append(broken, fmt.Sprintf("%s/%s: %v; calls of it are denied", t.key.server, t.key.tool, err))
		}
	}
	return append(broken, a.warnings...)
}

// With returns the annotations together with those of other servers. It fails if both
// annotate a tool.
func (a *Annotations) With(more *Annotations) (*Annotations, error) {
	for key := range more.tools {
		if a.tools[key] != nil {
			return nil, fmt.Errorf("tool %q of server %q is annotated twice", key.tool, key.server)
		}
	}
	both := &Annotations{
		tools: maps.Clone(a.tools), order: slices.Concat(a.order, more.order), servers: slices.Concat(a.servers, more.servers),
		warnings: slices.Concat(a.warnings, more.warnings), raw: slices.Concat(a.raw, more.raw),
	}
	maps.Copy(both.tools, more.tools)
	return both, nil
}

// LoadAnnotations reads tool-annotations.json strictly.
func LoadAnnotations(file string) (*Annotations, error) {
	return load(file, annotationsFrom)
}

// ParseAnnotations is LoadAnnotations for bytes; name stands for the file in
// errors.
func ParseAnnotations(name string, data []byte) (*Annotations, error) {
	return parse(name, data, annotationsFrom)
}

func annotationsFrom(d *document) (*Annotations, error) {
	a := &Annotations{tools: map[toolKey]*annotation{}, raw: d.root.Encode()}
	top := d.top()
	if !top.object() {
		return nil, d.problem()
	}
	top.optional("generatedAt").str()
	if servers := top.required("servers"); d.err == nil && servers.object() {
		for _, m := range servers.value.Members {
			a.servers = append(a.servers, m.Name)
			a.readServer(servers.child(m.Name, m.Value), m.Name)
		}
	}
	top.done()
	if err := d.problem(); err != nil {
		return nil, err
	}
	return a, nil
}

func (a *Annotations) readServer(n *node, server string) {
	if !n.object() {
		return
	}
	n.optional("inputHash").str()
	n.required("tools").each(func(c *node) { a.readTool(c, server) })
	n.done()
}

func (a *Annotations) readTool(n *node, server string) {
	if n.doc.err != nil || !n.object() {
		return
	}
	t := &annotation{key: toolKey{server, n.required("toolName").str()}, args: map[string]argument{}, raw: n.value.Encode()}
	if s := n.optional("serverName"); s != nil && s.str() != server {
		s.fail("the tool belongs to server %q but is listed under %q", s.value.Text, server)
	}
	t.comment = n.optional("comment").str()
	n.ignore("sideEffects")
	if d := n.optional("description"); d != nil {
		text := d.str()
		t.description = &text
	}
	if s := n.optional("inputSchema"); s != nil && s.object() {
		t.schema = schema.New(s.value)
	}
	if e := n.optional("behavior"); e != nil {
		t.behavior = readBehavior(e)
	}
	args := n.required("args")
	if n.doc.err == nil && args.object() {
		for _, m := range args.value.Members {
			t.args[m.Name] = a.readArgument(args.child(m.Name, m.Value), t, args)
		}
	}
	n.done()
	switch {
	case t.key.tool == "":
		n.fail("the tool has no name")
	case a.tools[t.key] != nil:
		n.fail("tool %q is annotated twice", t.key.tool)
	}
	a.tools[t.key] = t
	a.order = append(a.order, t)
}

// readArgument reads a plain list of roles or a conditional block.
func (a *Annotations) readArgument(n *node, t *annotation, siblings *node) argument {
	if n.value.Kind == jsonx.Array {
		arg := argument{roles: effective(n.roles())}
		if mixed(arg.roles) {
			n.fail("the roles need different canonical forms")
		}
		return arg
	}
	if !n.object() {
		return argument{}
	}
	arg := argument{roles: effective(n.required("default").roles())}
	if mixed(arg.roles) {
		n.fail("the roles need different canonical forms")
	}
	n.optional("when").each(func(c *node) {
		if !c.object() {
			return
		}
		rc := readCase(c, siblings)
		if n.doc.err != nil {
			return
		}
		if !subset(rc.roles, arg.roles) {
			c.fail("the case has a role that the default does not have; a case can only narrow")
			return
		}
		if why := rc.mayNarrow(t.schema, arg.roles); why != "" {
			a.warnings = append(a.warnings, fmt.Sprintf("%s/%s: %s has no effect: %s", t.key.server, t.key.tool, c.place, why))
			// The case stays in the list, but with all roles, so that a later case
			// does not apply to calls that this case was meant for.
			rc.roles = arg.roles
		}
		arg.cases = append(arg.cases, rc)
	})
	n.done()
	return arg
}

func readCase(c *node, siblings *node) roleCase {
	rc := roleCase{}
	if r := c.required("roles"); len(r.value.Items) > 0 {
		rc.roles = effective(r.roles())
	}
	cond := c.required("condition")
	if c.doc.err != nil || !cond.object() {
		return rc
	}
	rc.arg = cond.required("arg").str()
	if _, ok := siblings.value.Member(rc.arg); !ok {
		cond.fail("argument %q is not one of the tool's", rc.arg)
	}
	for _, op := range []string{"equals", "in", "is"} {
		v := cond.optional(op)
		if v == nil {
			continue
		}
		if rc.op != "" {
			cond.fail("the condition has more than one operator")
		}
		rc.op = op
		switch op {
		case "equals":
			rc.value = []jsonx.Value{scalar(v)}
		case "in":
			v.each(func(item *node) { rc.value = append(rc.value, scalar(item)) })
		case "is":
			rc.state = v.str()
			if !slices.Contains([]string{"present", "absent", "truthy", "falsy"}, rc.state) {
				v.fail("unknown state %q", rc.state)
			}
		}
	}
	if rc.op == "" {
		cond.fail("the condition has no operator")
	}
	cond.done()
	c.done()
	return rc
}

func scalar(n *node) jsonx.Value {
	if n.value.Kind == jsonx.Array || n.value.Kind == jsonx.Object {
		n.fail("expected a scalar, found %s", n.value.Kind)
	}
	return n.value
}

// effective removes repeated roles and "none", which means that there is no role.
func effective(list []Role) []Role {
	var out []Role
	for _, r := range list {
		if r != None && !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	return out
}

// resolve returns the roles an argument has in a call.
func (arg argument) resolve(call jsonx.Value, s *schema.Schema) []Role {
	for _, c := range arg.cases {
		v, present := call.Member(c.arg)
		if !present || v.Kind == jsonx.Null {
			v, present = s.Default(c.arg)
		}
		if c.matches(v, present) {
			return c.roles
		}
	}
	return arg.roles
}

func (c roleCase) matches(v jsonx.Value, present bool) bool {
	present = present && v.Kind != jsonx.Null
	if c.op == "is" {
		switch c.state {
		case "present":
			return present
		case "absent":
			return !present
		case "truthy":
			return present && truthy(v)
		}
		return !present || !truthy(v)
	}
	return present && slices.ContainsFunc(c.value, func(want jsonx.Value) bool {
		return want.Kind == v.Kind && want.Text == v.Text && want.Truth == v.Truth
	})
}

func truthy(v jsonx.Value) bool {
	switch v.Kind {
	case jsonx.Bool:
		return v.Truth
	case jsonx.String:
		return v.Text != ""
	case jsonx.Number:
		return v.Text != "0" && v.Text != "-0"
	case jsonx.Null:
		return false
	default: // arrays and objects
		return true
	}
}

// mayNarrow returns why a case may not narrow the roles of an argument, or "" if it may.
// The agent chooses the value that the condition looks at. A flag or a free string does
// not prove what the server will do, so the schema must enumerate the value.
func (c roleCase) mayNarrow(of *schema.Schema, from []Role) string {
	lost := slices.ContainsFunc(from, func(r Role) bool {
		return (r.Judged() || r == RepoPath) && !slices.Contains(c.roles, r)
	})
	if !lost {
		return ""
	}
	p, ok := of.Property(c.arg)
	enum, isEnum := p.Member("enum")
	if !ok || !isEnum || enum.Kind != jsonx.Array {
		return "the discriminating argument is not an enumeration in the schema"
	}
	if c.op == "is" {
		return "the state of an argument does not say which mode the server takes"
	}
	for _, want := range c.value {
		if !slices.ContainsFunc(enum.Items, func(v jsonx.Value) bool { return v.Kind == want.Kind && v.Text == want.Text && v.Truth == want.Truth }) {
			return "the value is not in the enumeration of the schema"
		}
	}
	return ""
}
