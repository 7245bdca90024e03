package policy

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLoadCompiledRefuses(t *testing.T) {
	rule := func(body string) string { return "{\"rules\":[\n{" + body + "}\n]}" }
	for _, tc := range []struct{ name, text, want string }{
		{"not JSON", `{"rules":[}`, "p.json:1: unexpected character"},
		{"duplicate", `{"rules":[],"rules":[]}`, "p.json:1: duplicate name"},
		{"not an object", `[]`, "expected an object"},
		{"no rules", `{"generatedAt":"x"}`, `member "rules" is missing`},
		{"unknown field", `{"rules":[],"extra":1}`, `"extra": unknown field`},
		{"unknown field of a rule", rule(`"name":"a","if":{"tool":["x"]},"then":"allow","when":1`), `p.json:2: rules[0]."when": unknown field`},
		{"unknown condition", rule(`"name":"a","if":{"tool":["x"],"sideEffects":false},"then":"allow"`), `rules[0].if."sideEffects": unknown field`},
		{"no condition", rule(`"name":"a","if":{},"then":"escalate"`), "rules[0].if: the rule has no condition"},
		{"lists without conditions", rule(`"name":"a","if":{"lists":[]},"then":"allow"`), "rules[0].if.lists: the list is empty"},
		{"every tool", rule(`"name":"a","if":{"tool":["*"]},"then":"deny"`), `rules[0].if.tool: "*" is not a name`},
		{"nameless server", rule(`"name":"a","if":{"server":[""]},"then":"deny"`), `rules[0].if.server: "" is not a name`},
		{"within a pattern", rule(`"name":"a","if":{"paths":{"roles":["read-path"],"within":"/a/*"}},"then":"deny"`), "name one directory, without a pattern"},
		{"list twice", `{"listDefinitions":[{"name":"x","type":"emails"},{"name":"x","type":"domains"}],"rules":[]}`, `listDefinitions[1]: list "x" is defined twice`},
		{"no if", rule(`"name":"a","then":"escalate"`), `rules[0]: member "if" is missing`},
		{"unknown then", rule(`"name":"a","if":{"tool":["x"]},"then":"permit"`), `rules[0].then: unknown decision "permit"`},
		{"then in capitals", rule(`"name":"a","if":{"tool":["x"]},"then":"Allow"`), `unknown decision "Allow"`},
		{"unknown role", rule(`"name":"a","if":{"roles":["reed-path"]},"then":"allow"`), `rules[0].if.roles[0]: unknown role "reed-path"`},
		{"empty roles", rule(`"name":"a","if":{"roles":[]},"then":"allow"`), "rules[0].if.roles: the list is empty"},
		{"empty server", rule(`"name":"a","if":{"server":[]},"then":"allow"`), "rules[0].if.server: the list is empty"},
		{"server as string", rule(`"name":"a","if":{"server":"git"},"then":"allow"`), "rules[0].if.server: expected an array"},
		{"relative within", rule(`"name":"a","if":{"paths":{"roles":["read-path"],"within":"Downloads"}},"then":"allow"`), "neither absolute nor below ~"},
		{"within of a user", rule(`"name":"a","if":{"paths":{"roles":["read-path"],"within":"~root"}},"then":"allow"`), "neither absolute nor below ~"},
		{"within goes up", rule(`"name":"a","if":{"paths":{"roles":["read-path"],"within":"/a/../b"}},"then":"allow"`), `contains ".."`},
		{"paths of a URL", rule(`"name":"a","if":{"paths":{"roles":["fetch-url"],"within":"/a"}},"then":"allow"`), "is not a path role"},
		{"paths without within", rule(`"name":"a","if":{"paths":{"roles":["read-path"]}},"then":"allow"`), `member "within" is missing`},
		{"top-level wildcard", rule(`"name":"a","if":{"domains":{"roles":["fetch-url"],"allowed":["*.com"]}},"then":"allow"`), "is not a domain pattern"},
		{"wildcard in a list", rule(`"name":"a","if":{"lists":[{"roles":["fetch-url"],"allowed":["go.dev","*.com"],"matchType":"domains"}]},"then":"escalate"`), `rules[0].if.lists[0].allowed[1]: "*.com" is not a domain pattern`},
		{"undefined list", rule(`"name":"a","if":{"domains":{"roles":["fetch-url"],"allowed":["@x"]}},"then":"allow"`), `list "@x" is not defined`},
		{"unknown match", rule(`"name":"a","if":{"lists":[{"roles":["github-owner"],"allowed":["x"],"matchType":"regex"}]},"then":"allow"`), "unknown list type"},
		{"bad name", rule(`"name":"A b","if":{"tool":["x"]},"then":"allow"`), "is not made of letters"},
		{"reserved name", rule(`"name":"structural-sandbox-allow","if":{"tool":["x"]},"then":"allow"`), "is reserved"},
		{"list of another type", `{"listDefinitions":[{"name":"x","type":"emails"}],"rules":[{"name":"a","if":{"domains":{"roles":["fetch-url"],"allowed":["@x"]}},"then":"allow"}]}`, `list "@x" contains emails, not domains`},
		{"list name", `{"listDefinitions":[{"name":"X","type":"emails"}],"rules":[]}`, "listDefinitions[0]"},
	} {
		_, err := ParseCompiled("p.json", []byte(tc.text))
		checkRefused(t, tc.name, err, tc.want)
	}
}

