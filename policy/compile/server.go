package compile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

const (
	rulesTokens = 8192
	// rounds is how often the model may change rules that fail.
	rounds = 3
)

// ServerResult is the result of compiling one server.
type ServerResult struct {
	Name      string
	InputHash string
	Rules     []policy.Rule
	Lists     []policy.ListDefinition
	Values    map[string]policy.List
	Scenarios []policy.Scenario // invented by the model; the rules meet all of them
	Never     int               // how many calls that must never be allowed were tested
	Dropped   []string          // scenarios that could test nothing, and why
	Corrected []string          // scenarios whose expected decision the model corrected
	Repairs   int
	Kept      bool // compiled before, and tested again
	Stale     bool // kept, although compiled from another constitution, model or tools
	Uncovered []Gap
	Shadowed  []string
	Unnamed   []string // allowed hosts and directories that the constitution does not name
	// Failure is why the server gets no rules; nil when it gets some.
	Failure error
}

// server compiles the rules of one server.
type server struct {
	options  *Options
	model    Model
	name     string
	tools    []policy.ToolDescription
	brief    string
	never    []policy.Scenario
	extremes []*policy.Engine
	hash     string
}

// newServer prepares what all attempts for a server share.
func newServer(o *Options, m Model, name string) (*server, error) {
	s := &server{options: o, model: m, name: name, tools: o.Annotations.Describe(name)}
	var err error
	if s.never, err = never(name, s.tools); err != nil {
		return nil, err
	}
	if s.extremes, err = o.World.extremes(name, o.Annotations); err != nil {
		return nil, err
	}
	text, err := toolsText(name, s.tools)
	if err != nil {
		return s, err
	}
	s.brief = brief(o.Constitution, name, text)
	parts := []string{promptVersion, rulesPrompt, scenariosPrompt, repairPrompt, string(neverFile), o.Constitution.Text, name, text, m.Name()}
	for _, t := range s.tools {
		parts = append(parts, string(t.Schema))
	}
	s.hash = hash(parts...)
	return s, nil
}

func (s *server) progress(format string, args ...any) {
	if s.options.Progress != nil {
		s.options.Progress(s.name, fmt.Sprintf(format, args...))
	}
}

// compile asks the model for rules, tests them, and asks the model to repair them. Rules
// that fail are a Failure in the result; an error ends the whole compilation.
func (s *server) compile(ctx context.Context) (ServerResult, error) {
	r := ServerResult{Name: s.name, InputHash: s.hash, Never: len(s.never)}
	a, err := s.propose(ctx, &r)
	for round := 0; err == nil; round++ {
		var problems []string
		if problems, err = s.try(a); err != nil || len(problems) == 0 {
			break
		}
		if round == rounds {
			err = fmt.Errorf("after %d repairs its rules still fail: %s", rounds, someOf(problems))
			break
		}
		s.progress("%d of the checks fail; repair %d of %d", len(problems), round+1, rounds)
		before := a
		if a, err = s.repair(ctx, a, problems); err == nil {
			r.Repairs++
			r.Corrected = append(r.Corrected, changes(before.generated, a.generated)...)
			a.values, err = s.resolve(ctx, a.policy.Lists, a.values)
		}
	}
	var asking *AskError
	if errors.As(err, &asking) || ctx.Err() != nil {
		return r, errors.Join(err, ctx.Err())
	}
	if r.Failure = err; err == nil {
		s.take(&r, a)
	}
	return r, nil
}

// take writes an attempt that passed into the result.
func (s *server) take(r *ServerResult, a attempt) {
	r.Rules, r.Lists, r.Values, r.Scenarios = a.policy.Rules, a.policy.Lists, a.values, a.generated
	r.Uncovered = uncovered(s.name, s.tools, r.Rules, s.extremes[len(s.extremes)-1])
	r.Shadowed = shadowed(s.name, s.tools, r.Rules)
	r.Unnamed = unnamed(s.options.Constitution.Text, r.Rules)
}

// propose asks the model for the first attempt: rules, lists and scenarios.
func (s *server) propose(ctx context.Context, r *ServerResult) (attempt, error) {
	s.progress("asking %s for rules", s.model.Name())
	var a attempt
	var err error
	a.policy, err = ask(ctx, s.model, Question{
		System: rulesPrompt, User: s.brief, Schema: proposalSchema, Name: "rules", MaxTokens: rulesTokens, Shorter: shorterRules,
	}, func(answer string) (*policy.Compiled, error) {
		p, err := decodeProposal(answer)
		if err == nil {
			err = accept(s.name, s.tools, p)
		}
		return p, err
	})
	if err != nil {
		return a, fmt.Errorf("rules: %w", err)
	}
	if a.values, err = s.resolve(ctx, a.policy.Lists, nil); err != nil {
		return a, err
	}
	s.progress("%d rules; asking for calls to test them", len(a.policy.Rules))
	a.generated, r.Dropped, err = generate(ctx, s.model, s.brief, s.name, s.tools, s.extremes)
	if err != nil {
		return a, fmt.Errorf("scenarios: %w", err)
	}
	s.progress("%d rules, judging %d calls", len(a.policy.Rules), len(a.generated)+len(s.never))
	return a, nil
}

// resolve returns the values of the lists. It looks up those that are not known yet.
func (s *server) resolve(ctx context.Context, defs []policy.ListDefinition, known map[string]policy.List) (map[string]policy.List, error) {
	out := map[string]policy.List{}
	for _, def := range defs {
		before := s.options.Previous.list(def)
		got, ok := known[def.Name]
		switch {
		case ok && got.InputHash == listHash(def, s.model.Name()):
			out[def.Name] = got
			continue
		case !s.options.Force && before.InputHash == listHash(def, s.model.Name()):
			out[def.Name] = before
			continue
		}
		s.progress("looking up list %s", def.Name)
		var err error
		if out[def.Name], err = Resolve(ctx, s.model, def, before, s.options.Now); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// changes describes the scenarios whose expected decision has changed.
func changes(before, after []policy.Scenario) []string {
	var out []string
	for i := range after {
		if i < len(before) && before[i].Expected != after[i].Expected {
			out = append(out, fmt.Sprintf("%q: %s, not %s", after[i].Description, after[i].Expected, before[i].Expected))
		}
	}
	return out
}

// someOf joins the first five problems and says how many more there are.
func someOf(problems []string) string {
	const most = 5
	if rest := len(problems) - most; rest > 0 {
		problems = append(slices.Clone(problems[:most]), fmt.Sprintf("and %d more", rest))
	}
	return strings.Join(problems, "; ")
}
