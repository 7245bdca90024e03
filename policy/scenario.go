package policy

import (
	"encoding/json"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// Scenario is a call together with the decision it should get.
type Scenario struct {
	Description string
	Call        Call
	Expected    string // a Decision, or "not-allow"
}

// LoadScenarios reads a file of test scenarios: an object with a list of
// scenarios, each with description, request and expectedDecision.
func LoadScenarios(file string) ([]Scenario, error) {
	return load(file, scenariosFrom)
}

// ParseScenarios is LoadScenarios for bytes; name stands for the file in errors.
func ParseScenarios(name string, data []byte) ([]Scenario, error) {
	return parse(name, data, scenariosFrom)
}

func scenariosFrom(d *document) ([]Scenario, error) {
	top := d.top()
	if !top.object() {
		return nil, d.problem()
	}
	out := []Scenario{}
	top.ignore("generatedAt", "constitutionHash", "inputHash", "serverName")
	top.required("scenarios").each(func(n *node) {
		if n.doc.err == nil && n.object() {
			out = append(out, readScenario(n))
		}
	})
	top.done()
	if err := d.problem(); err != nil {
		return nil, err
	}
	return out, nil
}

func readScenario(n *node) Scenario {
	s := Scenario{Description: n.optional("description").str(), Expected: n.required("expectedDecision").str()}
	n.ignore("reasoning", "source")
	switch s.Expected {
	case string(Allow), string(Deny), string(Escalate), "not-allow":
	default:
		n.fail("unknown decision %q", s.Expected)
	}
	if r := n.required("request"); n.doc.err == nil && r.object() {
		s.Call.Server = r.required("serverName").str()
		s.Call.Tool = r.required("toolName").str()
		args := r.required("arguments")
		if args.value.Kind != jsonx.Object {
			args.fail("expected an object, found %s", args.value.Kind)
		}
		s.Call.Arguments = args.value.Encode()
		r.ignore("requestId", "timestamp")
		r.done()
	}
	n.done()
	return s
}

// Met reports whether a decision is the expected one.
func (s Scenario) Met(d Decision) bool {
	if s.Expected == "not-allow" {
		return d != Allow
	}
	return string(d) == s.Expected
}

// EncodeScenarios writes a file that LoadScenarios reads.
func EncodeScenarios(generatedAt string, scenarios []Scenario) ([]byte, error) {
	type request struct {
		Server    string          `json:"serverName"`
		Tool      string          `json:"toolName"`
		Arguments json.RawMessage `json:"arguments"`
	}
	type scenario struct {
		Description string  `json:"description"`
		Request     request `json:"request"`
		Expected    string  `json:"expectedDecision"`
	}
	all := []scenario{}
	for _, s := range scenarios {
		all = append(all, scenario{s.Description, request{s.Call.Server, s.Call.Tool, s.Call.Arguments}, s.Expected})
	}
	data, err := json.MarshalIndent(map[string]any{"generatedAt": generatedAt, "scenarios": all}, "", "  ")
	return append(data, '\n'), err
}
