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
	// rounds is how often rules that fail may be changed.
	rounds = 3
)

// ServerResult is what became of one server.
type ServerResult struct {
	Name      string
	InputHash string
	Rules     []policy.Rule
	Lists     []policy.ListDefinition
	Values    map[string]policy.List
	Scenarios []policy.Scenario // of the model's, all met
	Never     int               // calls that must never be allowed, and are not
	Dropped   []string          // scenarios that could try nothing, and why
	Corrected []string          // scenarios whose expectation the model took back
	Repairs   int
	Kept      bool // as it was compiled before, tried once more
	Stale     bool // kept, although compiled from another constitution, model or tools
	Uncovered []Gap
	Shadowed  []string
	Unnamed   []string // hosts and directories that are allowed and that the constitution does not name
	// Failure says why the server gets no rules; nil when it gets some.
	Failure error
}

// server is the work on one server.
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

// newServer gathers what is the same in every attempt.
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

// compile has the model propose, tries, and has it repair. What is wrong with the
// server's rules is a failure in the result; an error ends the whole compilation.
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

// propose makes the first attempt.
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
	s.progress("%d rules; asking for calls to try them", len(a.policy.Rules))
	a.generated, r.Dropped, err = generate(ctx, s.model, s.brief, s.name, s.tools, s.extremes)
	if err != nil {
		return a, fmt.Errorf("scenarios: %w", err)
	}
	s.progress("%d rules, judging %d calls", len(a.policy.Rules), len(a.generated)+len(s.never))
	return a, nil
}

// resolve looks up the values of lists that are not known yet.
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

// changes describes scenarios that expect something else than before.
func changes(before, after []policy.Scenario) []string {
	var out []string
	for i := range after {
		if i < len(before) && before[i].Expected != after[i].Expected {
			out = append(out, fmt.Sprintf("%q: %s, not %s", after[i].Description, after[i].Expected, before[i].Expected))
		}
	}
	return out
}

// someOf joins the first of many problems.
func someOf(problems []string) string {
	const most = 5
	if rest := len(problems) - most; rest > 0 {
		problems = append(slices.Clone(problems[:most]), fmt.Sprintf("and %d more", rest))
	}
	return strings.Join(problems, "; ")
}
