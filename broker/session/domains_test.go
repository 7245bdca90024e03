package session

import (
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// A tool whose schema differs from the one in the policy would not be offered.
func TestDomainToolsAreThoseThePolicyKnows(t *testing.T) {
	compiled, annotations := policy.Default()
	e, err := policy.New(policy.Config{Policy: compiled, Annotations: annotations, Sandbox: t.TempDir(), Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	s := &Session{adapter: agent.Adapter{Providers: []string{"anthropic"}}}
	for _, tool := range s.domainTools() {
		if err := e.SchemaMatches(tool.Server, tool.Name, tool.InputSchema); err != nil {
			t.Error(err)
		}
	}
}
