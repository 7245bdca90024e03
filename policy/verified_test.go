package policy

import (
	"encoding/json"
	"strings"
	"testing"
)

// A written policy is read back unchanged. A verified policy is read only if its rules and
// lists are the verified ones.
func TestVerifiedPolicies(t *testing.T) {
	c, err := ParseCompiled("p.json", []byte(`{"servers":[{"serverName":"fetch","inputHash":"x"}],"skippedServers":[{"serverName":"git","reason":"r"}],
		"rules":[{"name":"r","if":{"server":["fetch"],"tool":["http_fetch"],"roles":["fetch-url"],"paths":{"roles":["read-path"],"within":"~/a"},
		"domains":{"roles":["fetch-url"],"allowed":["@docs"]},"lists":[{"roles":["github-owner"],"allowed":["o"],"matchType":"identifiers"}]},"then":"allow","reason":"because"}],
		"listDefinitions":[{"name":"docs","type":"domains","principle":"p","generationPrompt":"which","requiresMcp":true}]}`))
	if err != nil || c.Verified != "" || len(c.Servers) != 1 || len(c.Skipped) != 1 || !c.Lists[0].RequiresMCP {
		t.Fatalf("%+v, %v", c, err)
	}
	c.Verified = c.Digest()
	data, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseCompiled("p.json", data)
	if err != nil || again.Digest() != c.Digest() || again.Verified != c.Digest() {
		t.Fatalf("%+v, %v", again, err)
	}
	for _, change := range []string{`"then":"allow"`, `"~/a"`, `"o"`, `"docs"`, `"which"`} {
		other := strings.ReplaceAll(string(data), change, strings.NewReplacer("allow", "escalate", "a\"", "b\"", "o\"", "p\"", "docs", "dogs", "which", "what").Replace(change))
		if _, err := ParseCompiled("p.json", []byte(other)); err == nil || other == string(data) || !strings.Contains(err.Error(), "not those that were verified") && !strings.Contains(err.Error(), "not defined") {
			t.Errorf("%s changed: %v", change, err)
		}
	}
	if _, err := ParseCompiled("p.json", []byte(`{"rules":[],"verified":false}`)); err == nil {
		t.Error("a policy that was not verified was loaded")
	}
}

// The tools are described with the roles that they are judged by.
func TestDescribe(t *testing.T) {
	_, a := Default()
	if got := strings.Join(a.Servers(), " "); got != "fetch filesystem git" {
		t.Errorf("servers %s", got)
	}
	for _, d := range a.Describe("fetch") {
		if d.Name != "http_fetch" {
			continue
		}
		var roles []string
		for _, arg := range d.Arguments {
			for _, r := range arg.Roles {
				roles = append(roles, arg.Name+":"+string(r))
			}
		}
		if got := strings.Join(roles, " "); got != "headers:http-headers url:fetch-url" || d.Comment == "" || d.Schema == nil {
			t.Errorf("%+v", d)
		}
		return
	}
	t.Error("http_fetch is missing")
}

// Lists keep the values that a person added and removed separate from looked-up values.
func TestListsKeepHandsApart(t *testing.T) {
	data, err := EncodeLists("", map[string]List{"docs": {Values: []string{"a.com", "b.com"}, Added: []string{"c.com", "a.com"}, Removed: []string{"b.com"}}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := ParseLists("l", data)
	if err != nil {
		t.Fatal(err)
	}
	docs, ok := l.Get("docs")
	if got := strings.Join(docs.Effective(), " "); !ok || got != "a.com c.com" || strings.Join(l.values("docs"), " ") != got {
		t.Errorf("%+v", docs)
	}
	if _, ok := l.Get("other"); ok {
		t.Error("there is no such list")
	}
}
