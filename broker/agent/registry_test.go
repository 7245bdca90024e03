package agent_test

import (
	"slices"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
)

func TestNamesAreUnique(t *testing.T) {
	if _, err := agent.NewRegistry(agent.Adapter{Name: "shell"}); err == nil {
		t.Error("a second shell was taken")
	}
	r, err := agent.NewRegistry(agent.Adapter{Name: "mine", Providers: []string{"anthropic", "zeta"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Named("mine"); err != nil {
		t.Error(err)
	}
	if p := r.Providers(); !slices.IsSorted(p) || !slices.Contains(p, "zeta") || len(slices.Compact(p)) != len(r.Providers()) {
		t.Errorf("providers: %v", p)
	}
}
