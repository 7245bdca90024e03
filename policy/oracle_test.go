package policy

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// oracleCase is a random policy together with a call of one tool.
type oracleCase struct {
	rules []Rule
	args  map[string][]string // values of each argument, canonical paths
}

// oracleTool is the tool that the oracle's calls use, with the roles of its arguments.
var oracleTool = map[string][]Role{
	"from": {ReadPath, DeletePath}, "to": {WritePath}, "look": {ReadPath},
}

// oracle decides by the definition: for every role and every value, the first rule that
// takes part and covers the value decides; the most severe decision wins. A rule that
// escalates or denies and whose conditions have no role in common is applied to the call
// as a whole.
func oracle(c oracleCase, sandbox string) Decision {
	worst := oracleValues(c, sandbox)
	for _, r := range c.rules {
		if r.Then == Allow || r.Then.severity() <= worst.severity() || !oracleApplies(r) || Find[Roles](r.If) == nil || Find[*PathCondition](r.If) == nil ||
			slices.ContainsFunc(Find[Roles](r.If), func(role Role) bool { return slices.Contains(Find[*PathCondition](r.If).Roles, role) }) {
			continue
		}
		for arg, roles := range oracleTool {
			if !slices.ContainsFunc(roles, func(role Role) bool { return slices.Contains(Find[*PathCondition](r.If).Roles, role) }) {
				continue
			}
			for _, value := range c.args[arg] {
				inBox := strings.HasPrefix(value, sandbox+"/") || value == sandbox && (arg != "from" || !slices.Contains(Find[*PathCondition](r.If).Roles, DeletePath))
				if !inBox && oracleCovers(r, arg, value) {
					worst = r.Then
				}
			}
		}
	}
	return worst
}

// oracleCovers reports whether a value lies in the directory of a rule. A rule that
// escalates or denies also covers a directory above its own, in an argument whose call
// reaches the files below.
func oracleCovers(r Rule, arg, value string) bool {
	dir := Find[*PathCondition](r.If).Within
	return value == dir || strings.HasPrefix(value, dir+"/") || r.Then != Allow && arg == "from" && strings.HasPrefix(dir, value+"/")
}

func oracleValues(c oracleCase, sandbox string) Decision {
	worst := Allow
	judgedAny := false
	for _, role := range []Role{ReadPath, WritePath, DeletePath} {
		for arg, roles := range oracleTool {
			if !slices.Contains(roles, role) {
				continue
			}
			for _, value := range c.args[arg] {
				judgedAny = true
				if got := oracleValue(c.rules, role, arg, value, sandbox); got.severity() > worst.severity() {
					worst = got
				}
			}
		}
	}
	if !judgedAny {
		return oracleNothing(c.rules)
	}
	return worst
}

func oracleValue(rules []Rule, role Role, arg, value, sandbox string) Decision {
	if strings.HasPrefix(value, sandbox+"/") || value == sandbox && role != DeletePath {
		return Allow // deleting the sandbox itself would change the directory above it
	}
	for _, r := range rules {
		if !oracleApplies(r) {
			continue
		}
		if Find[Roles](r.If) != nil && !slices.Contains(Find[Roles](r.If), role) {
			continue
		}
		if p := Find[*PathCondition](r.If); p != nil {
			if !slices.Contains(p.Roles, role) || !oracleCovers(r, arg, value) {
				continue
			}
		}
		return r.Then
	}
	return Deny
}

// oracleNothing decides about a call without values. Conditions on values are false;
// conditions on roles are true if the tool has the role.
func oracleNothing(rules []Rule) Decision {
	for _, r := range rules {
		if oracleApplies(r) && Find[*PathCondition](r.If) == nil {
			return r.Then
		}
	}
	return Deny
}

func oracleApplies(r Rule) bool {
	return (Find[Servers](r.If) == nil || slices.Contains(Find[Servers](r.If), "filesystem")) && (Find[Tools](r.If) == nil || slices.Contains(Find[Tools](r.If), "t"))
}

