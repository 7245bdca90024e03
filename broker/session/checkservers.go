package session

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/mcpproxy"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
)

// ServerCheck is the result of a trial start of a session's tool servers.
type ServerCheck struct {
	Tools  int      // how many tools an agent would be offered
	Hidden []string // the tools that no agent is offered, each with the reason
	Failed []string // the servers of the person's own that did not start, each with the reason
}

// CheckServers starts every tool server in its sandbox, as a session in an
// empty directory would, and compares the tools that they offer with the policy's
// annotations. It fails when the configuration enforces sandboxes and a sandbox lets
// a probe through.
func CheckServers(ctx context.Context, d *Deps) (found ServerCheck, err error) {
	dir, err := os.MkdirTemp("", "ironcurtain-check-")
	if err != nil {
		return found, fmt.Errorf("check the tool servers: %w", err)
	}
	defer os.RemoveAll(dir)
	s := &Session{deps: d, fixed: stored.Session{Workspace: stored.RealPath(dir)}}
	engine, err := s.engineOf(d.PolicyInForce(), nil)
	if err != nil {
		return found, err
	}
	installed, err := servers.Install(ctx, d.Config.CacheDir, nil)
	if err != nil {
		return found, err
	}
	host, err := s.newSandboxes(ctx, installed)
	if err != nil {
		return found, err
	}
	defer host.Close()
	if err := host.Unavailable(); err != nil {
		return found, err
	}
	specs, err := s.toolServers(installed)
	if err != nil {
		return found, err
	}
	proxy, err := mcpproxy.New(mcpproxy.Config{Engine: engine, Servers: specs, Sandbox: host, Audit: audit.Discard{}})
	if err != nil {
		return found, err
	}
	defer proxy.Close(context.WithoutCancel(ctx))
	if err := proxy.Start(ctx); err != nil {
		return found, err
	}
	proxy.AwaitOwn(ctx)
	found.Tools = proxy.Tools()
	for _, own := range proxy.Servers() {
		if own.Own && own.State != mcpproxy.ServerRunning {
			found.Failed = append(found.Failed, own.Name+": "+cmp.Or(own.Problem, "it did not answer in time"))
		}
	}
	hidden := proxy.Hidden()
	for _, name := range slices.Sorted(maps.Keys(hidden)) {
		found.Hidden = append(found.Hidden, name+": "+hidden[name])
	}
	return found, nil
}
