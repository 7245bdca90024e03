package policy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// outerRules are those of the policy that others narrow.
const outerRules = `
	{"name":"ask-private","if":{"paths":{"roles":["read-path"],"within":"~/Documents/private"}},"then":"escalate"},
	{"name":"docs","if":{"paths":{"roles":["read-path"],"within":"~/Documents"}},"then":"allow"},
	{"name":"ask-downloads","if":{"paths":{"roles":["read-path"],"within":"~/Downloads"}},"then":"escalate"},
	{"name":"web","if":{"server":["fetch"],"domains":{"roles":["fetch-url"],"allowed":["*.example.com","go.dev"]}},"then":"allow"}`

// compiledRules parses rules as a policy.
func compiledRules(t *testing.T, rules string) *Compiled {
	t.Helper()
	c, err := ParseCompiled("rules.json", []byte(`{"rules":[`+rules+`]}`))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A rule that allows more than the outer policy is named with its file. A policy that only
// takes away is loaded.
func TestNarrowingNamesTheRuleThatWidens(t *testing.T) {
	_, annotations := Default()
	docs := func(within string) string {
		return `{"name":"mine","if":{"paths":{"roles":["read-path"],"within":"` + within + `"}},"then":"allow"}`
	}
	web := func(host string) string {
		return `{"name":"mine","if":{"server":["fetch"],"domains":{"roles":["fetch-url"],"allowed":["` + host + `"]}},"then":"allow"}`
	}
	before := func(then string) string {
		return `{"name":"mine-private","if":{"paths":{"roles":["read-path"],"within":"~/Documents/private"}},"then":"` + then + `"},`
	}
	for rules, want := range map[string]string{
		"":                                       "",
		outerRules:                               "",
		docs("~/Documents/open"):                 "",
		before("escalate") + docs("~/Documents"): "",
		before("deny") + docs("~/Documents"):     "",
		docs("~/Documents"):                      "ask-private holds back (escalate)",
		docs("~/Documents/private/letters"):      "ask-private holds back (escalate)",
		docs("~/Downloads"):                      "ask-downloads holds back (escalate)",
		docs("~/Music"):                          "no rule of the multiplexer's policy allows",
		before("escalate") + docs("~/Music"):     "no rule of the multiplexer's policy allows",
		web("www.example.com"):                   "",
		web("*.docs.example.com"):                "",
		web("*.example.com"):                     "",
		web("example.org"):                       "no rule of the multiplexer's policy allows",
		web("*.go.dev"):                          "no rule of the multiplexer's policy allows",
		web("*"):                                 "no rule of the multiplexer's policy allows",
		`{"name":"mine","if":{"server":["filesystem"]},"then":"allow"}`:    "rule mine would widen",
		`{"name":"mine","if":{"server":["filesystem"]},"then":"escalate"}`: "",
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "compiled-policy.json")
		if err := os.WriteFile(file, []byte(`{"rules":[`+rules+`]}`), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := LoadNarrowing(dir, compiledRules(t, outerRules), annotations)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", rules, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), file+": rule mine ") || strings.Contains(err.Error(), "\n")):
			t.Errorf("%s: %v, want %q", rules, err, want)
		}
	}
}

// The shipped policy narrows itself, and a directory with other annotations is refused.
func TestNarrowingByTheSamePolicy(t *testing.T) {
	c, annotations := Default()
	dir := t.TempDir()
	write := func(name string, data []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("compiled-policy.json", defaultPolicy)
	write("tool-annotations.json", defaultAnnotations)
	if _, err := LoadNarrowing(dir, c, annotations); err != nil {
		t.Error(err)
	}
	write("tool-annotations.json", []byte(restrictTools))
	if _, err := LoadNarrowing(dir, c, annotations); err == nil || !strings.Contains(err.Error(), "not the annotations of the multiplexer") {
		t.Error(err)
	}
}

// Whatever the rules of a narrowing policy say, the more severe of both verdicts counts.
func TestTheMoreSevereVerdictCounts(t *testing.T) {
	w := newWorld(t)
	inner := compiledRules(t, `
		{"name":"open","if":{"paths":{"roles":["read-path","write-path"],"within":"~"}},"then":"allow"},
		{"name":"ask-go","if":{"server":["fetch"],"domains":{"roles":["fetch-url"],"allowed":["go.dev"]}},"then":"escalate"}`)
	outer := compiledRules(t, outerRules)
	alone := w.engine(func(c *Config) { c.Policy = outer })
	second := w.engine(func(c *Config) { c.Policy = inner })
	both := w.engine(func(c *Config) { c.Policy, c.Narrowings = outer, []Narrowing{{Dir: "terms", Policy: inner}} })
	if both.Hash() != alone.Hash()+"+"+second.Hash() {
		t.Errorf("hash %s", both.Hash())
	}
	seen := map[Decision]int{}
	for _, c := range []Call{
		{Server: "filesystem", Tool: "read_text_file", Arguments: []byte(`{"path":"~/Documents/report.txt"}`)},
		{Server: "filesystem", Tool: "read_text_file", Arguments: []byte(`{"path":"~/Documents/private/a"}`)},
		{Server: "filesystem", Tool: "read_text_file", Arguments: []byte(`{"path":"~/Downloads/got.zip"}`)},
		{Server: "filesystem", Tool: "read_text_file", Arguments: []byte(`{"path":"~/notes.txt"}`)},
		{Server: "filesystem", Tool: "read_text_file", Arguments: []byte(`{"path":"a.txt"}`)},
		{Server: "filesystem", Tool: "write_file", Arguments: []byte(`{"path":"~/notes.txt","content":"x"}`)},
		{Server: "fetch", Tool: "http_fetch", Arguments: []byte(`{"url":"https://go.dev"}`)},
		{Server: "fetch", Tool: "http_fetch", Arguments: []byte(`{"url":"https://www.example.com"}`)},
	} {
		one, two, got := alone.Evaluate(c), second.Evaluate(c), both.Evaluate(c)
		if want := max(one.Decision.severity(), two.Decision.severity()); got.Decision.severity() != want {
			t.Errorf("%s %s: %s and %s, together %s", c.Tool, c.Arguments, one.Decision, two.Decision, got.Decision)
		}
		if got.Decision != Deny && (got.Digest != one.Digest || string(got.Arguments) != string(one.Arguments)) {
			t.Errorf("%s %s: the call got other arguments", c.Tool, c.Arguments)
		}
		seen[got.Decision]++
	}
	if seen[Allow] == 0 || seen[Escalate] == 0 || seen[Deny] == 0 {
		t.Errorf("verdicts %v", seen)
	}
	none := w.engine(func(c *Config) {
		c.Policy, c.Narrowings = outer, []Narrowing{{Dir: "terms", Policy: compiledRules(t, "")}}
	})
	if !both.Visible("fetch", "http_fetch") || none.Visible("fetch", "http_fetch") {
		t.Error("a tool is offered if one policy lets it through, not if both do")
	}
}
