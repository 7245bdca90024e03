package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// narrowBy reads the policies that hold for this session beside the multiplexer's: that of
// its agent in config.json, and that in the directory given for its tab, which may be
// empty. It returns an error for one that would allow more than the multiplexer's.
func (s *Session) narrowBy(given string) error {
	dirs := []string{s.deps.Config.AgentPolicies[s.adapter.Name]}
	if given != "" {
		if s.adapter.Host {
			return fault.New("leave --policy out", "a shell of this machine makes no calls that a policy could judge")
		}
		dir, err := filepath.Abs(given)
		if err != nil {
			return fmt.Errorf("policy of the tab: %w", err)
		}
		s.fixed.Policy = stored.RealPath(dir)
		dirs = append(dirs, s.fixed.Policy)
	}
	for _, dir := range dirs {
		if dir == "" || s.adapter.Host {
			continue
		}
		if err := s.checkPolicyDir(dir); err != nil {
			return err
		}
		n, err := policy.LoadNarrowing(dir, s.deps.Config.Compiled, s.deps.Config.Annotations)
		if err != nil {
			return fmt.Errorf("policy of the tab: %w", err)
		}
		s.narrowings = append(s.narrowings, n)
	}
	return nil
}

// checkPolicyDir returns an error for a policy directory that is gone, or that an agent
// could write to.
func (s *Session) checkPolicyDir(dir string) error {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			err = errors.New("there is no such directory")
		}
		return fault.New("name an existing directory with compiled-policy.json in it", "policy of the tab: %s: %w", dir, err)
	}
	at := stored.RealPath(dir)
	if stored.Contains(s.fixed.Workspace, at) || stored.ManagedWorkspace(s.deps.Config.Home, at) {
		return fault.New("keep the policy in another directory", "policy of the tab: %s lies where an agent can change it", dir)
	}
	return nil
}

// policyDirs returns the directories of the narrowing policies. No call may touch them.
func (s *Session) policyDirs() []string {
	var all []string
	for _, n := range s.narrowings {
		all = append(all, n.Dir)
	}
	return all
}
