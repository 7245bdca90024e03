package compile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// An accepted proposal has the properties that accept checks, and when it is written and
// read again its rules are the same.
func FuzzProposal(f *testing.F) {
	for _, seed := range []string{
		`{"rules":[],"listDefinitions":[]}`,
		`{"rules":[{"name":"r","description":"","principle":"","if":{"server":["filesystem"],"tool":null,"roles":["read-path"],"paths":null,"domains":null,"lists":null},"then":"escalate","reason":"r"}],"listDefinitions":[]}`,
		`{"rules":[{"name":"r","description":"","principle":"","if":{"server":["filesystem"],"paths":{"roles":["read-path"],"within":"~/a"}},"then":"allow","reason":"r"}],"listDefinitions":[{"name":"l","type":"domains","principle":"","generationPrompt":"x","requiresMcp":true}]}`,
	} {
		f.Add(seed)
	}
	_, annotations := policy.Default()
	tools := annotations.Describe("filesystem")
	f.Fuzz(func(t *testing.T, answer string) {
		p, err := decodeProposal(answer)
		if err != nil || accept("filesystem", tools, p) != nil {
			return
		}
		for _, r := range p.Rules {
			if r.Then != policy.Allow && r.Then != policy.Escalate || !slices.Equal(policy.Find[policy.Servers](r.If), policy.Servers{"filesystem"}) {
				t.Fatalf("accepted %+v", r)
			}
		}
		again, err := rulesText(p.Rules, p.Lists)
		if err != nil {
			t.Fatal(err)
		}
		q, err := decodeProposal(again)
		if err != nil || q.Digest() != p.Digest() {
			t.Fatalf("%q is read again as something else: %v", again, err)
		}
	})
}

func FuzzScenarios(f *testing.F) {
	f.Add(`{"scenarios":[{"description":"d","tool":"read_text_file","arguments":"{\"path\":\"/x\"}","expectedDecision":"deny"}]}`)
	_, annotations := policy.Default()
	tools := annotations.Describe("filesystem")
	f.Fuzz(func(t *testing.T, answer string) {
		all, err := decodeScenarios("filesystem", tools, answer)
		if err != nil {
			return
		}
		data, err := policy.EncodeScenarios("", all)
		if err != nil {
			t.Fatal(err)
		}
		again, err := policy.ParseScenarios("again", data)
		if err != nil || len(again) != len(all) {
			t.Fatalf("%s: %v", data, err)
		}
	})
}

