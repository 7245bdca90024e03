package policy

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// ruleEngine judges by the given rules over a world, with the shipped
// annotations plus those of a server with identifiers and mail.
func ruleEngine(t *testing.T, w *world, rules string, lists string) *Engine {
	t.Helper()
	definitions := ""
	if lists != "" {
		definitions = `"listDefinitions":[{"name":"hosts","type":"domains"},{"name":"people","type":"emails"},{"name":"repos","type":"identifiers"}],`
	}
	c, err := ParseCompiled("rules.json", []byte(w.expand(`{`+definitions+`"rules":[`+rules+`]}`)))
	if err != nil {
		t.Fatal(err)
	}
	a, err := ParseAnnotations("tools.json", []byte(strings.Replace(string(defaultAnnotations), `"servers": {`, `"servers": {
		"forge": {"tools":[{"toolName":"read","args":{"owner":["github-owner"],"repo":["github-repo"],"text":["none"]}},{"toolName":"whoami","args":{}}]},
		"mail": {"tools":[{"toolName":"send","args":{"to":["email-address"],"body":["email-body"]}}]},`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	return w.engine(func(config *Config) {
		config.Policy, config.Annotations = c, a
		if lists != "" {
			if config.Lists, err = ParseLists("lists.json", []byte(lists)); err != nil {
				t.Fatal(err)
			}
		}
	})
}

const downloads = `
	{"name":"read-downloads","if":{"paths":{"roles":["read-path"],"within":"~/Downloads"}},"then":"allow"},
	{"name":"write-downloads","if":{"roles":["write-path"],"server":["filesystem"],"paths":{"roles":["write-path"],"within":"{HOME}/Downloads"}},"then":"allow"},
	{"name":"read-documents","if":{"paths":{"roles":["read-path"],"within":"~/Documents/"}},"then":"allow"}`

func TestPathRules(t *testing.T) {
	w := newWorld(t)
	e := ruleEngine(t, w, downloads+`,
		{"name":"ask-reads","if":{"server":["filesystem"],"tool":["read_text_file","read_multiple_files"],"roles":["read-path"]},"then":"escalate"}`, "")
	for _, tc := range []struct {
		tool, args string
		want       Decision
		rule       string
	}{
		{"read_text_file", `{"path":"~/Downloads/got.zip"}`, Allow, "read-downloads"},
		{"read_text_file", `{"path":"~/Documents/report.txt"}`, Allow, "read-documents"},
		{"read_text_file", `{"path":"~/notes.txt"}`, Escalate, "ask-reads"},
		{"read_text_file", `{"path":"~/Downloadsx"}`, Escalate, "ask-reads"},
		{"get_file_info", `{"path":"~/notes.txt"}`, Deny, RuleDefault},
		{"move_file", `{"source":"a.txt","destination":"~/Downloads/a.txt"}`, Allow, "write-downloads"},
		{"move_file", `{"source":"{OUT}/secret.txt","destination":"a.txt"}`, Deny, RuleDefault},
		{"move_file", `{"source":"~/Downloads/got.zip","destination":"a.txt"}`, Deny, RuleDefault},
		{"edit_file", `{"path":"~/Documents/report.txt","edits":[]}`, Deny, RuleDefault},
		{"edit_file", `{"path":"~/Downloads/got.zip","edits":[]}`, Allow, "read-downloads"},
		{"read_multiple_files", `{"paths":["~/Downloads/got.zip","~/Documents/report.txt"]}`, Allow, "read-downloads"},
		{"read_multiple_files", `{"paths":["~/Downloads/got.zip","/etc/hosts"]}`, Escalate, "ask-reads"},
		{"read_multiple_files", `{"paths":["a.txt","~/Downloads/got.zip"]}`, Allow, "read-downloads"},
		{"write_file", `{"path":"~/Downloads/.git/hooks/x","content":"x"}`, Escalate, RuleHostExecution},
	} {
		v := e.Evaluate(Call{Server: "filesystem", Tool: tc.tool, Arguments: []byte(w.expand(tc.args))})
		if v.Decision != tc.want || v.Rule != tc.rule {
			t.Errorf("%s %s: %s by %s (%s), want %s by %s", tc.tool, tc.args, v.Decision, v.Rule, v.Reason, tc.want, tc.rule)
		}
	}
}

func TestIdentifierRules(t *testing.T) {
	w := newWorld(t)
	e := ruleEngine(t, w, `
		{"name":"own-repos","if":{"server":["forge"],"lists":[
			{"roles":["github-owner"],"allowed":["acme"],"matchType":"identifiers"},
			{"roles":["github-repo"],"allowed":["@repos"],"matchType":"identifiers"}]},"then":"allow"},
		{"name":"mail-to-people","if":{"server":["mail"],"lists":[{"roles":["email-address"],"allowed":["@people"],"matchType":"emails"}]},"then":"allow"},
		{"name":"forge-whoami","if":{"server":["forge"],"tool":["whoami"]},"then":"allow"}`,
		`{"lists":{"repos":{"values":["widget","gadget","old"],"manualAdditions":["extra"],"manualRemovals":["old"]},
		"people":{"values":["Ann@Example.com"]}}}`)
	for _, tc := range []struct {
		server, tool, args string
		want               Decision
	}{
		{"forge", "read", `{"owner":"Acme","repo":"Widget","text":"x"}`, Allow},
		{"forge", "read", `{"owner":"acme","repo":"extra"}`, Allow},
		{"forge", "read", `{"owner":"acme","repo":"old"}`, Deny},
		{"forge", "read", `{"owner":"acme","repo":"secret"}`, Deny},
		{"forge", "read", `{"owner":"evil","repo":"widget"}`, Deny},
		{"forge", "read", `{"owner":"acme"}`, Deny},
		{"forge", "read", `{"owner":"acme/../evil","repo":"widget"}`, Deny},
		{"forge", "read", `{"owner":["acme","evil"],"repo":"widget"}`, Deny},
		{"forge", "whoami", `{}`, Allow},
		{"mail", "send", `{"to":"ann@example.com","body":"hello"}`, Allow},
		{"mail", "send", `{"to":["ann@example.com"],"body":"hello"}`, Allow},
		{"mail", "send", `{"to":["ann@example.com","eve@example.com"],"body":"hello"}`, Deny},
		{"mail", "send", `{"to":{"address":"eve@example.com"},"body":"hello"}`, Deny},
		{"mail", "send", `{"body":"hello"}`, Deny},
	} {
		v := e.Evaluate(Call{Server: tc.server, Tool: tc.tool, Arguments: []byte(tc.args)})
		if v.Decision != tc.want {
			t.Errorf("%s %s: %s by %s (%s), want %s", tc.tool, tc.args, v.Decision, v.Rule, v.Reason, tc.want)
		}
	}
}

func TestListsMissingMatchNothing(t *testing.T) {
	w := newWorld(t)
	e := ruleEngine(t, w, `{"name":"listed","if":{"domains":{"roles":["fetch-url"],"allowed":["@hosts"]}},"then":"allow"}`,
		`{"lists":{"people":{"values":[]}}}`)
	v := e.Evaluate(Call{Server: "fetch", Tool: "http_fetch", Arguments: []byte(`{"url":"https://example.com/"}`)})
	if v.Decision != Deny {
		t.Errorf("%s by %s", v.Decision, v.Rule)
	}
	if !slices.ContainsFunc(e.warnings, func(s string) bool { return strings.Contains(s, "@hosts is not resolved") }) {
		t.Errorf("no warning in %q", e.warnings)
	}
}

func TestListsThatCoverTooMuchHaveNoEffect(t *testing.T) {
	w := newWorld(t)
	e := ruleEngine(t, w, `{"name":"listed","if":{"domains":{"roles":["fetch-url"],"allowed":["@hosts"]}},"then":"allow"}`,
		`{"lists":{"hosts":{"values":["*","com","*.com","co.uk","*.co.uk","github.io","*.vercel.app","octocat.github.io","127.0.0.1","printer.local","https://example.com","*.example.org"]}}}`)
	for url, want := range map[string]Decision{
		"https://example.com/": Deny, "https://x.co.uk/": Deny, "https://co.uk/": Deny, "https://a.example.org/": Allow,
		"https://github.io/": Deny, "https://stranger.github.io/": Deny, "https://octocat.github.io/": Allow, "https://stranger.vercel.app/": Deny, "https://127.0.0.1/": Deny, "https://printer.local/": Deny,
	} {
		v := e.Evaluate(Call{Server: "fetch", Tool: "http_fetch", Arguments: []byte(`{"url":"` + url + `"}`)})
		if v.Decision != want {
			t.Errorf("%s: %s by %s", url, v.Decision, v.Rule)
		}
	}
}

// TestListsThatAsk: hosts of a list that are too wide to be allowed can still be
// escalated, and are not left to later rules.
func TestListsThatAsk(t *testing.T) {
	w := newWorld(t)
	domains := func(name, host, then string) string {
		return `{"name":"` + name + `","if":{"domains":{"roles":["fetch-url"],"allowed":["` + host + `"]}},"then":"` + then + `"}`
	}
	e := ruleEngine(t, w, domains("asked", "@hosts", "escalate")+","+domains("rest", "*", "allow"),
		`{"lists":{"hosts":{"values":["*.vercel.app","github.io"]}}}`)
	for url, want := range map[string]Decision{"https://x.vercel.app/": Escalate, "https://github.io/": Escalate, "https://example.org/": Allow} {
		v := e.Evaluate(Call{Server: "fetch", Tool: "http_fetch", Arguments: []byte(`{"url":"` + url + `"}`)})
		if v.Decision != want {
			t.Errorf("%s: %s by %s", url, v.Decision, v.Rule)
		}
	}
}

// TestRulesForDomainsThatGiveNamesAway: a rule for a public suffix applies as it is
// written, with a warning when it is loaded.
func TestRulesForDomainsThatGiveNamesAway(t *testing.T) {
	w := newWorld(t)
	for pattern, want := range map[string]bool{"*.github.io": true, "*.vercel.app": true, "github.io": false, "octocat.github.io": false, "*.example.org": false} {
		for _, then := range []string{"allow", "escalate"} {
			e := ruleEngine(t, w, `{"name":"wide","if":{"domains":{"roles":["fetch-url"],"allowed":["`+pattern+`"]}},"then":"`+then+`"}`, "")
			warned := slices.ContainsFunc(e.warnings, func(s string) bool { return strings.HasPrefix(s, "rule wide allows all hosts below a domain") })
			if warned != (want && then == "allow") {
				t.Errorf("%s %s: warned %v", then, pattern, warned)
			}
		}
	}
}

func TestVisible(t *testing.T) {
	w := newWorld(t)
	e := ruleEngine(t, w, `{"name":"forge-reads","if":{"server":["forge"],"tool":["read"],"roles":["github-owner"]},"then":"allow"}`, "")
	for tool, want := range map[string]bool{
		"filesystem/read_text_file": true, "git/git_status": true, "git/git_push": false, "fetch/http_fetch": false,
		"forge/read": false, "forge/whoami": false, "nobody/x": false, "proxy/add_proxy_domain": true,
		"filesystem/list_allowed_directories": true,
	} {
		server, name, _ := strings.Cut(tool, "/")
		if got := e.Visible(server, name); got != want {
			t.Errorf("%s visible: %v", tool, got)
		}
	}
	shipped := w.engine()
	for key := range shipped.collector.tools {
		if !shipped.Visible(key.server, key.tool) {
			t.Errorf("the shipped policy hides %v", key)
		}
	}
}

func TestToContainer(t *testing.T) {
	w := newWorld(t)
	e := w.engine()
	for in, want := range map[string]string{
		"{BOX}":               "/workspace",
		"in {BOX}/a.txt: x":   "in /workspace/a.txt: x",
		"{BOX}2/a":            "{BOX}2/a",
		"{BOX},{BOX}/b {BOX}": "/workspace,/workspace/b /workspace",
		"in {BOX}.":           "in /workspace.",
		"{BOX}.bak":           "{BOX}.bak",
		"{OUT}/x":             "{OUT}/x",
		"\"{BOX}\"":           "\"/workspace\"",
	} {
		if got := e.ToContainer(w.expand(in)); got != w.expand(want) {
			t.Errorf("%s: %s", in, got)
		}
	}
}

// A server may name a file by a URL, in which a space is written as %20.
func TestToContainerInURLs(t *testing.T) {
	w := newWorld(t)
	spaced := w.root + "/my box"
	w.must(os.Mkdir(spaced, 0o700))
	e := w.engine(func(c *Config) { c.Sandbox = spaced })
	if got, want := e.ToContainer("file://"+w.root+"/my%20box/a b, "+spaced), "file:///workspace/a b, /workspace"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestSchemaMatches(t *testing.T) {
	e, _ := defaultEngine(t)
	same := `{"required":["url"],"additionalProperties":false,"type":"object"}`
	if err := e.SchemaMatches("fetch", "http_fetch", []byte(same)); err == nil {
		t.Error("another schema matches")
	}
	key := toolKey{"fetch", "http_fetch"}
	if err := e.SchemaMatches("fetch", "http_fetch", e.collector.tools[key].schema.Source().Encode()); err != nil {
		t.Error(err)
	}
	if err := e.SchemaMatches("fetch", "unknown", []byte(`{}`)); err == nil {
		t.Error("an unknown tool matches")
	}
}

// TestListThatCannotBeRead: because of a value that is no host, a rule escalates or denies
// more, and never allows more.
func TestListThatCannotBeRead(t *testing.T) {
	w := newWorld(t)
	for _, tc := range []struct{ then, values string }{
		{"escalate", `"*.com"`}, {"escalate", `"elsewhere.example","gopher://a.example/"`}, {"deny", `"*.com"`}, {"escalate", `"*.co.uk"`},
	} {
		e := ruleEngine(t, w, `{"name":"hold-back","if":{"domains":{"roles":["fetch-url"],"allowed":["@hosts"]}},"then":"`+tc.then+`"},
			{"name":"allow","if":{"domains":{"roles":["fetch-url"],"allowed":["*"]}},"then":"allow"}`,
			`{"lists":{"hosts":{"values":["fine.example",`+tc.values+`]}}}`)
		for _, url := range []string{"https://fine.example/", "https://www.evil.com/"} {
			v := e.Evaluate(Call{Server: "fetch", Tool: "http_fetch", Arguments: []byte(`{"url":"` + url + `"}`)})
			want := Decision(tc.then)
			if v.Decision != want || v.Rule != "hold-back" {
				t.Errorf("%s of %s, %s: %s by %s (%s)", tc.then, tc.values, url, v.Decision, v.Rule, v.Reason)
			}
		}
		if got := strings.Join(e.warnings, "\n"); !strings.Contains(got, "so the rule covers every host") {
			t.Errorf("%s: warnings %q", tc.values, got)
		}
		e = ruleEngine(t, w, `{"name":"allow","if":{"domains":{"roles":["fetch-url"],"allowed":["@hosts"]}},"then":"allow"}`,
			`{"lists":{"hosts":{"values":["fine.example",`+tc.values+`]}}}`)
		if v := e.Evaluate(Call{Server: "fetch", Tool: "http_fetch", Arguments: []byte(`{"url":"https://www.evil.com/"}`)}); v.Decision != Deny {
			t.Errorf("allowing %s: %s by %s", tc.values, v.Decision, v.Rule)
		}
	}
}

// TestUnknownDirectory: a rule whose directory cannot be resolved allows nothing, and
// escalates or denies everything.
func TestUnknownDirectory(t *testing.T) {
	w := newWorld(t)
	for then, want := range map[Decision]Decision{Allow: Allow, Escalate: Escalate, Deny: Deny} {
		c, err := ParseCompiled("rules.json", []byte(w.expand(`{"rules":[
			{"name":"home","if":{"paths":{"roles":["read-path"],"within":"~/x"}},"then":"`+string(then)+`"},
			{"name":"rest","if":{"paths":{"roles":["read-path"],"within":"{OUT}"}},"then":"allow"}]}`)))
		if err != nil {
			t.Fatal(err)
		}
		e := w.engine(func(config *Config) { config.Policy, config.Home = c, "" })
		v := e.Evaluate(Call{Server: "filesystem", Tool: "read_text_file", Arguments: []byte(w.expand(`{"path":"{OUT}/secret.txt"}`))})
		if v.Decision != want {
			t.Errorf("%s: %s by %s (%s)", then, v.Decision, v.Rule, v.Reason)
		}
	}
}
