package servers

import (
	"slices"
	"strings"
	"testing"
)

func TestJudgedNetworks(t *testing.T) {
	parse := func(network string) (Config, error) {
		all, err := Parse("servers.json", []byte(`{"web":{"command":"x","sandbox":{"network":`+network+`}}}`))
		return all["web"], err
	}
	c, err := parse(`{"judged":true,"private":["localhost:3000","wiki.corp"],"allowedDomains":["example.com"]}`)
	if n := c.Sandbox.Network; err != nil || !n.Judged || !slices.Equal(n.Private, []string{"localhost:3000", "wiki.corp"}) || len(n.AllowedDomains) != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	for network, says := range map[string]string{
		`{"private":["localhost"]}`:                                "judged requests only",
		`{"judged":true,"deniedDomains":["example.com"]}`:          "denied by the policy",
		`{"judged":true,"private":["*"]}`:                          "is not a host",
		`{"judged":true,"private":[""]}`:                           "is not a host",
		`{"judged":true,"private":["LOCALHOST"]}`:                  "is not a host",
		`{"judged":true,"private":["http://localhost"]}`:           "is not a host",
		`{"judged":"yes"}`:                                         "",
		`{"judged":true,"judged":false}`:                           "",
		`{"judged":true,"allowPrivate":["localhost"]}`:             "unknown field",
		`{"judged":true,"allowedDomains":["https://example.com"]}`: "is not a domain",
	} {
		t.Run(network, func(t *testing.T) {
			if c, err := parse(network); err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %+v, %v", network, c, err)
			}
		})
	}
}
