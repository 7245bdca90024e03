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

// Effects say what a tool does beyond what the roles of its arguments tell. They stand in
// a tool's annotation under "effects". An annotation without them has those that are
// usual for a tool of its name.
type Effects struct {
	Command string   // of git that the tool runs, such as "push"; empty: none
	Enters  string   // the argument that names the directory in which the server works from then on
	Flags   []string // arguments that only choose, whatever their names
	does    map[effect]when
}

// effect is one thing that a tool does, in every call or in some.
type effect string

const (
	pushes     effect = "pushes"     // sends objects to the remote, instead of receiving them
	exchanges  effect = "exchanges"  // exchanges the branches that it is given with a remote
	configures effect = "configures" // sets which remotes there are, and contacts none
	lists      effect = "lists"      // tells the configuration of remotes and does nothing else
	creates    effect = "creates"    // makes a repository where none needs to be yet
	continues  effect = "continues"  // can go on with work that git was interrupted in
	hookless   effect = "hookless"   // can start no hook
	stages     effect = "stages"     // takes in every file below the directories it is given
	sweeps     effect = "sweeps"     // reads files of the work tree that it does not name
	shows      effect = "shows"      // tells what is in tracked files that it does not name
	single     effect = "single"     // shows one file, if its arguments name one
	revisions  effect = "revisions"  // shows files as they were in a revision, named REVISION:FILE
	restores   effect = "restores"   // writes the files that it is given
	recurses   effect = "recurses"   // reads everything below the directory it is given
	// replaces: writes a temporary file beside the one it is given and renames it. Given
	// the sandbox itself, that file would lie outside of it.
	replaces effect = "replaces"
)

var allEffects = []effect{
	pushes, exchanges, configures, lists, creates, continues, hookless, stages, sweeps, shows, single, revisions, restores, recurses, replaces,
}

// when are the calls in which a tool has an effect: those for which all conditions of one
// list hold.
type when [][]argumentState

// argumentState is a condition on one argument of a call.
type argumentState struct {
	argument string
	state    string   // truthy, falsy or empty
	among    []string // else: the argument is one of these
}

// does reports whether a call of the tool has an effect.
func (t *tool) does(e effect, call jsonx.Value) bool {
	return slices.ContainsFunc(t.effects.does[e], func(all []argumentState) bool {
		return !slices.ContainsFunc(all, func(s argumentState) bool { return !s.holds(call, t.schema) })
	})
}

// can reports whether some call of the tool has an effect.
func (t *tool) can(e effect) bool { return len(t.effects.does[e]) > 0 }

func (s argumentState) holds(call jsonx.Value, of *schema.Schema) bool {
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

// readEffects reads "effects".
func readEffects(n *node) *Effects {
	out := &Effects{does: map[effect]when{}}
	if !n.object() {
		return out
	}
	out.Command, out.Enters, out.Flags = n.optional("command").str(), n.optional("enters").str(), n.optional("flags").strings()
	for _, e := range allEffects {
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

//go:embed default/tool-effects.json
var defaultEffects []byte

// usual are the effects of tools whose names tell what they do.
var usual = sync.OnceValue(func() map[string]usualEffects {
	d, err := parseDocument("default/tool-effects.json", defaultEffects)
	if err != nil {
		panic(fmt.Sprintf("policy: the embedded effects are broken: %v", err))
	}
	out := map[string]usualEffects{}
	for _, m := range d.root.Members {
		out[m.Name] = usualEffects{readEffects(d.top().child(m.Name, m.Value)), m.Value.Encode()}
	}
	if err := d.problem(); err != nil {
		panic(fmt.Sprintf("policy: the embedded effects are broken: %v", err))
	}
	return out
})

// usualEffects are effects with their text.
type usualEffects struct {
	effects *Effects
	text    json.RawMessage
}

// Effects says what a tool does. Without an engine, and of a tool that is not annotated,
// it says what is usual for the name.
func (e *Engine) Effects(server, name string) Effects {
	if e != nil {
		if t, ok := e.collector.tools[toolKey{server, name}]; ok {
			return *t.effects
		}
	}
	if u := usual()[name].effects; u != nil {
		return *u
	}
	return Effects{}
}
