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
	Servers      []string  // only these, the others stay as they are; nil: all that are annotated
	Previous     *Previous // what was compiled before; may be nil
	Force        bool      // ask anew for what has been compiled from the same input
	Machine      Machine
	World        *World
	Now          time.Time
	Progress     func(server, text string) // may be nil; called from several goroutines
}

// Result is a policy that was verified as a whole.
type Result struct {
	Servers   []ServerResult // by name, those without rules too
	Policy    *policy.Compiled
	Lists     map[string]policy.List
	Scenarios []policy.Scenario
}

// atOnce bounds the servers that are worked on beside each other.
const atOnce = 4

// Run compiles. It fails when the model cannot be asked, and when no server's
// rules could be verified; a single server whose rules fail is in the result.
func Run(ctx context.Context, m Model, o Options) (*Result, error) {
	for _, name := range o.Servers {
		if !slices.Contains(o.Annotations.Servers(), name) {
			return nil, fmt.Errorf("server %q is not annotated; those that are: %s", name, strings.Join(o.Annotations.Servers(), ", "))
		}
	}
	names := o.Annotations.Servers()
	results := make([]ServerResult, len(names))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, name := range names {
		group.Go(func() (err error) {
			results[i], err = o.one(ctx, m, name)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return merge(&o, slices.DeleteFunc(results, func(r ServerResult) bool { return r.Name == "" }))
}

// one compiles a server, or keeps what was compiled before. A server that is
// neither asked for nor known gives nothing.
func (o *Options) one(ctx context.Context, m Model, name string) (ServerResult, error) {
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
		s.progress("what was compiled before no longer passes")
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

// keep tries what was compiled before once more.
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
