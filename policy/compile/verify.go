package compile

import (
	"fmt"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// attempt is one version of a server's rules, with the scenarios that test them.
type attempt struct {
	policy    *policy.Compiled // rules and list definitions
	values    map[string]policy.List
	generated []policy.Scenario // by the model, which may correct the expected decisions
}

// try returns what is wrong with an attempt, one sentence for each problem. There is none
// only if the rules keep every invariant and every scenario gets its expected decision.
func (s *server) try(a attempt) ([]string, error) {
	problems := s.options.Machine.invariants(s.name, s.tools, a.policy.Rules)
	engine, err := s.options.engine(a.policy, a.values)
	if err != nil {
		return nil, err
	}
	for i, sc := range a.generated {
		if v := engine.Evaluate(sc.Call); !sc.Met(v.Decision) {
			problems = append(problems, fmt.Sprintf("call %d, %s", i+1, missed(sc, v)))
		}
	}
	for _, sc := range s.never {
		if v := engine.Evaluate(sc.Call); !sc.Met(v.Decision) {
			problems = append(problems, "fixed call, "+missed(sc, v))
		}
	}
	return problems, nil
}

// missed describes a scenario that did not get its expected decision.
func missed(s policy.Scenario, v policy.Verdict) string {
	return fmt.Sprintf("%q, %s/%s %s: expected %s, got %s by %s", s.Description, s.Call.Server, s.Call.Tool, text.Readable(string(s.Call.Arguments), 500), s.Expected, v.Decision, v.Rule)
}

// engine builds the engine for rules and the values of their lists, in the world.
func (o *Options) engine(c *policy.Compiled, values map[string]policy.List) (*policy.Engine, error) {
	data, err := policy.EncodeLists("", values)
	if err != nil {
		return nil, err
	}
	lists, err := policy.ParseLists("lists", data)
	if err != nil {
		return nil, err
	}
	return o.World.Engine(c, o.Annotations, lists)
}

// Engine builds the engine that judges by the compiled policy, in the world.
func (r *Result) Engine(o *Options) (*policy.Engine, error) { return o.engine(r.Policy, r.Lists) }

// forbidden describes the calls, of all servers, that must never be allowed and that the
// engine allows.
func forbidden(engine *policy.Engine, a *policy.Annotations) ([]string, error) {
	var problems []string
	for _, name := range a.Servers() {
		scenarios, err := never(name, a.Describe(name))
		if err != nil {
			return nil, err
		}
		for _, s := range scenarios {
			if v := engine.Evaluate(s.Call); !s.Met(v.Decision) {
				problems = append(problems, missed(s, v))
			}
		}
	}
	return problems, nil
}
