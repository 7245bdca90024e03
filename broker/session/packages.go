package session

import (
	"context"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/packages"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
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
	s.packages, s.registries = way, host.Container()
	s.mu.Unlock()
}

// registryMounts are the files of the read-only directory by which package managers find
// their registries.
func (s *Session) registryMounts() []docker.Mount {
	var all []docker.Mount
	for _, f := range s.registries.SystemFiles() {
		if f.Target != "" {
			all = append(all, docker.Mount{Source: s.layout.Orientation() + "/" + f.Path, Target: f.Target, ReadOnly: true})
		}
	}
	return all
}

// registryFiles are all files by which they do.
func (s *Session) registryFiles() []agent.File {
	files := s.registries.HomeFiles()
	for _, f := range s.registries.SystemFiles() {
		files = append(files, f.File)
	}
	return files
}
