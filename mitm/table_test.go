package mitm

import (
	"context"
	"net/netip"
	"strings"
	"testing"
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
	for _, name := range []string{"anthropic", "openai", "chatgpt", "google", "openrouter"} {
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
		if _, err := ParseProviders([]byte(strings.Replace(good, change[0], change[1], 1))); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func TestPublicAddress(t *testing.T) {
	for _, s := range []string{
		"127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255",
		"192.0.2.1", "198.18.0.1", "::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
		"64:ff9b::7f00:1", "2002:7f00:1::", "2001:db8::1", "::7f00:1",
	} {
		if publicAddress(netip.MustParseAddr(s)) {
			t.Errorf("%s counts as public", s)
		}
	}
	for _, s := range []string{"160.79.104.10", "2607:6bc0::10", "8.8.8.8"} {
		if !publicAddress(netip.MustParseAddr(s)) {
			t.Errorf("%s does not count as public", s)
		}
	}
	if configurableAddress(netip.MustParseAddr("169.254.169.254")) || !configurableAddress(netip.MustParseAddr("127.0.0.1")) {
		t.Error("configurable addresses are judged wrongly")
	}
}
