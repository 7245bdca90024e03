package wiring

import (
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
)

func TestAgentsOfTheConfiguration(t *testing.T) {
	mine := config.Agent{Image: "me/agent:1", Command: []string{"agent"}}
	for _, tt := range []struct {
		name, fault string
		change      func(*config.Config)
	}{
		{"an agent of one's own", "", func(c *config.Config) { c.Agents = map[string]config.Agent{"mine": mine}; c.Agent = "mine" }},
		{"the name of a built-in one", `two agents are called "codex"`, func(c *config.Config) { c.Agents = map[string]config.Agent{"codex": mine} }},
		{"a default that is not there", `no agent is called "mine"`, func(c *config.Config) { c.Agent = "mine" }},
		{"a model for nobody", `no agent is called "mine"`, func(c *config.Config) { c.Models = map[string]string{"mine": "m"} }},
		{"a policy for a built-in one", "", func(c *config.Config) { c.Agents = map[string]config.Agent{"codex": {Policy: "/p"}} }},
		{"a policy for nobody", `no agent is called "mine"`, func(c *config.Config) { c.Agents = map[string]config.Agent{"mine": {Policy: "/p"}} }},
		{"a model", "", func(c *config.Config) { c.Models = map[string]string{"codex": "gpt-6-sol"} }},
	} {
		c := config.Default()
		tt.change(&c)
		_, err := AgentsOf(c)
		if (err == nil) != (tt.fault == "") || err != nil && !strings.Contains(err.Error(), tt.fault) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}
