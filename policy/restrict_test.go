package policy

import (
	"strings"
	"testing"
)

// restrictTools are tools whose arguments have rare roles.
const restrictTools = `{"servers":{
	"forge":{"tools":[{"toolName":"read","args":{"owner":["github-owner"],"repo":["github-repo"]}}]},
	"mail":{"tools":[{"toolName":"send","args":{"to":["email-address"],"share":["share-permission"]}}]},
	"fetch":{"tools":[
		{"toolName":"http_fetch","args":{"url":["fetch-url"],"headers":["http-headers"]}},
		{"toolName":"many","args":{"urls":["fetch-url","free-text-egress"]}}]},
	"files":{"tools":[{"toolName":"directory_tree","args":{"path":["read-path"]}},{"toolName":"move","args":{"from":["delete-path"]}},{"toolName":"read","args":{"path":["read-path"]}}]},
	"vcs":{"tools":[{"toolName":"publish","args":{"branch":["branch-name"],"ref":["git-ref"],"path":["read-path"]}}]}}}`

// Another form of the same call must not evade a rule that escalates or denies.
func TestRulesThatHoldBack(t *testing.T) {
	w := newWorld(t)
	everything := `,{"name":"open","if":{"server":["forge","mail","vcs"]},"then":"allow"},
		{"name":"web","if":{"server":["fetch"],"domains":{"roles":["fetch-url"],"allowed":["*"]}},"then":"allow"},
		{"name":"text","if":{"server":["fetch"],"roles":["free-text-egress"]},"then":"allow"},
		{"name":"home","if":{"server":["files"],"paths":{"roles":["read-path","delete-path"],"within":"~/Documents"}},"then":"allow"}`
	lists := func(role, value, match string) string {
		return `{"name":"back","if":{"lists":[{"roles":["` + role + `"],"allowed":["` + value + `"],"matchType":"` + match + `"}]},"then":"deny"}`
	}
	for _, tc := range []struct {
		rule, server, tool, args string
		want                     Decision
	}{
		// Names that the engine brings to lower case, and arguments with several values.
		{lists("github-owner", "EvilCorp", "identifiers"), "forge", "read", `{"owner":"EvilCorp","repo":"x"}`, Deny},
		{lists("github-owner", "EvilCorp", "identifiers"), "forge", "read", `{"owner":"acme","repo":"x"}`, Allow},
		{lists("email-address", "evil@example.org", "emails"), "mail", "send", `{"to":["ann@example.com","Evil@example.org"],"share":"reader"}`, Deny},
		{lists("email-address", "evil@example.org", "emails"), "mail", "send", `{"to":"Evil <evil@example.org>","share":"reader"}`, Deny},
		{lists("email-address", "evil@example.org", "emails"), "mail", "send", `{"to":"ann@example.com, evil@example.org","share":"reader"}`, Deny},
		{lists("email-address", "evil@example.org", "emails"), "mail", "send", `{"to":{"address":"evil@example.org"},"share":"reader"}`, Deny},
		{lists("email-address", "evil@example.org", "emails"), "mail", "send", `{"to":["ann@example.com"],"share":"reader"}`, Allow},
		{lists("email-address", "example.org", "domains"), "mail", "send", `{"to":"evil@example.org","share":"reader"}`, Deny},
		{lists("fetch-url", "evil.example.org", "domains"), "fetch", "many", `{"urls":["https://go.dev","https://evil.example.org"]}`, Deny},
		{lists("fetch-url", "evil.example.org", "domains"), "fetch", "many", `{"urls":["https://go.dev"]}`, Allow},
		{lists("free-text-egress", "https://evil.example.org", "identifiers"), "fetch", "many", `{"urls":["https://evil.example.org"]}`, Deny},
		{`{"name":"back","if":{"domains":{"roles":["fetch-url"],"allowed":["evil.example.org"]}},"then":"deny"}`, "fetch", "many", `{"urls":["https://go.dev","https://evil.example.org"]}`, Deny},
		{`{"name":"back","if":{"domains":{"roles":["fetch-url"],"allowed":["github.com/evil/repo"]}},"then":"deny"}`, "fetch", "http_fetch", `{"url":"https://github.com/evil/repo"}`, Deny},
		// Roles that no rule needs to allow.
		{lists("share-permission", "owner", "identifiers"), "mail", "send", `{"to":"ann@example.com","share":"OWNER"}`, Deny},
		{lists("share-permission", "owner", "identifiers"), "mail", "send", `{"to":"ann@example.com","share":"reader"}`, Allow},
		{lists("http-headers", "x-team", "identifiers"), "fetch", "http_fetch", `{"url":"https://go.dev","headers":{"X-Team":"a"}}`, Deny},
		{lists("http-headers", "x-team", "identifiers"), "fetch", "http_fetch", `{"url":"https://go.dev","headers":{"X-Other":"a"}}`, Allow},
		{`{"name":"back","if":{"roles":["http-headers"]},"then":"escalate"}`, "fetch", "http_fetch", `{"url":"https://go.dev","headers":{"X-Other":"a"}}`, Escalate},
		{lists("branch-name", "main", "identifiers"), "vcs", "publish", `{"branch":"main","ref":"v1","path":"a"}`, Deny},
		{lists("git-ref", "v1", "identifiers"), "vcs", "publish", `{"branch":"x","ref":"v1","path":"a"}`, Deny},
		{`{"name":"back","if":{"roles":["branch-name"]},"then":"escalate"}`, "vcs", "publish", `{"path":"a"}`, Escalate},
		{
			`{"name":"mine","if":{"lists":[{"roles":["branch-name"],"allowed":["mine"],"matchType":"identifiers"}]},"then":"allow"},{"name":"back","if":{"roles":["branch-name"]},"then":"deny"}`,
			"vcs", "publish", `{"branch":"mine","ref":"v1","path":"a"}`, Allow,
		},
		{
			`{"name":"mine","if":{"lists":[{"roles":["branch-name"],"allowed":["mine"],"matchType":"identifiers"}]},"then":"allow"},{"name":"back","if":{"roles":["branch-name"]},"then":"deny"}`,
			"vcs", "publish", `{"branch":"main","ref":"v1","path":"a"}`, Deny,
		},
		// Conditions that have no role in common.
		{
			`{"name":"back","if":{"roles":["read-path"],"lists":[{"roles":["branch-name"],"allowed":["main"],"matchType":"identifiers"}]},"then":"deny"}`,
			"vcs", "publish", `{"branch":"main","ref":"v1","path":"a"}`, Deny,
		},
		{
			`{"name":"back","if":{"roles":["read-path"],"lists":[{"roles":["branch-name"],"allowed":["main"],"matchType":"identifiers"}]},"then":"deny"}`,
			"vcs", "publish", `{"branch":"other","ref":"v1","path":"a"}`, Allow,
		},
		// A call on a directory reaches the files below it.
		{`{"name":"back","if":{"paths":{"roles":["read-path"],"within":"~/Documents/private"}},"then":"deny"}`, "files", "directory_tree", `{"path":"~/Documents"}`, Deny},
		{`{"name":"back","if":{"paths":{"roles":["read-path"],"within":"~/Documents/private"}},"then":"deny"}`, "files", "directory_tree", `{"path":"~/Documents/open"}`, Allow},
		{`{"name":"back","if":{"paths":{"roles":["read-path"],"within":"~/Documents/private"}},"then":"deny"}`, "files", "read", `{"path":"~/Documents"}`, Allow},
		{`{"name":"back","if":{"paths":{"roles":["delete-path"],"within":"~/Documents/private"}},"then":"deny"}`, "files", "move", `{"from":"~/Documents"}`, Deny},
		{`{"name":"back","if":{"paths":{"roles":["delete-path"],"within":"~/Documents/private"}},"then":"escalate"}`, "files", "move", `{"from":"~/Documents/report.txt"}`, Allow},
	} {
		c, err := ParseCompiled("rules.json", []byte(w.expand(`{"rules":[`+tc.rule+everything+`]}`)))
		if err != nil {
			t.Fatal(err)
		}
		a, err := ParseAnnotations("tools.json", []byte(restrictTools))
		if err != nil {
			t.Fatal(err)
		}
		e := w.engine(func(config *Config) { config.Policy, config.Annotations = c, a })
		call := Call{Server: tc.server, Tool: tc.tool, Arguments: []byte(w.expand(tc.args))}
		if v := e.Evaluate(call); v.Decision != tc.want {
			t.Errorf("%s\n\t%s: %s by %s (%s), want %s", tc.rule, tc.args, v.Decision, v.Rule, v.Reason, tc.want)
		}
		if tc.want == Allow {
			continue
		}
		held := false
		for _, role := range e.Explain(call).Roles {
			for _, r := range role.Rules {
				held = held || r.Rule == "back" && r.Applied
			}
		}
		if !held {
			t.Errorf("%s\n\t%s: the explanation does not name the rule", tc.rule, tc.args)
		}
	}
}