// A rule that is reported as shadowed has no effect: without it every sampled call gets
// the same decision.
func TestShadowedRulesHaveNoEffect(t *testing.T) {
	_, annotations := policy.Default()
	w, err := NewWorld(t.TempDir(), "", Machine{Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	reported := 0
	rapid.Check(t, func(t *rapid.T) {
		server := rapid.SampledFrom([]string{"filesystem", "fetch"}).Draw(t, "server")
		tools := annotations.Describe(server)
		var rules []policy.Rule
		for i := range rapid.IntRange(1, 5).Draw(t, "rules") {
			rules = append(rules, drawRule(t, server, string(rune('a'+i))))
		}
		var rest []policy.Rule
		dead := shadowed(server, tools, rules)
		for _, r := range rules {
			if !slices.ContainsFunc(dead, func(s string) bool { return strings.HasPrefix(s, r.Name+":") }) {
				rest = append(rest, r)
			}
		}
		if len(rest) == len(rules) {
			return
		}
		reported++
		before, err := w.Engine(&policy.Compiled{Rules: rules}, annotations, nil)
		if err != nil {
			t.Fatal(err)
		}
		after, err := w.Engine(&policy.Compiled{Rules: rest}, annotations, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range Grid(server, tools) {
			if a, b := before.Evaluate(c), after.Evaluate(c); a.Decision != b.Decision {
				t.Fatalf("%s %s: %s, without the shadowed %v %s; rules %+v", c.Tool, c.Arguments, a.Decision, dead, b.Decision, rules)
			}
		}
	})
	if reported == 0 {
		t.Error("no rule was ever shadowed")
	}
}

func drawRule(t *rapid.T, server, name string) policy.Rule {
	r := policy.Rule{Name: name, Reason: "r", Then: rapid.SampledFrom([]policy.Decision{policy.Allow, policy.Escalate}).Draw(t, "then")}
	r.If = policy.Condition{policy.Servers{server}}
	if server == "fetch" {
		if rapid.Bool().Draw(t, "domains") {
			r.If = append(r.If, &policy.DomainCondition{Roles: []policy.Role{policy.FetchURL}, Allowed: rapid.SliceOfNDistinct(
				rapid.SampledFrom([]string{"*", "example.com", "*.example.com", "github.com"}), 1, 2, rapid.ID[string]).Draw(t, "hosts")})
		}
		return r
	}
	roles := rapid.SliceOfNDistinct(rapid.SampledFrom([]policy.Role{policy.ReadPath, policy.WritePath, policy.DeletePath}), 1, 3, rapid.ID[policy.Role])
	if rapid.Bool().Draw(t, "tool") {
		r.If = append(r.If, policy.Tools{rapid.SampledFrom([]string{"read_text_file", "move_file", "edit_file"}).Draw(t, "name")})
	}
	if rapid.Bool().Draw(t, "roles") {
		r.If = append(r.If, policy.Roles(roles.Draw(t, "own")))
	}
	if rapid.Bool().Draw(t, "paths") {
		dir := rapid.SampledFrom([]string{"~/Documents", "~", "/etc", "/tmp"}).Draw(t, "within")
		r.If = append(r.If, &policy.PathCondition{Roles: roles.Draw(t, "of"), Within: dir})
	}
	return r
}

func TestValues(t *testing.T) {
	for listType, values := range map[string]struct{ good, bad []string }{
		"domains": {
			[]string{"go.dev", "*.python.org", "docs.example.co.uk", "xn--bcher-kva.com", "octocat.github.io", "*.octocat.github.io", "raw.githubusercontent.com", "s3.us-east-1.amazonaws.com.example.org"},
			[]string{
				"", "com", "*.com", "*", "*.co.uk", "co.uk", "localhost", "10.0.0.1", "[::1]", "https://go.dev", "go.dev/x", "go.dev:443",
				"a b.com", "user@go.dev", "-a.com", "a..com", "*.*.com", "example.internal", "printer.local", "github.io", "*.github.io", "*.vercel.app", "pages.dev", "*.s3.amazonaws.com", strings.Repeat("a", 300) + ".com", "go.dev\u202e",
			},
		},
		"emails":      {[]string{"a.b@example.com"}, []string{"", "a", "@example.com", "a@", "a@b@example.com", "a b@example.com", "a@com", "A <a@example.com>", "a@*.example.com"}},
		"identifiers": {[]string{"octocat", "my-repo_1", "Straße"}, []string{"", "a b", "*", "a\tb", "a@b", "x\x1b[2J"}},
		"else":        {nil, []string{"x"}},
	} {
		t.Run(listType, func(t *testing.T) {
			for _, v := range values.good {
				if err := checkValue(listType, v); err != nil {
					t.Errorf("%s %q: %v", listType, v, err)
				}
			}
			for _, v := range values.bad {
				if checkValue(listType, v) == nil {
					t.Errorf("%s: %q was taken", listType, v)
				}
			}
		})
	}
}

func TestConstitutions(t *testing.T) {
	dir := t.TempDir()
	write := func(data string) string {
		name := filepath.Join(dir, "c.md")
		if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	c, err := ReadConstitution(write("Read anything in ~/Documents.\r\n\tAsk first.\n"))
	if err != nil || len(c.Hash) != 64 {
		t.Errorf("%+v, %v", c, err)
	}
	for why, data := range map[string]string{
		"is empty": " \n\t\n", "is larger than 65536 bytes": strings.Repeat("x", MaxConstitution+1), "is not plain text": "read\x00all",
	} {
		if _, err := ReadConstitution(write(data)); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v", why, err)
		}
	}
	for _, data := range []string{"\xff\xfe", "\x1b[2J"} {
		if _, err := ReadConstitution(write(data)); err == nil {
			t.Errorf("%q was taken", data)
		}
	}
	for _, name := range []string{dir, filepath.Join(dir, "absent")} {
		if _, err := ReadConstitution(name); err == nil {
			t.Errorf("%s was read", name)
		}
	}
	if hash("a", "bc") == hash("ab", "c") || hash("a", "") == hash("a") {
		t.Error("parts flow into each other")
	}
}
