package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// takeProfile sets the session's profile. It refuses a profile with files that the agent could change.
func (s *Session) takeProfile(p stored.Profile) error {
	for _, path := range p.Files() {
		if s.AgentCanChange(path) {
			return fault.New("move the file to another directory", "profile of the tab: %s is in a directory that an agent can write to", path)
		}
	}
	s.fixed.Profile = p
	return nil
}

// Profile returns what the session has in place of the configuration.
func (s *Session) Profile() stored.Profile { return s.fixed.Profile }

// PolicyInForce returns the multiplexer's policy for the session.
func (s *Session) PolicyInForce() policy.Files { return s.deps.PolicyInForce() }

// AgentCanChange reports whether a path is in a directory that an agent can write to.
func (s *Session) AgentCanChange(path string) bool {
	if s.adapter.Place == agent.OnHost {
		return false
	}
	at := stored.RealPath(path)
	return stored.Contains(s.fixed.Workspace, at) || stored.ManagedWorkspace(s.deps.Config.Home, at)
}

// narrowBy sets and reads the session's further policies: that of its agent in config.json, and that in
// the directory given for its tab, which may be empty. It returns an error for a policy that would
// allow more than the multiplexer's.
func (s *Session) narrowBy(given string) error {
	if given != "" {
		if s.adapter.Place == agent.OnHost {
			return fault.New("leave --policy out", "no policy judges a shell of this machine")
		}
		dir, err := filepath.Abs(given)
		if err != nil {
			return fmt.Errorf("policy of the tab: %w", err)
		}
		s.fixed.Policy = stored.RealPath(dir)
	}
	var err error
	s.narrowings, err = s.readNarrowings(s.deps.PolicyInForce())
	return err
}

// readNarrowings reads the session's further policies, which must not allow more than outer.
func (s *Session) readNarrowings(outer policy.Files) ([]policy.Narrowing, error) {
	var all []policy.Narrowing
	for _, dir := range []string{s.deps.Config.AgentPolicies[s.adapter.Name], s.fixed.Policy} {
		if dir == "" || s.adapter.Place == agent.OnHost {
			continue
		}
		if err := s.checkPolicyDir(dir); err != nil {
			return nil, err
		}
		n, err := policy.LoadNarrowing(dir, outer.Policy, outer.Annotations)
		if err != nil {
			return nil, fmt.Errorf("policy of the tab: %w", err)
		}
		all = append(all, n)
	}
	return all, nil
}

// checkPolicyDir returns an error if a policy directory is missing, or an agent could write to it.
func (s *Session) checkPolicyDir(dir string) error {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			err = errors.New("there is no such directory")
		}
		return fault.New("name an existing directory with compiled-policy.json in it", "policy of the tab: %s: %w", dir, err)
	}
	if s.AgentCanChange(dir) {
		return fault.New("move the policy to another directory", "policy of the tab: %s is in a directory that an agent can write to", dir)
	}
	return nil
}

// policyDirs returns the directories of further policies. No call may touch them.
func policyDirs(narrowings []policy.Narrowing) []string {
	var all []string
	for _, n := range narrowings {
		all = append(all, n.Dir)
	}
	return all
}

// Reload is a session's change to another policy, prepared but not applied.
type Reload struct {
	session    *Session
	narrowings []policy.Narrowing
	engine     *policy.Engine
}

// PrepareReload prepares the session's change to another policy of the multiplexer's. It changes
// nothing. It fails if a policy of the tab or the agent would allow more than the new one.
func (s *Session) PrepareReload(f policy.Files) (*Reload, error) {
	r := &Reload{session: s}
	if s.adapter.Place == agent.OnHost {
		return r, nil
	}
	var err error
	if r.narrowings, err = s.readNarrowings(f); err != nil {
		return nil, err
	}
	if s.Info().State == stored.StateDead {
		return r, nil // its workspace may be gone
	}
	r.engine, err = s.engineOf(f, r.narrowings)
	return r, err
}

// Record records the change in the audit. Call it before Apply.
func (r *Reload) Record(ctx context.Context) error {
	s := r.session
	s.mu.Lock()
	log, before := s.log, s.engine
	s.mu.Unlock()
	if log == nil || r.engine == nil {
		return nil // the session judges no calls yet, or no longer
	}
	return log.Append(ctx, audit.Record{
		Plane: audit.PlaneHost, Decision: audit.Noted, Session: s.fixed.ID, Reason: "policy reloaded",
		Detail: map[string]any{"before": before.Hash(), "after": r.engine.Hash()},
	})
}

// Apply puts the other policy in force. It also judges waiting calls again when they continue.
func (r *Reload) Apply() {
	s := r.session
	s.judging.Lock()
	defer s.judging.Unlock()
	s.narrowings = r.narrowings
	s.mu.Lock()
	begun := s.engine != nil && r.engine != nil // otherwise the session's start makes its engine from the policy in force then
	if begun {
		s.engine = r.engine
	}
	tools := s.tools
	s.mu.Unlock()
	if begun && tools != nil {
		tools.Reload(r.engine)
	}
}
