package compile

import (
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// Hosts that a rule may not allow, and some that it may.
func TestAllowedHosts(t *testing.T) {
	_, a := policy.Default()
	tools := a.Describe("fetch")
	m := Machine{Home: t.TempDir()}
	for host, why := range map[string]string{
		"*": "every host", "https://*": "without scheme", "com": "one public host", "localhost": "one public host", "10.0.0.1": "one public host",
		"[::1]": "without scheme", "http://go.dev": "without scheme", "go.dev:8080": "without scheme", "metadata.google.internal": "one public host",
		"printer.local": "one public host", "co.uk": "anybody can have a name", "*.github.io": "anybody can have a name", "octocat.github.io": "", "go.dev": "", "*.go.dev": "", "github.com/golang/go": "", "@docs": "",
	} {
		t.Run(host, func(t *testing.T) {
			r := policy.Rule{Name: "r", Then: policy.Allow, If: policy.Condition{
				policy.Servers{"fetch"}, &policy.DomainCondition{Roles: []policy.Role{policy.FetchURL}, Allowed: []string{host}},
			}}
			got := strings.Join(m.invariants("fetch", tools, []policy.Rule{r}), "; ")
			if (got == "") != (why == "") || !strings.Contains(got, why) {
				t.Errorf("%s: %q, want %q", host, got, why)
			}
			r.If[1] = policy.ListConditions{{Roles: []policy.Role{policy.FetchURL}, Allowed: []string{host}, Match: "domains"}}
			if listed := strings.Join(m.invariants("fetch", tools, []policy.Rule{r}), "; "); (listed == "") != (why == "") {
				t.Errorf("%s on a list: %q", host, listed)
			}
		})
	}
	r := policy.Rule{Name: "r", Then: policy.Allow, If: policy.Condition{policy.Servers{"fetch"}, policy.Tools{"http_fetch"}}}
	if got := m.invariants("fetch", tools, []policy.Rule{r}); len(got) != 1 || !strings.Contains(got[0], "fetch-url without domains") {
		t.Errorf("%q", got)
	}
	r.If = append(r.If, &policy.DomainCondition{Roles: []policy.Role{policy.FetchURL}})
	if got := m.invariants("fetch", tools, []policy.Rule{r}); len(got) != 1 || !strings.Contains(got[0], "no host at all") {
		t.Errorf("%q", got)
	}
	r.Then, r.If = policy.Escalate, r.If[:2]
	if got := m.invariants("fetch", tools, []policy.Rule{r}); len(got) != 0 {
		t.Errorf("an escalation: %q", got)
	}
}

// Hosts and directories that are allowed and not named in the constitution are reported.
func TestUnnamed(t *testing.T) {
	rule := func(c policy.Condition) policy.Rule { return policy.Rule{Name: "r", Then: policy.Allow, If: c} }
	got := unnamed("Read my Documents, and GitHub.", []policy.Rule{
		rule(policy.Condition{&policy.PathCondition{Within: "~/Documents"}}),
		rule(policy.Condition{&policy.PathCondition{Within: "/srv/data"}}),
		rule(policy.Condition{&policy.DomainCondition{Allowed: []string{"*.github.com", "evil.example.com", "@docs"}}}),
		rule(policy.Condition{policy.ListConditions{{Allowed: []string{"octocat"}}}}),
		{Name: "e", Then: policy.Escalate, If: policy.Condition{&policy.PathCondition{Within: "/etc"}}},
	})
	if len(got) != 3 || !strings.Contains(got[0], "/srv/data") || !strings.Contains(got[1], "evil.example.com") || !strings.Contains(got[2], "octocat") {
		t.Errorf("%q", got)
	}
}
