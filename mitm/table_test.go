package mitm

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestProviderTable(t *testing.T) {
	hosts := map[string]string{}
	for _, p := range Providers() {
		for _, h := range p.Hosts {
			if other := hosts[h.Name]; other != "" {
				t.Errorf("%s belongs to %s and %s", h.Name, other, p.Name)
			}
			hosts[h.Name] = p.Name
			for _, e := range h.Endpoints {
				if e.Method == "POST" && e.Body == "" {
					t.Errorf("%s %s takes a body that nobody judges", h.Name, e.Path)
				}
			}
		}
	}
	for _, provider := range Providers() {
		name := provider.Name
		t.Run(name, func(t *testing.T) {
			c := Config{Providers: []string{name}, Audit: func(Record) error { return nil }}
			if _, err := New(c); err == nil {
				t.Errorf("%s: a proxy without a source of credentials", name)
			}
			c.Credentials = func(context.Context, string) (Credential, error) { return Credential{}, nil }
			p, err := New(c)
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Sentinel(name)) < 40 {
				t.Errorf("%s: sentinel %q", name, p.Sentinel(name))
			}
			if err := p.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestProviderTablesThatAreRefused(t *testing.T) {
	const good = `{"providers":[{"name":"x","errors":"openai","modes":[{"kind":"api-key","header":"x-api-key","sentinel":"s-"}],"hosts":[{"name":"api.x.com","endpoints":[{"method":"POST","path":"/v1/x","body":"openai-chat"}]}]}]}`
	if _, err := ParseProviders([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string][2]string{
		"unknown member": {`"name":"x"`, `"name":"x","hostz":[]`},
		"unknown errors": {`"errors":"openai"`, `"errors":"xml"`},
		"unknown kind":   {`"kind":"api-key"`, `"kind":"password"`},
		"other header":   {`"x-api-key"`, `"x-other"`},
		"no sentinel":    {`"s-"`, `""`},
		"host with port": {`api.x.com`, `api.x.com:443`},
		"upper case":     {`api.x.com`, `API.x.com`},
		"one label":      {`api.x.com`, `localhost`},
		"method":         {`"POST"`, `"PUT"`},
		"dot segment":    {`/v1/x`, `/v1/../x`},
		"percent":        {`/v1/x`, `/v1/%78`},
		"body format":    {`openai-chat`, `xml`},
		"trailing data":  {`]}]}`, `]}]} {}`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := ParseProviders([]byte(strings.Replace(good, change[0], change[1], 1))); err == nil {
				t.Errorf("%s is accepted", name)
			}
		})
	}
}

// entries are additions to the table as configuration writes them.
func entries(texts ...string) []json.RawMessage {
	var all []json.RawMessage
	for _, t := range texts {
		all = append(all, json.RawMessage(t))
	}
	return all
}

const acme = `{"name":"acme","errors":"openai","keyVariables":["ACME_KEY"],"modes":[{"kind":"api-key","header":"api-key","sentinel":"acme-"}],
	"hosts":[{"name":"api.acme.dev","endpoints":[{"method":"POST","path":"/v1/chat/*","body":"openai-chat"}]}]}`

func TestExtendProviders(t *testing.T) {
	before := Providers()
	table, err := ExtendProviders(before, entries(acme,
		`{"name":"anthropic","dropBetas":["x"],"hosts":[{"name":"api.anthropic.com","baseUrl":"https://gate.acme.dev/a","endpoints":[
			{"method":"POST","path":"/v1/messages","ask":true},{"method":"GET","path":"/v1/models"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Providers(), before, cmpopts.IgnoreUnexported(Endpoint{})); diff != "" {
		t.Errorf("the given table was changed:\n%s", diff)
	}
	old, now := before[0].Hosts[0], table[0].Hosts[0]
	if now.BaseURL != "https://gate.acme.dev/a" || len(now.Endpoints) != len(old.Endpoints)+1 {
		t.Errorf("host %+v", now)
	}
	want := old.Endpoints[0]
	want.Ask = true
	if diff := cmp.Diff(want, now.Endpoints[0], cmpopts.IgnoreUnexported(Endpoint{})); diff != "" {
		t.Errorf("the endpoint lost something:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"x"}, table[0].DropBetas); diff != "" || len(table[0].Modes) != 2 {
		t.Error(diff, table[0].Modes)
	}
	last := table[len(table)-1]
	if last.Name != "acme" || !last.Hosts[0].Endpoints[0].matches("POST", "/v1/chat/x") {
		t.Errorf("the new provider: %+v", last)
	}
}

func TestEntriesThatAreRefused(t *testing.T) {
	for name, text := range map[string]string{
		"no name":              `{}`,
		"unknown member":       `{"name":"anthropic","hostz":[]}`,
		"unknown host member":  `{"name":"anthropic","hosts":[{"name":"api.anthropic.com","url":"x"}]}`,
		"unknown in endpoint":  `{"name":"anthropic","hosts":[{"name":"api.anthropic.com","endpoints":[{"method":"GET","path":"/x","any":1}]}]}`,
		"nothing of a new one": `{"name":"acme"}`,
		"another's host":       `{"name":"anthropic","hosts":[{"name":"api.openai.com"}]}`,
		"upper case":           `{"name":"anthropic","hosts":[{"name":"API.anthropic.com"}]}`,
		"unjudged body":        `{"name":"anthropic","hosts":[{"name":"api.anthropic.com","endpoints":[{"method":"POST","path":"/v1/messages","body":"any"}]}]}`,
		"method":               `{"name":"anthropic","hosts":[{"name":"api.anthropic.com","endpoints":[{"method":"PUT","path":"/x"}]}]}`,
		"dots in a path":       `{"name":"anthropic","hosts":[{"name":"api.anthropic.com","endpoints":[{"method":"GET","path":"/../x"}]}]}`,
		"base URL, scheme":     `{"name":"anthropic","hosts":[{"name":"api.anthropic.com","baseUrl":"ftp://x"}]}`,
		"base URL, password":   `{"name":"anthropic","hosts":[{"name":"api.anthropic.com","baseUrl":"https://a:secret@x"}]}`,
		"base URL, query":      `{"name":"anthropic","hosts":[{"name":"api.anthropic.com","baseUrl":"https://x/?a=b"}]}`,
		"base URL, metadata":   `{"name":"anthropic","hosts":[{"name":"api.anthropic.com","baseUrl":"http://[fd00:ec2::254]/"}]}`,
		"base URL, local link": `{"name":"anthropic","hosts":[{"name":"api.anthropic.com","baseUrl":"http://169.254.169.254"}]}`,
		"base URL, no URL":     `{"name":"anthropic","hosts":[{"name":"api.anthropic.com","baseUrl":"https://secret:%zz@x"}]}`,
		"cookie as credential": `{"name":"acme","errors":"openai","modes":[{"kind":"api-key","header":"x-custom","sentinel":"s"}],"hosts":[{"name":"a.acme.dev"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := ExtendProviders(Providers(), entries(text)); err == nil || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// A provider of the configuration is guarded like a built-in one.
func TestProviderOfTheConfiguration(t *testing.T) {
	table, err := ExtendProviders(Providers(), entries(acme))
	if err != nil {
		t.Fatal(err)
	}
	s := newHarness(t, func(c *Config) {
		c.Table, c.Providers = table, []string{"acme"}
		c.Upstreams = map[string]*url.URL{"api.acme.dev": c.Upstreams["api.openai.com"]}
	})
	ask := func(path, body string) (*http.Response, string) {
		return s.inTunnel("api.acme.dev", s.withBody("api.acme.dev", path, "Api-Key", "acme", body))
	}
	if res, _ := ask("/v1/chat/completions", `{"tools":[{"type":"web_search"}],"model":"m"}`); res == nil || res.StatusCode != 200 {
		t.Fatalf("answer %+v", res)
	}
	if got := s.lastBody(); got != `{"tools":[],"model":"m"}` || s.requests[0].Header.Get("Api-Key") != realKey {
		t.Errorf("forwarded %s with %v", got, s.requests[0].Header)
	}
	if res, _ := ask("/v1/files", `{}`); res == nil || res.StatusCode != 403 {
		t.Errorf("answer %+v", res)
	}
}

// The table's base URL is used, its path becomes a prefix, and Moved returns it.
func TestBaseURLOfTheTable(t *testing.T) {
	s := newHarness(t, func(c *Config) {
		base := c.Upstreams["api.anthropic.com"].String() + "/gate/"
		table, err := ExtendProviders(Providers(), entries(`{"name":"anthropic","hosts":[{"name":"api.anthropic.com","baseUrl":"`+base+`"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		c.Table = table
		delete(c.Upstreams, "api.anthropic.com")
	})
	if res, _ := s.inTunnel("api.anthropic.com", s.message()); res == nil || res.StatusCode != 200 {
		t.Fatalf("answer %+v", res)
	}
	if got := s.requests[0].RequestURI; got != "/gate/v1/messages?beta=true" {
		t.Errorf("the upstream was asked for %s", got)
	}
	if got := s.proxy.Moved()["api.anthropic.com"]; !strings.HasSuffix(got, "/gate/") {
		t.Errorf("moved to %q", got)
	}
}
