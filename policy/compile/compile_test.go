package compile_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/compile"
)

func TestAGoodProposal(t *testing.T) {
	m := good()
	o := options(t, compile.Options{})
	r, err := compile.Run(t.Context(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.keys; !slices.Equal(got, []string{"filesystem rules", "filesystem scenarios"}) {
		t.Errorf("asked %v", got)
	}
	s := r.Servers[0]
	if len(r.Policy.Rules) != 2 || len(r.Scenarios) != 3 || s.Repairs != 0 || s.Never < 100 || len(s.Dropped)+len(s.Shadowed)+len(s.Unnamed) != 0 {
		t.Errorf("%+v", s)
	}
	gap := func(tool string) int {
		return slices.IndexFunc(s.Uncovered, func(g compile.Gap) bool { return g.Tool == tool })
	}
	if i := gap("write_file"); i < 0 || !slices.Equal(s.Uncovered[i].Roles, []policy.Role{policy.WritePath}) || gap("list_allowed_directories") >= 0 {
		t.Errorf("uncovered %+v", s.Uncovered)
	}
	e, err := r.Engine(&o)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]policy.Decision{
		"~/Documents/report.txt": policy.Allow, "/etc/hosts": policy.Escalate, "~/.ssh/id_ed25519": policy.Deny, // protected in the world "/workspace/README.md": policy.Allow,
	} {
		t.Run(path, func(t *testing.T) {
			call := policy.Call{Server: "filesystem", Tool: "read_text_file", Arguments: json.RawMessage(encode(object{"path": path}))}
			if v := e.Evaluate(call); v.Decision != want {
				t.Errorf("%s: %s by %s", path, v.Decision, v.Rule)
			}
		})
	}
}

// A refused proposal is shown to the model with the reason. If the model proposes nothing
// better, the server gets no rules.
func TestRefusedProposals(t *testing.T) {
	for name, c := range map[string]struct{ answer, why string }{
		"broken JSON":        {`{"rules":[`, "refused"},
		"no JSON":            {"Here are the rules you asked for.", "refused"},
		"twice":              {`{"rules":[],"rules":[],"listDefinitions":[]}`, "duplicate"},
		"more members":       {`{"rules":[],"listDefinitions":[],"verified":"x"}`, "not asked for"},
		"no object":          {`[]`, "expected an object"},
		"rules of no kind":   {`{"rules":{},"listDefinitions":[]}`, "expected an array"},
		"denies":             {rules(rule("deny-all", "deny", object{"roles": []string{"read-path"}})), "rules do not deny"},
		"permits":            {rules(rule("permit-all", "permit", object{"roles": []string{"read-path"}})), "unknown decision"},
		"unknown role":       {rules(rule("r", "escalate", object{"roles": []string{"sudo"}})), `unknown role "sudo"`},
		"role of another":    {rules(rule("r", "escalate", object{"roles": []string{"fetch-url"}})), "judged in none"},
		"unknown tool":       {rules(rule("r", "escalate", object{"tool": []string{"run_shell"}})), `no tool "run_shell"`},
		"every tool":         {rules(rule("r", "escalate", object{"tool": []string{"*"}})), "is not a name"},
		"no role in common":  {rules(rule("r", "escalate", object{"roles": []string{"write-path"}, "paths": object{"roles": []string{"read-path"}, "within": "~/a"}})), "no role in common"},
		"another server":     {rules(rule("r", "escalate", object{"server": []string{"git"}})), "exactly"},
		"two servers":        {rules(rule("r", "escalate", object{"server": []string{"filesystem", "git"}})), "exactly"},
		"no server":          {rules(rule("r", "escalate", object{"server": nil, "roles": []string{"read-path"}})), "exactly"},
		"same name":          {rules(rule("r", "escalate", object{}), rule("r", "escalate", object{})), "two rules"},
		"reserved name":      {rules(rule("structural-sandbox-allow", "allow", object{})), "reserved"},
		"screen text":        {rules(rule("r", "escalate", object{"tool": []string{"\x1b[2J"}})), "refused"},
		"climbing":           {rules(rule("r", "allow", within("~/Documents/../..", "read-path"))), `contains ".."`},
		"pattern":            {rules(rule("r", "allow", within("~/*", "read-path"))), `contains "*"`},
		"undefined list":     {rules(rule("r", "escalate", object{"lists": []object{{"roles": []string{"read-path"}, "allowed": []string{"@x"}, "matchType": "identifiers"}}})), "not defined"},
		"list without rules": {encode(object{"rules": []object{}, "listDefinitions": []object{list("docs", false)}}), "no rule refers"},
		"list of a tool":     {withList(list("docs", true)), "list docs: only a tool could look up its values"},
		"too many": {func() string {
			var all []object
			for i := range 61 {
				all = append(all, rule(fmt.Sprintf("r-%d", i), "escalate", object{}))
			}
			return rules(all...)
		}(), "more than 60 rules"},
	} {
		t.Run(name, func(t *testing.T) {
			m := &script{answers: map[string][]string{"filesystem rules": {c.answer}, "filesystem scenarios": {goodScenarios}}}
			_, err := run(t, m, compile.Options{})
			if err == nil || !strings.Contains(err.Error(), c.why) || !strings.Contains(err.Error(), "no server's rules could be verified") {
				t.Errorf("error %v, want %q", err, c.why)
			}
			if len(m.keys) != 3 || !strings.Contains(m.lastUser("filesystem rules"), "It was refused: ") {
				t.Errorf("asked %v", m.keys)
			}
			m = &script{answers: map[string][]string{"filesystem rules": {c.answer, goodRules}, "filesystem scenarios": {goodScenarios}}}
			if r, err := run(t, m, compile.Options{}); err != nil || len(r.Policy.Rules) != 2 {
				t.Errorf("a better answer: %v", err)
			}
		})
	}
}

func list(name string, mcp bool) object {
	return object{"name": name, "type": "identifiers", "principle": "p", "generationPrompt": "names", "requiresMcp": mcp}
}

func withList(l object) string {
	r := rule("r", "escalate", object{"lists": []object{{"roles": []string{"read-path"}, "allowed": []string{"@docs"}, "matchType": "identifiers"}}})
	return encode(object{"rules": []object{r}, "listDefinitions": []object{l}})
}

// Fixed checks find rules that allow without a limit, whatever the scenarios say. The
// model is told and may repair the rules three times.
func TestInvariants(t *testing.T) {
	home := "" // the machine's home directory, set below
	for name, c := range map[string]struct {
		rule func(home string) object
		why  string
	}{
		"everything":       {func(string) object { return rule("r", "allow", object{}) }, "allows the whole server"},
		"all reads":        {func(string) object { return rule("r", "allow", object{"roles": []string{"read-path"}}) }, "allows read-path without"},
		"a tool":           {func(string) object { return rule("r", "allow", object{"tool": []string{"write_file"}}) }, "allows write-path without"},
		"the root":         {func(string) object { return rule("r", "allow", within("/", "read-path")) }, "whole home directory"},
		"the home":         {func(string) object { return rule("r", "allow", within("~", "read-path")) }, "whole home directory"},
		"the home by name": {func(home string) object { return rule("r", "allow", within(home, "read-path")) }, "whole home directory"},
		"below by name":    {func(home string) object { return rule("r", "allow", within(home+"/Documents", "read-path")) }, "write ~"},
		"above the home":   {func(home string) object { return rule("r", "allow", within(filepath.Dir(home), "read-path")) }, "whole home directory"},
		"protected":        {func(string) object { return rule("r", "allow", within("~/.ssh", "read-path")) }, "reaches the protected"},
		"in protected":     {func(string) object { return rule("r", "allow", within("~/.ironcurtain/x/y", "read-path")) }, "reaches the protected"},
		"above protected":  {func(string) object { return rule("r", "allow", within("~/work", "read-path")) }, "reaches the protected"},
		"in capitals":      {func(string) object { return rule("r", "allow", within("~/.SSH", "read-path")) }, "reaches the protected"},
		"a list of files": {func(string) object {
			return rule("r", "allow", object{"lists": []object{{"roles": []string{"read-path"}, "allowed": []string{"/home/x/.bashrc"}, "matchType": "identifiers"}}})
		}, "allows read-path without paths"},
		"system files": {func(string) object { return rule("r", "allow", within("/etc", "read-path", "write-path")) }, "fixed call"},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t, compile.Options{})
			home = o.Machine.Home
			bad := c.rule(home)
			fix := patch([]object{{"op": "delete", "name": "r", "after": nil, "rule": nil}})
			m := &script{answers: map[string][]string{
				"filesystem rules": {rules(bad)}, "filesystem scenarios": {goodScenarios},
				"filesystem patch": {patch([]object{{"op": "update", "name": "r", "after": nil, "rule": bad}})},
			}}
			if _, err := compile.Run(t.Context(), m, o); err == nil || !strings.Contains(err.Error(), "after 3 repairs") || !strings.Contains(err.Error(), c.why) {
				t.Errorf("error %v, want %q", err, c.why)
			}
			if !strings.Contains(m.lastUser("filesystem patch"), c.why) {
				t.Errorf("the model was not told %q", c.why)
			}
			m = &script{answers: map[string][]string{
				"filesystem rules":     {rules(bad, rule("escalate-reads", "escalate", object{"roles": []string{"read-path"}}))},
				"filesystem scenarios": {scenarios(scenario("read_text_file", "escalate", object{"path": "~/Documents/report.txt"}), scenario("read_text_file", "escalate", object{"path": "~/a"}), scenario("write_file", "deny", object{"path": "~/a", "content": ""}))},
				"filesystem patch":     {fix},
			}}
			r, err := compile.Run(t.Context(), m, o)
			if err != nil || len(r.Policy.Rules) != 1 || r.Servers[0].Repairs != 1 {
				t.Errorf("fixed: %v", err)
			}
		})
	}
}
