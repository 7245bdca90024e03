package compile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// repair asks the model to change the rules that failed.
func (s *server) repair(ctx context.Context, a attempt, problems []string) (attempt, error) {
	rules, err := rulesText(a.policy.Rules, a.policy.Lists)
	if err != nil {
		return attempt{}, err
	}
	user := s.brief + "\n\nThe rules:\n" + rules + "\n\nWhat failed:\n" + numbered(problems)
	return ask(ctx, s.model, Question{
		System: repairPrompt, User: text.Clip(user, 400<<10), Schema: patchSchema, Name: "patch", MaxTokens: rulesTokens, Shorter: shorterRepair,
	}, func(answer string) (attempt, error) { return s.patch(a, answer) })
}

// patch applies an answer to an attempt. It does not look up the values of new lists.
func (s *server) patch(a attempt, answer string) (attempt, error) {
	got, err := parse(answer, "operations", "listDefinitions", "corrections")
	if err != nil {
		return attempt{}, err
	}
	if len(got["operations"].Items) == 0 && len(got["corrections"].Items) == 0 {
		return attempt{}, errors.New("the patch changes nothing")
	}
	rules, err := encoded(a.policy.Rules)
	if err != nil {
		return attempt{}, err
	}
	for i, op := range got["operations"].Items {
		if rules, err = operate(rules, op); err != nil {
			return attempt{}, fmt.Errorf("operation %d: %w", i+1, err)
		}
	}
	lists, err := encoded(a.policy.Lists)
	if err != nil {
		return attempt{}, err
	}
	lists = append(lists, got["listDefinitions"].Items...)
	next, err := loadRules(jsonx.Value{Kind: jsonx.Array, Items: rules}, jsonx.Value{Kind: jsonx.Array, Items: lists})
	if err != nil {
		return attempt{}, err
	}
	old := a.policy.Lists
	next.Lists = slices.DeleteFunc(next.Lists, func(def policy.ListDefinition) bool { return slices.Contains(old, def) && !refers(next, def.Name) })
	if err := accept(s.name, s.tools, next); err != nil {
		return attempt{}, err
	}
	generated, err := s.correct(a.generated, got["corrections"].Items)
	return attempt{policy: next, values: a.values, generated: generated}, err
}

// encoded encodes rules or lists as the JSON values that loadRules reads.
func encoded[T any](list []T) ([]jsonx.Value, error) {
	data, err := json.Marshal(append([]T{}, list...))
	if err != nil {
		return nil, err
	}
	v, err := jsonx.Parse(data, jsonx.Limits{})
	return v.Items, err
}

// operate applies one operation to the rules.
func operate(rules []jsonx.Value, op jsonx.Value) ([]jsonx.Value, error) {
	got, err := fields(op, "op", "name", "after", "rule")
	if err != nil {
		return nil, err
	}
	find := func(name string) int {
		return slices.IndexFunc(rules, func(r jsonx.Value) bool { n, _ := r.Member("name"); return n.Text == name })
	}
	name, rule := got["name"].Text, got["rule"]
	own, _ := rule.Member("name")
	if got["op"].Text != "delete" && (rule.Kind != jsonx.Object || own.Text != name) {
		return nil, fmt.Errorf("the rule is missing, or its name is not %q", text.Clip(name, maxName))
	}
	at := find(name)
	if (at < 0) != (got["op"].Text == "add") {
		return nil, fmt.Errorf("there is no rule %q to change, or there is one already", text.Clip(name, maxName))
	}
	switch got["op"].Text {
	case "update":
		rules = slices.Clone(rules)
		rules[at] = rule
		return rules, nil
	case "delete":
		return slices.Delete(slices.Clone(rules), at, at+1), nil
	case "add":
		behind := 0
		if got["after"].Kind != jsonx.Null {
			if behind = find(got["after"].Text) + 1; behind == 0 {
				return nil, fmt.Errorf("there is no rule %q to add one after", text.Clip(got["after"].Text, maxName))
			}
		}
		return slices.Insert(slices.Clone(rules), behind, rule), nil
	}
	return nil, errors.New("the operation is none of update, add and delete")
}

// correct changes the decisions that generated scenarios expect. A corrected decision must
// be one that rules could give.
func (s *server) correct(all []policy.Scenario, corrections []jsonx.Value) ([]policy.Scenario, error) {
	out := slices.Clone(all)
	for _, c := range corrections {
		got, err := fields(c, "scenario", "expectedDecision")
		if err != nil {
			return nil, fmt.Errorf("correction: %w", err)
		}
		n, err := strconv.Atoi(got["scenario"].Text)
		if err != nil || n < 1 || n > len(all) || !decision(got["expectedDecision"].Text) {
			return nil, fmt.Errorf("correction: there is no call %q, or the decision is unknown", text.Clip(got["scenario"].Text, maxName))
		}
		out[n-1].Expected = got["expectedDecision"].Text
		if ok, _ := possible(s.extremes, out[n-1]); !ok {
			return nil, fmt.Errorf("correction: no rules can give call %d that decision", n)
		}
	}
	return out, nil
}

// refers reports whether any rule uses a list.
func refers(c *policy.Compiled, list string) bool {
	return slices.ContainsFunc(c.Rules, func(r policy.Rule) bool { return slices.Contains(wordsOf(r), "@"+list) })
}
