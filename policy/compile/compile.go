package compile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// Options say what is compiled.
type Options struct {
	Constitution Constitution
	Annotations  *policy.Annotations
	Servers      []string  // compile only these and keep the others; nil: all annotated servers
	Previous     *Previous // what was compiled before; may be nil
	Force        bool      // ask the model again even if the input has not changed
	Machine      Machine
	World        *World
	Now          time.Time
	Progress     func(server, text string) // may be nil; called from several goroutines
}

// Result is a policy that was verified as a whole.
type Result struct {
	Servers   []ServerResult // sorted by name, with those that have no rules
	Policy    *policy.Compiled
	Lists     map[string]policy.List
	Scenarios []policy.Scenario
}

// atOnce is how many servers are compiled at the same time.
const atOnce = 4

// Run compiles. It fails when the model cannot be asked, or when no server's rules could
// be verified. If the rules of a single server fail, that is in the result.
func Run(ctx context.Context, m Model, o Options) (*Result, error) {
	for _, name := range o.Servers {
		if !slices.Contains(o.Annotations.Servers(), name) {
			return nil, fmt.Errorf("server %q is not annotated; annotated servers: %s", name, strings.Join(o.Annotations.Servers(), ", "))
		}
	}
	names := o.Annotations.Servers()
	results := make([]ServerResult, len(names))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, name := range names {
		group.Go(func() (err error) {
			results[i], err = o.compileOne(ctx, m, name)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return merge(&o, slices.DeleteFunc(results, func(r ServerResult) bool { return r.Name == "" }))
}

// compileOne compiles a server, or keeps the rules that were compiled before. For a server
// that is neither asked for nor known it returns an empty result.
func (o *Options) compileOne(ctx context.Context, m Model, name string) (ServerResult, error) {
	s, err := newServer(o, m, name)
	if s == nil {
		return ServerResult{}, err
	}
	if err != nil {
		return ServerResult{Name: name, Failure: err}, nil
	}
	before, known := o.Previous.server(name)
	asked := o.Servers == nil || slices.Contains(o.Servers, name)
	if !asked && !known {
		return ServerResult{}, nil
	}
	if known && (!asked || !o.Force && before.InputHash == s.hash) {
		kept, err := s.keep(before)
		if err != nil || kept.Failure == nil || !asked {
			return kept, err
		}
		s.progress("the rules that were compiled before no longer pass; compiling again")
	}
	r, err := s.compile(ctx)
	switch {
	case err != nil:
	case r.Failure != nil:
		s.progress("gets no rules: %v", r.Failure)
	default:
		s.progress("verified: %d rules, %d calls judged", len(r.Rules), len(r.Scenarios)+r.Never)
	}
	return r, err
}

// keep tests again the rules that were compiled before.
func (s *server) keep(before ServerResult) (ServerResult, error) {
	a := attempt{policy: &policy.Compiled{Rules: before.Rules, Lists: before.Lists}, values: before.Values, generated: before.Scenarios}
	r := ServerResult{Name: s.name, InputHash: before.InputHash, Never: len(s.never), Kept: true, Stale: before.InputHash != s.hash}
	if err := accept(s.name, s.tools, a.policy); err != nil {
		r.Failure = err
		return r, nil
	}
	problems, err := s.try(a)
	if err != nil {
		return r, err
	}
	if len(problems) > 0 {
		r.Failure = errors.New(someOf(problems))
		return r, nil
	}
	s.take(&r, a)
	s.progress("unchanged: %d rules, %d calls judged", len(r.Rules), len(r.Scenarios)+r.Never)
	return r, nil
}
