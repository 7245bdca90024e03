package session

import (
	"context"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/packages"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
)

// openPackages gives the proxy the agent's way to package registries. Without them the agent
// works, but installs nothing.
func (s *Session) openPackages(ctx context.Context, c *mitm.Config, stack *teardown, log *audit.Log) {
	if s.deps.Config.Packages == nil {
		return
	}
	host, err := s.deps.Config.Packages(ctx)
	if err != nil {
		text := "agents cannot install packages: " + describe(err)
		if hint := fault.Hint(err); hint != "" {
			text += " (" + hint + ")"
		}
		s.notice(true, text)
		return
	}
	way := host.Session(packages.SessionOptions{
		ID: s.fixed.ID, Workspace: s.fixed.Workspace, Approvals: s.deps.Approvals, Timeout: s.deps.Config.EscalationTimeout,
		Log: log, Notice: func(text string) { s.notice(false, text) },
	})
	stack.push("close the way to package registries", func(context.Context) error { way.Close(); return nil })
	c.Packages, c.Registries = way.Way(), host.Hosts()
	s.mu.Lock()
	s.packages = way
	s.mu.Unlock()
}
