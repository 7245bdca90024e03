package policy

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/schema"
)

// Behavior says what a tool does beyond what the roles of its arguments say. It is read
// from "behavior" in the tool's annotation. An annotation without that member gets the
// usual behavior for the tool's name.
type Behavior struct {
	Command string   // the git command that the tool runs, such as "push"; empty: none
	Enters  string   // the argument that names the server's working directory for later calls
	Flags   []string // arguments that only select a mode, even if their names suggest more
	does    map[action]when
}

// action is one thing that a tool does, in every call or in some.
type action string

const (
	pushes     action = "pushes"     // sends objects to the remote, instead of receiving them
	exchanges  action = "exchanges"  // fetches or pushes the branches that the call names
	configures action = "configures" // changes the configured remotes, and contacts none
	lists      action = "lists"      // shows the configured remotes and does nothing else
	creates    action = "creates"    // creates a repository; none needs to exist before
	continues  action = "continues"  // can continue an interrupted operation of git
	hookless   action = "hookless"   // never runs a hook
	derives    action = "derives"    // makes commits from other commits, as a merge does
	stages     action = "stages"     // stages every file below the given directories
	sweeps     action = "sweeps"     // reads files of the work tree that the call does not name
	shows      action = "shows"      // shows contents of tracked files that the call does not name
	single     action = "single"     // shows one file, if its arguments name one
	revisions  action = "revisions"  // shows files as they were in a revision, named REVISION:FILE
	restores   action = "restores"   // writes the given files
	recurses   action = "recurses"   // reads everything below the given directory
	// replaces: writes a temporary file beside the given one and renames it. If the given
	// path is the sandbox itself, the temporary file would lie outside the sandbox.
	replaces action = "replaces"
)

var actions = []action{
	pushes, exchanges, configures, lists, creates, continues, derives, hookless, stages, sweeps, shows, single, revisions, restores, recurses, replaces,
}

// when says in which calls a tool does something: in those that meet all conditions of at
// least one of the lists.
type when [][]argumentState

// argumentState is a condition on one argument of a call.
type argumentState struct {
	argument string
	state    string   // truthy, falsy or empty
	among    []string // if state is empty: the argument must be one of these
}

// does reports whether this call of the tool does the action.
func (t *tool) does(e action, call jsonx.Value) bool {
	return slices.ContainsFunc(t.behavior.does[e], func(all []argumentState) bool {
		return !slices.ContainsFunc(all, func(s argumentState) bool { return !s.matches(call, t.schema) })
	})
}

// can reports whether any call of the tool does the action.
func (t *tool) can(e action) bool { return len(t.behavior.does[e]) > 0 }

func (s argumentState) matches(call jsonx.Value, of *schema.Schema) bool {
	v, present := call.Member(s.argument)
	switch s.state {
	case "truthy":
		return present && truthy(v)
	case "falsy":
		return !present || !truthy(v)
	case "empty":
		return len(v.Items) == 0 && v.Text == ""
	}
	if !present || v.Kind == jsonx.Null {
		v, _ = of.Default(s.argument)
	}
	return v.Kind == jsonx.String && slices.Contains(s.among, v.Text)
}

// readBehavior reads "behavior".
func readBehavior(n *node) *Behavior {
	out := &Behavior{does: map[action]when{}}
	if !n.object() {
		return out
	}
	out.Command, out.Enters, out.Flags = n.optional("command").str(), n.optional("enters").str(), n.optional("flags").strings()
	for _, e := range actions {
		if w := n.optional(string(e)); w != nil {
			out.does[e] = readWhen(w)
		}
	}
	n.done()
	return out
}

// readWhen reads true, false, or a list of objects that name the state of arguments.
func readWhen(n *node) when {
	if n.value.Kind == jsonx.Bool {
		if n.value.Truth {
			return when{nil}
		}
		return nil
	}
	var out when
	n.each(func(c *node) {
		if !c.object() {
			return
		}
		var all []argumentState
		for _, m := range c.value.Members {
			all = append(all, readState(c.optional(m.Name), m.Name))
		}
		if len(all) == 0 {
			c.fail("the condition names no argument")
		}
		out = append(out, all)
	})
	return out
}

func readState(n *node, argument string) argumentState {
	s := argumentState{argument: argument}
	if n.value.Kind == jsonx.Array {
		s.among = n.names()
		return s
	}
	s.state = n.str()
	if !slices.Contains([]string{"truthy", "falsy", "empty"}, s.state) {
		n.fail("unknown state %q", s.state)
	}
	return s
}

//go:embed default/tool-behavior.json
var defaultBehavior []byte

// usual returns the behavior that tools with well-known names have by default.
var usual = sync.OnceValue(func() map[string]usualBehavior {
	d, err := parseDocument("default/tool-behavior.json", defaultBehavior)
	if err != nil {
		panic(fmt.Sprintf("policy: the embedded behavior is broken: %v", err))
	}
	out := map[string]usualBehavior{}
	for _, m := range d.root.Members {
		out[m.Name] = usualBehavior{readBehavior(d.top().child(m.Name, m.Value)), m.Value.Encode()}
	}
	if err := d.problem(); err != nil {
		panic(fmt.Sprintf("policy: the embedded behavior is broken: %v", err))
	}
	return out
})

// usualBehavior is a behavior together with the JSON that it was read from.
type usualBehavior struct {
	behavior *Behavior
	text     json.RawMessage
}

// Behavior returns what a tool does. If e is nil or the tool is not annotated, it returns
// the usual behavior for the tool's name.
func (e *Engine) Behavior(server, name string) Behavior {
	if e != nil {
		if t := e.collector.tool(server, name); t != nil {
			return *t.behavior
		}
	}
	if u := usual()[name].behavior; u != nil {
		return *u
	}
	return Behavior{}
}
