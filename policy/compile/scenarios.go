package compile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

const (
	scenarioTokens = 8192
	maxScenarios   = 40
	// minScenarios is how many scenarios must be left so that rules count as tested.
	minScenarios = 3
)

// generate asks the model for scenarios and drops those that can test nothing.
func generate(ctx context.Context, m Model, q string, server string, tools []policy.ToolDescription, extremes []*policy.Engine) (kept []policy.Scenario, dropped []string, err error) {
	kept, err = ask(ctx, m, Question{
		System: scenariosPrompt, User: q, Schema: scenariosSchema, Name: "scenarios", MaxTokens: scenarioTokens, Shorter: shorterScenarios,
	}, func(answer string) ([]policy.Scenario, error) {
		all, err := decodeScenarios(server, tools, answer)
		if err != nil {
			return nil, err
		}
		all, dropped = filter(all, extremes)
		if len(all) < minScenarios {
			return nil, fmt.Errorf("only %d of the calls can test a rule; %s", len(all), strings.Join(dropped, "; "))
		}
		return all, nil
	})
	return kept, dropped, err
}

// decodeScenarios reads scenarios. Their tools and arguments must exist.
func decodeScenarios(server string, tools []policy.ToolDescription, answer string) ([]policy.Scenario, error) {
	got, err := parse(answer, "scenarios")
	if err != nil {
		return nil, err
	}
	list := got["scenarios"]
	if list.Kind != jsonx.Array || len(list.Items) > maxScenarios {
		return nil, fmt.Errorf("scenarios is not a list of at most %d", maxScenarios)
	}
	var out []policy.Scenario
	for i, v := range list.Items {
		s, err := decodeScenario(server, tools, v)
		if err != nil {
			return nil, fmt.Errorf("scenario %d: %w", i+1, err)
		}
		out = append(out, s)
	}
	return out, nil
}

func decodeScenario(server string, tools []policy.ToolDescription, v jsonx.Value) (policy.Scenario, error) {
	got, err := fields(v, "description", "tool", "arguments", "expectedDecision")
	if err != nil {
		return policy.Scenario{}, err
	}
	for name, f := range got {
		if f.Kind != jsonx.String {
			return policy.Scenario{}, fmt.Errorf("member %q is not a string", name)
		}
	}
	s := policy.Scenario{Description: got["description"].Text, Expected: got["expectedDecision"].Text}
	s.Call.Server, s.Call.Tool = server, got["tool"].Text
	if err := plain(s.Description); err != nil || !decision(s.Expected) {
		return s, errors.New("the description is not plain text, or the decision is unknown")
	}
	i := slices.IndexFunc(tools, func(t policy.ToolDescription) bool { return t.Name == s.Call.Tool })
	if i < 0 {
		return s, fmt.Errorf("the server has no tool %q", text.Clip(s.Call.Tool, maxName))
	}
	args, err := jsonx.Parse([]byte(got["arguments"].Text), answerLimits)
	if err != nil || args.Kind != jsonx.Object {
		return s, errors.New("arguments is not an object written as text")
	}
	for _, m := range args.Members {
		if !slices.ContainsFunc(tools[i].Arguments, func(a policy.ArgumentDescription) bool { return a.Name == m.Name }) {
			return s, fmt.Errorf("tool %s has no argument %q", s.Call.Tool, text.Clip(m.Name, maxName))
		}
	}
	s.Call.Arguments = args.Encode()
	return s, nil
}

func decision(s string) bool {
	return s == string(policy.Allow) || s == string(policy.Deny) || s == string(policy.Escalate)
}

// filter keeps the scenarios that rules can meet, each call once. For each other scenario
// it returns why it was dropped.
func filter(all []policy.Scenario, extremes []*policy.Engine) (kept []policy.Scenario, dropped []string) {
	seen := map[string]bool{}
	for _, s := range all {
		call := s.Call.Tool + " " + string(s.Call.Arguments)
		if seen[call] {
			continue
		}
		seen[call] = true
		if ok, v := possible(extremes, s); !ok {
			dropped = append(dropped, fmt.Sprintf("%q expects %s, but under any rules it gets %s by %s", s.Description, s.Expected, v.Decision, v.Rule))
			continue
		}
		kept = append(kept, s)
	}
	return kept, dropped
}