func checkRefused(t *testing.T, name string, err error, want string) {
	t.Helper()
	var load *LoadError
	if !errors.As(err, &load) {
		t.Errorf("%s: error %v, want one that says %q", name, err, want)
		return
	}
	if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%s: %q does not say %q on one line", name, err, want)
	}
	if load.Hint() == "" {
		t.Errorf("%s: no hint", name)
	}
}

func TestLoadAnnotationsRefuses(t *testing.T) {
	tool := func(body string) string { return `{"servers":{"s":{"tools":[{` + body + `}]}}}` }
	for _, tc := range []struct{ name, text, want string }{
		{"no servers", `{}`, `member "servers" is missing`},
		{"unknown field", tool(`"toolName":"t","args":{},"extra":1`), `"extra": unknown field`},
		{"no args", tool(`"toolName":"t"`), `member "args" is missing`},
		{"no name", tool(`"toolName":"","args":{}`), "the tool has no name"},
		{"another server", tool(`"toolName":"t","serverName":"x","args":{}`), "is listed under"},
		{"twice", `{"servers":{"s":{"tools":[{"toolName":"t","args":{}},{"toolName":"t","args":{}}]}}}`, "annotated twice"},
		{"unknown role", tool(`"toolName":"t","args":{"a":["path"]}`), `servers.s.tools[0].args.a[0]: unknown role "path"`},
		{"bare role", tool(`"toolName":"t","args":{"a":"read-path"}`), "expected an object, found string"},
		{"mixed roles", tool(`"toolName":"t","args":{"a":["read-path","fetch-url"]}`), "different canonical forms"},
		{"case widens", tool(`"toolName":"t","args":{"m":["none"],"a":{"default":["read-path"],"when":[{"condition":{"arg":"m","equals":"x"},"roles":["write-path"]}]}}`), "a case can only narrow"},
		{"no sibling", tool(`"toolName":"t","args":{"a":{"default":["read-path"],"when":[{"condition":{"arg":"m","equals":"x"},"roles":["read-path"]}]}}`), "is not one of the tool's"},
		{"two operators", tool(`"toolName":"t","args":{"m":["none"],"a":{"default":["read-path"],"when":[{"condition":{"arg":"m","equals":"x","is":"present"},"roles":["read-path"]}]}}`), "more than one operator"},
		{"no operator", tool(`"toolName":"t","args":{"m":["none"],"a":{"default":["read-path"],"when":[{"condition":{"arg":"m"},"roles":["read-path"]}]}}`), "no operator"},
		{"unknown operator", tool(`"toolName":"t","args":{"m":["none"],"a":{"default":["read-path"],"when":[{"condition":{"arg":"m","not":"x"},"roles":["read-path"]}]}}`), "no operator"},
		{"unknown state", tool(`"toolName":"t","args":{"m":["none"],"a":{"default":["read-path"],"when":[{"condition":{"arg":"m","is":"set"},"roles":["read-path"]}]}}`), "unknown state"},
		{"not scalar", tool(`"toolName":"t","args":{"m":["none"],"a":{"default":["read-path"],"when":[{"condition":{"arg":"m","equals":["x"]},"roles":["read-path"]}]}}`), "expected a scalar"},
	} {
		_, err := ParseAnnotations("a.json", []byte(tc.text))
		checkRefused(t, tc.name, err, tc.want)
	}
}

func TestLoadListsRefuses(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"no lists", `{}`, `member "lists" is missing`},
		{"no values", `{"lists":{"a":{}}}`, `lists.a: member "values" is missing`},
		{"unknown field", `{"lists":{"a":{"values":[],"x":1}}}`, `lists.a."x": unknown field`},
		{"number", `{"lists":{"a":{"values":[1]}}}`, "lists.a.values[0]: expected a string"},
		{"white space", `{"lists":{"a":{"values":["a b"]}}}`, "contains white space"},
		{"name", `{"lists":{"A":{"values":[]}}}`, "list name"},
	} {
		_, err := ParseLists("l.json", []byte(tc.text))
		checkRefused(t, tc.name, err, tc.want)
	}
}