func drawCase(t *rapid.T, dirs []string) oracleCase {
	roles := rapid.SliceOfNDistinct(rapid.SampledFrom([]Role{ReadPath, WritePath, DeletePath}), 1, 3, rapid.ID[Role])
	c := oracleCase{args: map[string][]string{}}
	for i := range rapid.IntRange(0, 6).Draw(t, "rules") {
		r := Rule{Name: fmt.Sprintf("rule-%d", i), Then: rapid.SampledFrom([]Decision{Allow, Escalate, Deny}).Draw(t, "then")}
		if rapid.Bool().Draw(t, "has roles") {
			r.If = append(r.If, Roles(roles.Draw(t, "roles")))
		}
		if rapid.Bool().Draw(t, "has paths") {
			r.If = append(r.If, &PathCondition{Roles: roles.Draw(t, "path roles"), Within: rapid.SampledFrom(dirs).Draw(t, "within")})
		}
		servers := rapid.SampledFrom([][]string{nil, {"filesystem"}, {"git"}, {"git", "filesystem"}}).Draw(t, "server")
		if servers != nil {
			r.If = append(r.If, Servers(servers))
		}
		tools := rapid.SampledFrom([][]string{nil, {"t"}, {"u"}, {"u", "t"}}).Draw(t, "tool")
		if tools != nil {
			r.If = append(r.If, Tools(tools))
		}
		c.rules = append(c.rules, r)
	}
	for _, arg := range slices.Sorted(maps.Keys(oracleTool)) { // sorted, so that the same draws give the same case
		for range rapid.IntRange(0, 3).Draw(t, arg) {
			c.args[arg] = append(c.args[arg], rapid.SampledFrom(dirs).Draw(t, "dir")+rapid.SampledFrom([]string{"", "/x", "/x/y", "x"}).Draw(t, "rest"))
		}
	}
	return c
}

// TestAgreesWithTheDefinition compares the engine with the oracle.
func TestAgreesWithTheDefinition(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	a, err := ParseAnnotations("oracle", []byte(`{"servers":{"filesystem":{"tools":[{"toolName":"t","args":{
		"from":["read-path","delete-path"],"to":["write-path"],"look":["read-path"]},
		"inputSchema":{"type":"object","properties":{"from":{},"to":{},"look":{}}}}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	sandbox := root + "/box"
	dirs := []string{sandbox, root + "/a", root + "/a/b", root + "/c"}
	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t, dirs)
		e, err := New(Config{Policy: &Compiled{Rules: c.rules}, Annotations: a, Sandbox: sandbox, SystemGit: root + "/none"})
		if err != nil {
			t.Fatal(err)
		}
		var parts []string
		for arg, values := range c.args {
			if len(values) > 0 {
				parts = append(parts, fmt.Sprintf(`"%s":["%s"]`, arg, strings.Join(values, `","`)))
			}
		}
		v := e.Evaluate(Call{Server: "filesystem", Tool: "t", Arguments: []byte("{" + strings.Join(parts, ",") + "}")})
		if want := oracle(c, sandbox); v.Decision != want {
			t.Fatalf("%s by %s (%s), the definition says %s", v.Decision, v.Rule, v.Reason, want)
		}
	})
}

// TestEvaluateConcurrently judges from many goroutines at once.
func TestEvaluateConcurrently(t *testing.T) {
	w := newWorld(t)
	e := w.engine()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if v := e.Evaluate(Call{Server: "git", Tool: "git_push", Arguments: []byte(`{"path":"/workspace/repo"}`)}); v.Decision != Escalate {
					t.Errorf("%s by %s", v.Decision, v.Rule)
				}
				if v := e.Evaluate(Call{Server: "filesystem", Tool: "read_text_file", Arguments: []byte(`{"path":"a.txt"}`)}); v.Decision != Allow {
					t.Errorf("%s by %s", v.Decision, v.Rule)
				}
			}
		})
	}
	wg.Wait()
}
