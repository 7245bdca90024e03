package compile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// merge joins the servers' rules, in the order of the servers' names, and judges every
// scenario by the joined rules.
func merge(o *Options, servers []ServerResult) (*Result, error) {
	r := &Result{Servers: servers, Lists: map[string]policy.List{}}
	c := &policy.Compiled{GeneratedAt: o.Now.UTC().Format(time.RFC3339), ConstitutionHash: o.Constitution.Hash}
	var hashes []string
	var failures []error
	for i := range servers {
		s := &servers[i]
		if s.Failure == nil {
			s.Failure = conflict(c, *s)
		}
		if s.Failure != nil {
			c.Skipped = append(c.Skipped, policy.SkippedServer{Name: s.Name, Reason: text.Clip(s.Failure.Error(), 2000)})
			failures = append(failures, fmt.Errorf("%s: %w", s.Name, s.Failure))
			continue
		}
		rename(c, s)
		c.Servers = append(c.Servers, policy.CompiledServer{Name: s.Name, InputHash: s.InputHash})
		hashes = append(hashes, s.InputHash)
		c.Rules = append(c.Rules, s.Rules...)
		for _, def := range s.Lists {
			if !slices.Contains(c.Lists, def) {
				c.Lists = append(c.Lists, def)
			}
		}
		maps.Copy(r.Lists, s.Values)
		r.Scenarios = append(r.Scenarios, s.Scenarios...)
	}
	if len(c.Servers) == 0 {
		return nil, fmt.Errorf("no server's rules could be verified: %w", errors.Join(failures...))
	}
	c.InputHash = hash(append(hashes, "")...)
	c.Verified = c.Digest()
	r.Policy = c
	return r, r.verify(o)
}

// conflict refuses a list that an earlier server defines differently.
func conflict(c *policy.Compiled, s ServerResult) error {
	for _, def := range s.Lists {
		if i := slices.IndexFunc(c.Lists, func(other policy.ListDefinition) bool { return other.Name == def.Name }); i >= 0 && c.Lists[i] != def {
			return fmt.Errorf("list %s is defined differently by another server", def.Name)
		}
	}
	return nil
}

// rename renames rules whose name an earlier server's rule has.
func rename(c *policy.Compiled, s *ServerResult) {
	s.Rules = slices.Clone(s.Rules)
	for i := range s.Rules {
		if slices.ContainsFunc(c.Rules, func(r policy.Rule) bool { return r.Name == s.Rules[i].Name }) {
			s.Rules[i].Name = s.Name + "-" + s.Rules[i].Name
		}
	}
}

// verify judges every scenario by the joined rules.
func (r *Result) verify(o *Options) error {
	engine, err := o.engine(r.Policy, r.Lists)
	if err != nil {
		return err
	}
	problems, err := forbidden(engine, o.Annotations)
	for _, s := range r.Scenarios {
		if v := engine.Evaluate(s.Call); !s.Met(v.Decision) {
			problems = append(problems, missed(s, v))
		}
	}
	if err == nil && len(problems) > 0 {
		err = errors.New("the joined rules of all servers fail: " + someOf(problems))
	}
	return err
}