// When one rule escalates some of the values, a rule that allows must still match all of
// them, not only the rest.
func TestOneOfSeveralValues(t *testing.T) {
	w := newWorld(t)
	c, err := ParseCompiled("rules.json", []byte(`{"rules":[
		{"name":"ask","if":{"domains":{"roles":["fetch-url"],"allowed":["ask.example.org"]}},"then":"escalate"},
		{"name":"open","if":{"domains":{"roles":["fetch-url"],"allowed":["go.dev"]}},"then":"allow"},
		{"name":"text","if":{"roles":["free-text-egress"]},"then":"allow"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	a, err := ParseAnnotations("tools.json", []byte(restrictTools))
	if err != nil {
		t.Fatal(err)
	}
	e := w.engine(func(config *Config) { config.Policy, config.Annotations = c, a })
	for urls, want := range map[string]Decision{
		`"https://go.dev"`: Allow, `"https://ask.example.org"`: Escalate, `"https://ask.example.org","https://other.example.org"`: Deny,
		`"https://go.dev","https://other.example.org"`: Deny, `"https://go.dev","https://ask.example.org"`: Deny,
	} {
		if v := e.Evaluate(Call{Server: "fetch", Tool: "many", Arguments: []byte(`{"urls":[` + urls + `]}`)}); v.Decision != want {
			t.Errorf("%s: %s by %s (%s), want %s", urls, v.Decision, v.Rule, v.Reason, want)
		}
	}
}

// A rule that can never take part is warned of.
func TestRulesWithoutCommonRole(t *testing.T) {
	w := newWorld(t)
	e := ruleEngine(t, w, `{"name":"dead","if":{"roles":["write-path"],"paths":{"roles":["read-path"],"within":"~"}},"then":"allow"}`, "")
	if all := strings.Join(e.warnings, "\n"); !strings.Contains(all, "rule dead: its conditions have no role in common, so it has no effect") {
		t.Errorf("warnings: %s", all)
	}
}

// Null means that an argument is left out only where the schema makes it optional.
func TestNullForWhatIsLeftOut(t *testing.T) {
	w := newWorld(t)
	c, err := ParseCompiled("rules.json", []byte(`{"rules":[
		{"name":"issues","if":{"server":["forge"],"roles":["github-owner","github-repo"]},"then":"allow"},
		{"name":"reads","if":{"server":["files"],"paths":{"roles":["read-path"],"within":"~"}},"then":"allow"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	nullable := `{"anyOf":[{"type":"string"},{"type":"null"}],"default":null}`
	a, err := ParseAnnotations("tools.json", []byte(`{"servers":{
		"forge":{"tools":[{"toolName":"list","args":{"owner":["github-owner"],"repo":["github-repo"]},
			"inputSchema":{"type":"object","properties":{"owner":{"type":["string","null"]},"repo":`+nullable+`},"required":["owner"]}},
			{"toolName":"free","args":{"owner":["github-owner"],"repo":["github-repo"]}}]},
		"files":{"tools":[{"toolName":"read","args":{"path":["read-path"]},"inputSchema":{"type":"object","properties":{"path":`+nullable+`}}}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	e := w.engine(func(config *Config) { config.Policy, config.Annotations = c, a })
	for _, tc := range []struct {
		server, tool, args string
		want               Decision
	}{
		{"forge", "list", `{"owner":"acme","repo":null}`, Allow},
		{"forge", "list", `{"owner":null,"repo":"x"}`, Deny},
		{"forge", "free", `{"owner":"acme","repo":null}`, Deny},
		{"files", "read", `{"path":null}`, Deny},
	} {
		if v := e.Evaluate(Call{Server: tc.server, Tool: tc.tool, Arguments: []byte(tc.args)}); v.Decision != tc.want {
			t.Errorf("%s %s: %s by %s (%s), want %s", tc.tool, tc.args, v.Decision, v.Rule, v.Reason, tc.want)
		}
	}
}

// A list that is not resolved is empty for a rule that allows. A rule that escalates or
// denies must not lose its effect because of it.
func TestListsThatAreNotResolved(t *testing.T) {
	w := newWorld(t)
	for lists, want := range map[string]Decision{
		`{"lists":{}}`: Escalate,
		`{"lists":{"hosts":{"values":[]},"people":{"values":[]}}}`:                                       Allow,
		`{"lists":{"hosts":{"values":["go.dev"]},"people":{"values":["ann@example.com"]}}}`:              Escalate,
		`{"lists":{"hosts":{"values":["example.org"]},"people":{"values":["bob@example.com","@none"]}}}`: Allow,
	} {
		e := ruleEngine(t, w, `
			{"name":"ask-hosts","if":{"domains":{"roles":["fetch-url"],"allowed":["@hosts"]}},"then":"escalate"},
			{"name":"ask-people","if":{"lists":[{"roles":["email-address"],"allowed":["@people"],"matchType":"emails"}]},"then":"escalate"},
			{"name":"web","if":{"domains":{"roles":["fetch-url"],"allowed":["*"]}},"then":"allow"},
			{"name":"mail","if":{"server":["mail"]},"then":"allow"}`, lists)
		for _, c := range []Call{
			{Server: "fetch", Tool: "http_fetch", Arguments: []byte(`{"url":"https://go.dev"}`)},
			{Server: "mail", Tool: "send", Arguments: []byte(`{"to":"ann@example.com"}`)},
		} {
			if v := e.Evaluate(c); v.Decision != want {
				t.Errorf("%s %s: %s by %s, want %s", lists, c.Arguments, v.Decision, v.Rule, want)
			}
		}
	}
	e := ruleEngine(t, w, `{"name":"mail","if":{"lists":[{"roles":["email-address"],"allowed":["ann@example.com"],"matchType":"emails"}]},"then":"allow"}`, "")
	if v := e.Evaluate(Call{Server: "mail", Tool: "send", Arguments: []byte(`{"to":["ann@example.com",null]}`)}); v.Decision != Deny {
		t.Errorf("null on a list: %s by %s", v.Decision, v.Rule)
	}
}
