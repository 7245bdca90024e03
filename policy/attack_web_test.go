package policy

import "testing"

func TestWebAttacks(t *testing.T) {
	var attacks []attack
	for _, u := range []string{
		"http://localhost/", "http://localhost./", "https://metadata/", "https://metadata.google.internal/",
		"http://127.0.0.1/", "http://127.1/", "http://0x7f.1/", "http://2130706433/", "http://0177.0.0.1/", "http://017700000001/",
		"http://127.0.0.1./", "http://169.254.169.254/latest/meta-data", "http://[::1]/", "http://[::ffff:169.254.169.254]/",
		"http://[fe80::1%25eth0]/", "http://10.0.0.1/", "https://8.8.8.8/", "https://intranet/", "https://printer.local/",
		"https://host.docker.internal/", "https://foo.internal/", "https://foo.lan/", "http://①②⑦.⓪.⓪.①/",
		"https://user@example.com/", "https://user:pw@example.com/", "https://example.com@evil.example.org/",
		`https://example.com\\@evil.example.org/`, `https:\\\\example.com`, "https:example.com", "https:///example.com",
		"//example.com/", "example.com", "ftp://example.com/", "file:///etc/passwd", "javascript:alert(1)", "data:text/plain,x",
		"gopher://example.com/", `https://example.com/\r\nHost: evil`, `https://exa\tmple.com/`, ` https://example.com/`,
		`https://example.com/\u0000`, "https://example.com:0/", "https://example.com:99999/", "https://example.com:/",
		"https://example..com/", "https://.example.com/", "https://example.com../", "https://-example.com/",
		"https://exa%6dple.com/", "https://example.com%2f@evil/", `https://ex\u00adample.com/`, `https://exam\u200bple.com/`,
		`https://example.com\uff0fevil`, "https://xn--a/", "", "https://", "https://?x",
	} {
		attacks = append(attacks, attack{u, "fetch", "http_fetch", `{"url":"` + u + `"}`, Deny})
	}
	for _, h := range []string{
		`{"Host":"evil"}`, `{"host":"evil"}`, `{"Authorization":"Bearer x"}`, `{"Cookie":"a=b"}`, `{"Proxy-Authorization":"x"}`,
		`{"X-Forwarded-For":"127.0.0.1"}`, `{"Transfer-Encoding":"chunked"}`, `{"Connection":"upgrade"}`, `{"Metadata-Flavor":"Google"}`,
		`{"X-aws-ec2-metadata-token":"x"}`, `{"X-Api-Key":"x"}`, `{"x-auth-token":"x"}`, `{"PRIVATE-TOKEN":"x"}`, `{"X-Gitlab-Token":"x"}`,
		`{"X-Authorization":"x"}`, `{"X-Auth":"x"}`, `{"X-Auth-Key":"x"}`, `{"X-Amz-Security-Token":"x"}`, `{"X-Client-Secret":"x"}`, `{"Ocp-Apim-ApiKey":"x"}`,
		`{"X-HTTP-Method":"DELETE"}`, `{"True-Client-IP":"127.0.0.1"}`, `{"Client-IP":"x"}`, `{"CF-Connecting-IP":"x"}`,
		`{"A":"b\r\nHost: evil"}`, `{"A\r\nB":"c"}`, `{"A":1}`, `{"A":["b"]}`, `{"":"x"}`, `"Host: evil"`, `["Host"]`,
	} {
		attacks = append(attacks, attack{"header " + h, "fetch", "http_fetch", `{"url":"https://example.com","headers":` + h + `}`, Deny})
	}
	attacks = append(attacks,
		attack{"url as list", "fetch", "http_fetch", `{"url":["https://example.com",{}]}`, Deny},
		attack{"two urls", "fetch", "http_fetch", `{"url":"https://example.com","URL":"http://localhost"}`, Deny})
	judgeAll(t, attacks)
}