func TestLoadFiles(t *testing.T) {
	dir := t.TempDir()
	_, err := LoadCompiled(filepath.Join(dir, "absent.json"))
	checkRefused(t, "absent", err, "absent.json: read: no such file")
	if _, _, err := LoadDir(dir); err == nil {
		t.Error("an empty directory loads")
	}
	for name, text := range map[string]string{"compiled-policy.json": `{"rules":[]}`, "dynamic-lists.json": `{"lists":{"x":{"values":["a"]}}}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, l, err := LoadDir(dir); err != nil || len(l.values("x")) != 1 {
		t.Errorf("lists %v, error %v", l, err)
	}
}

// TestConditionalRoles: a case narrows roles only by values that the schema enumerates.
func TestConditionalRoles(t *testing.T) {
	const text = `{"servers":{"filesystem":{"tools":[{"toolName":"t","sideEffects":true,"args":{
		"mode":["none"],"dryRun":["none"],
		"path":{"default":["read-path","write-path"],"when":[
			{"condition":{"arg":"dryRun","equals":true},"roles":["read-path"]},
			{"condition":{"arg":"mode","in":["list","show"]},"roles":["read-path"]},
			{"condition":{"arg":"mode","equals":"other"},"roles":["read-path"]}]}},
		"inputSchema":{"type":"object","properties":{"path":{"type":"string"},"dryRun":{"type":"boolean"},
			"mode":{"enum":["list","show","write"],"default":"list"}}}}]}}}`
	a, err := ParseAnnotations("a.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := a.Warnings(); len(got) != 2 {
		t.Errorf("warnings %q", got)
	}
	c, err := ParseCompiled("p.json", []byte(`{"rules":[{"name":"reads","if":{"roles":["read-path"],"paths":{"roles":["read-path"],"within":"/etc"}},"then":"allow"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	e, _ := defaultEngine(t, func(config *Config) { config.Policy, config.Annotations = c, a })
	for args, want := range map[string]Decision{
		`{"path":"/etc/hosts","mode":"list"}`:                Allow,
		`{"path":"/etc/hosts","mode":"show"}`:                Allow,
		`{"path":"/etc/hosts"}`:                              Allow, // the schema's default mode
		`{"path":"/etc/hosts","mode":"write"}`:               Deny,
		`{"path":"/etc/hosts","mode":"other"}`:               Deny,
		`{"path":"/etc/hosts","mode":"LIST"}`:                Deny,
		`{"path":"/etc/hosts","mode":["list"]}`:              Deny,
		`{"path":"/etc/hosts","mode":"write","dryRun":true}`: Deny,
		`{"path":"/etc/hosts","mode":"list","dryRun":true}`:  Deny, // the case without effect is still the first that matches
	} {
		if v := e.Evaluate(Call{Server: "filesystem", Tool: "t", Arguments: []byte(args)}); v.Decision != want {
			t.Errorf("%s: %s by %s (%s), want %s", args, v.Decision, v.Rule, v.Reason, want)
		}
	}
}

// TestCanonicalFormMustFitTheSchema: the schema accepts the value in the call, but not its
// canonical form.
func TestCanonicalFormMustFitTheSchema(t *testing.T) {
	a, err := ParseAnnotations("a.json", []byte(`{"servers":{"filesystem":{"tools":[{"toolName":"t","args":{"path":["read-path"]},
		"inputSchema":{"type":"object","properties":{"path":{"type":"string","maxLength":5}}}}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	e, _ := defaultEngine(t, func(c *Config) { c.Annotations = a })
	if v := e.Evaluate(Call{Server: "filesystem", Tool: "t", Arguments: []byte(`{"path":"a"}`)}); v.Decision != Deny {
		t.Errorf("%s %s", v.Decision, v.Arguments)
	}
}

// TestBrokenSchemaDenies has schemas with external references, and invalid schemas.
func TestBrokenSchemaDenies(t *testing.T) {
	for _, schema := range []string{`{"$ref":"https://example.com/schema.json"}`, `{"$ref":"file:///etc/passwd"}`, `{"type":"nonsense"}`} {
		a, err := ParseAnnotations("a.json", []byte(`{"servers":{"filesystem":{"tools":[{"toolName":"t","args":{"path":["read-path"]},"inputSchema":`+schema+`}]}}}`))
		if err != nil {
			t.Fatal(err)
		}
		e, _ := defaultEngine(t, func(c *Config) { c.Annotations = a })
		if v := e.Evaluate(Call{Server: "filesystem", Tool: "t", Arguments: []byte(`{"path":"a"}`)}); v.Decision != Deny {
			t.Errorf("%s: %s", schema, v.Decision)
		}
		if len(a.Warnings()) == 0 || e.Visible("filesystem", "t") {
			t.Errorf("%s: warnings %q, visible %v", schema, a.Warnings(), e.Visible("filesystem", "t"))
		}
	}
}

func TestHashDependsOnEveryPart(t *testing.T) {
	a, _ := defaultEngine(t)
	b, _ := defaultEngine(t, func(c *Config) { c.Lists, _ = ParseLists("l", []byte(`{"lists":{}}`)) })
	c, _ := defaultEngine(t, func(c *Config) { c.Policy, _ = ParseCompiled("p", []byte(`{"rules":[]}`)) })
	if a.Hash() == b.Hash() || a.Hash() == c.Hash() || b.Hash() == c.Hash() || len(a.Hash()) != 64 {
		t.Errorf("hashes %s %s %s", a.Hash(), b.Hash(), c.Hash())
	}
}
