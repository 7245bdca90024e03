package mitm

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"testing"
)

// The process of the proxy is killed; the next one serves the same agent, which
// still trusts the old certificate and presents the old sentinel.
func TestIdentityServesTheSameAgent(t *testing.T) {
	domains := func(c *Config) { c.Domains = true }
	first := newHarness(t, domains)
	id, err := first.proxy.Identity()
	if err != nil {
		t.Fatal(err)
	}
	message := first.message()
	next := newHarness(t, func(c *Config) { c.Identity, c.Domains = id, true })
	next.roots = first.roots
	if res, body := next.inTunnel("api.anthropic.com", message); res == nil || res.StatusCode != http.StatusOK {
		t.Errorf("the agent is answered %v, %s", res, body)
	}
	if !bytes.Equal(next.proxy.CACertificate(), first.proxy.CACertificate()) {
		t.Error("the agent's certificates are other ones")
	}
	if next.proxy.Sentinel("anthropic") != first.proxy.Sentinel("anthropic") {
		t.Error("the sentinel is another one")
	}
	stranger := newHarness(t, nil)
	next.roots = first.roots
	if res, _ := next.inTunnel("api.anthropic.com", stranger.message()); res == nil || res.StatusCode != http.StatusForbidden {
		t.Errorf("another session's sentinel is answered %v", res)
	}
}

// A proxy that has only the providers' hosts now keeps the authority of others for the next one.
func TestIdentityServesLess(t *testing.T) {
	first := newHarness(t, func(c *Config) { c.Domains = true })
	id, err := first.proxy.Identity()
	if err != nil {
		t.Fatal(err)
	}
	less := newHarness(t, func(c *Config) { c.Identity = id })
	if err := less.proxy.CheckDomain("docs.example.org"); err == nil {
		t.Error("it takes domains")
	}
	if id, err = less.proxy.Identity(); err != nil {
		t.Fatal(err)
	}
	again := newHarness(t, func(c *Config) { c.Identity, c.Domains = id, true })
	if !bytes.Equal(again.proxy.CACertificate(), first.proxy.CACertificate()) {
		t.Error("the agent's certificates are other ones")
	}
}

func TestIdentityMustFit(t *testing.T) {
	first := newHarness(t, nil)
	data, err := first.proxy.Identity()
	if err != nil {
		t.Fatal(err)
	}
	change := func(f func(*identity)) []byte {
		var id identity
		if err := json.Unmarshal(data, &id); err != nil {
			t.Fatal(err)
		}
		f(&id)
		out, err := json.Marshal(id)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	other, err := newAuthority([]string{"api.anthropic.com"})
	if err != nil {
		t.Fatal(err)
	}
	for what, id := range map[string][]byte{
		"nonsense":             []byte("{"),
		"another key":          change(func(id *identity) { id.Authority.Key = id.Authority.Key[:len(id.Authority.Key)-1] }),
		"another certificate":  change(func(id *identity) { id.Authority.Certificate = other.certificate.Raw }),
		"a provider too few":   change(func(id *identity) { delete(id.Sentinels, "anthropic") }),
		"a provider too many":  change(func(id *identity) { id.Sentinels["x"] = "y" }),
		"a sentinel of no use": change(func(id *identity) { id.Sentinels["anthropic"] = "" }),
	} {
		t.Run(what, func(t *testing.T) {
			c := first.proxy.config
			c.Identity = id
			if _, err := New(c); !errors.Is(err, ErrIdentity) {
				t.Errorf("%s: %v", what, err)
			}
		})
	}
	c := first.proxy.config
	c.Identity, c.Domains = data, true
	if _, err := New(c); !errors.Is(err, ErrIdentity) {
		t.Errorf("with domains: %v", err)
	}
}