// webEngine allows reading from one host.
func webEngine(t *testing.T, allowed string) *Engine {
	t.Helper()
	c, err := ParseCompiled("web.json", []byte(`{"rules":[
		{"name":"allow-anything-without-domain","if":{"server":["fetch"]},"then":"allow"},
		{"name":"allow-host","if":{"domains":{"roles":["fetch-url"],"allowed":[`+allowed+`]}},"then":"allow"},
		{"name":"ask","if":{"domains":{"roles":["fetch-url"],"allowed":["*"]}},"then":"escalate"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	e, _ := defaultEngine(t, func(config *Config) { config.Policy = c })
	return e
}

func TestWebRules(t *testing.T) {
	for _, tc := range []struct {
		allowed, url string
		want         Decision
		forwarded    string
	}{
		{`"example.com"`, "https://example.com/a?b=c#d", Allow, "https://example.com/a?b=c"},
		{`"example.com"`, "HTTPS://EXAMPLE.com.:443/", Allow, "https://example.com"},
		{`"example.com"`, "https://example.com/a/../b/./c", Allow, "https://example.com/b/c"},
		{`"example.com"`, "http://example.com/", Escalate, "http://example.com"},
		{`"example.com"`, "https://example.com:8443/", Escalate, "https://example.com:8443"},
		{`"http://example.com"`, "http://example.com/", Allow, "http://example.com"},
		{`"example.com:8443"`, "https://example.com:8443/x", Allow, "https://example.com:8443/x"},
		{`"example.com"`, "https://www.example.com/", Escalate, "https://www.example.com"},
		{`"*.example.com"`, "https://www.example.com/", Allow, "https://www.example.com"},
		{`"*.example.com"`, "https://example.com/", Allow, "https://example.com"},
		{`"*.example.com"`, "https://notexample.com/", Escalate, "https://notexample.com"},
		{`"*.example.com"`, "https://example.com.evil.org/", Escalate, "https://example.com.evil.org"},
		{`"bücher.example"`, "https://xn--bcher-kva.example/", Allow, "https://xn--bcher-kva.example"},
		{`"xn--bcher-kva.de"`, "https://bücher.de/ü?ü", Allow, "https://xn--bcher-kva.de/%C3%BC?%C3%BC"},
		{`"93.184.216.34"`, "https://93.184.216.34/", Allow, "https://93.184.216.34"},
		{`"*"`, "https://anything.org/", Allow, "https://anything.org"},
		{`"*"`, "https://printer.local/", Deny, ""},
	} {
		e := webEngine(t, tc.allowed)
		v := e.Evaluate(Call{Server: "fetch", Tool: "http_fetch", Arguments: []byte(`{"url":"` + tc.url + `"}`)})
		want := ""
		if tc.forwarded != "" {
			want = `{"url":"` + tc.forwarded + `"}`
		}
		if v.Decision != tc.want || string(v.Arguments) != want {
			t.Errorf("%s with %s: %s by %s (%s) %s, want %s %s", tc.url, tc.allowed, v.Decision, v.Rule, v.Reason, v.Arguments, tc.want, want)
		}
		if v.Decision != Deny {
			fixedPoint(t, e, "fetch", "http_fetch", v)
		}
	}
}

func TestDomainGate(t *testing.T) {
	c, err := ParseCompiled("gate.json", []byte(`{"rules":[
		{"name":"allow-all-hosts","if":{"domains":{"roles":["fetch-url"],"allowed":["*"]}},"then":"allow"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	e, _ := defaultEngine(t, func(config *Config) {
		config.Policy = c
		config.DomainAllow = map[string][]string{"fetch": {"*.example.com"}}
	})
	for url, want := range map[string]Verdict{
		"https://www.example.com/": {Decision: Allow, Rule: "allow-all-hosts"},
		"https://example.org/":     {Decision: Escalate, Rule: RuleDomain},
		"https://printer.local/":   {Decision: Deny, Rule: RuleDefault},
	} {
		v := e.Evaluate(Call{Server: "fetch", Tool: "http_fetch", Arguments: []byte(`{"url":"` + url + `"}`)})
		if v.Decision != want.Decision || v.Rule != want.Rule {
			t.Errorf("%s: %s by %s, want %s by %s", url, v.Decision, v.Rule, want.Decision, want.Rule)
		}
	}
}

func TestProxyDomains(t *testing.T) {
	e, _ := defaultEngine(t)
	for domain, want := range map[string]Decision{
		"registry.example.com": Escalate, "Example.COM.": Escalate, "bücher.de": Escalate,
		"localhost": Deny, "127.0.0.1": Deny, "2130706433": Deny, "host.docker.internal": Deny, "*.com": Deny, "*": Deny,
		"example.com/x": Deny, "example.com:8080": Deny, "user@example.com": Deny, "example.123": Deny, "": Deny, "com": Deny,
		"exa mple.com": Deny, "example.com?x": Deny, "[::1]": Deny,
	} {
		v := e.Evaluate(Call{Server: "proxy", Tool: "add_proxy_domain", Arguments: []byte(`{"domain":"` + domain + `","justification":"need it"}`)})
		if v.Decision != want {
			t.Errorf("%q: %s by %s (%s), want %s", domain, v.Decision, v.Rule, v.Reason, want)
		}
		if v.Decision != Deny {
			fixedPoint(t, e, "proxy", "add_proxy_domain", v)
		}
	}
	if v := e.Evaluate(Call{Server: "proxy", Tool: "list_proxy_domains"}); v.Decision != Allow {
		t.Errorf("listing: %s by %s", v.Decision, v.Rule)
	}
}
