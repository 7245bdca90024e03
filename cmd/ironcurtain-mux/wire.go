package main

import (
	"cmp"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/budget"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
)

// wiring holds the parts of a multiplexer.
type wiring struct {
	paths     paths
	config    config.Config
	agents    *agent.Registry
	table     []mitm.Provider
	upstreams upstreams
	keys      keyring
	servers   map[string]servers.Config // the person's own
}

// wire connects the parts to the real providers, for sessions that have a profile.
func (p paths) wire(c config.Config, profile broker.Profile) (wiring, error) {
	if profile.Policy != "" {
		c.Policy = profile.Policy
	}
	agents, err := agentsOf(c)
	if err != nil {
		return wiring{}, err
	}
	own, err := ownServers(c, p.configFile(), profile.Servers, agents)
	if err != nil {
		return wiring{}, err
	}
	table, err := tableOf(c)
	if err != nil {
		return wiring{}, fail("read configuration", err, "")
	}
	moved, err := upstreamFlags{profile.Upstreams, profile.UpstreamCA}.read(table)
	if err != nil {
		return wiring{}, err
	}
	w := wiring{
		paths: p, config: c, agents: agents, table: table, upstreams: moved,
		keys: credentials(table, agents, p, moved), servers: own,
	}
	return w, nil
}

// broker makes the broker from the configuration. done ends what sessions with a profile needed.
func (w wiring) broker(log *slog.Logger) (b *broker.Broker, done func() error, err error) {
	const op = "open multiplexer"
	c, err := w.sessions(log)
	if err != nil {
		return nil, nil, err
	}
	own := &profiles{paths: w.paths, log: log, keys: map[string]keyring{"": w.keys}}
	c.OfProfile = own.config
	b, err = broker.New(c)
	return b, own.close, fail(op, err, "")
}

// sessions makes the configuration of sessions.
func (w wiring) sessions(log *slog.Logger) (broker.Config, error) {
	const op = "open multiplexer"
	loaded, err := w.loadOwn()
	if err != nil {
		return broker.Config{}, fail("load policy", err, "")
	}
	limits, prices, err := spending(w.config.Budget)
	if err != nil {
		return broker.Config{}, fail(op, err, "")
	}
	fetch, err := fetchServer()
	if err != nil {
		return broker.Config{}, fail(op, err, "")
	}
	c := broker.Config{
		Home:              w.paths.home,
		UserHome:          w.paths.userHome,
		CacheDir:          w.paths.cache,
		Agents:            w.agents,
		Models:            w.config.Models,
		Images:            broker.Images{From: baseChoice(w.config.Images.From), Recipe: recipeOf(w.config.Images)},
		Runtime:           w.config.Runtime,
		DefaultAgent:      w.config.Agent,
		MaxSessions:       w.config.MaxSessions,
		KeepSessions:      w.config.KeepSessions(),
		Compiled:          loaded.compiled,
		Annotations:       loaded.annotations,
		Lists:             loaded.lists,
		LoadPolicy:        w.loadPolicy(),
		Protected:         slices.Concat(w.config.Protected, w.policiesOf()),
		Reachable:         w.config.Reachable,
		Setup:             w.setup(),
		Ports:             w.ports(),
		Worktree:          w.config.Worktree,
		SandboxPolicy:     w.config.SandboxPolicy,
		EscalationTimeout: w.config.EscalationTimeout(),
		Away:              w.config.Away(),
		ReceiptHold:       w.config.ReceiptHold(),
		ConfigFile:        w.paths.configFile(),
		CheckConfig:       w.paths.checkConfig,
		Credentials:       w.keys,
		AgentKeys:         w.agentKeys(),
		GitHub:            w.github(),
		AgentPolicies:     w.agentPolicies(),
		Secrets:           w.keys.Secrets(),
		Providers:         w.table,
		Upstreams:         w.upstreams.hosts,
		UpstreamCAs:       w.upstreams.roots,
		Resources: broker.Resources{
			MemoryMB: w.config.Resources.MemoryMB,
			CPUs:     w.config.Resources.CPUs,
			Pids:     w.config.Resources.Pids,
		},
		FetchServer: fetch,
		Servers:     w.servers,
		AddServer:   w.addServer,
		GitHosts:    w.config.GitHosts,
		AutoApprove: w.autoApprove(),
		Limits:      limits,
		Prices:      prices,
		Log:         log,
	}
	if w.config.LocalShell {
		c.HostShell = startShell
	}
	return c, nil
}

// spending returns the limits of a session and the prices of models.
func spending(c config.Budget) (budget.Limits, budget.Prices, error) {
	var own []budget.ModelPrice
	for _, p := range c.Prices {
		own = append(own, budget.ModelPrice{Match: p.Match, Price: budget.Price{
			In: p.In, Out: p.Out, CacheRead: p.CacheRead, CacheWrite: p.CacheWrite,
		}})
	}
	prices, err := budget.BuiltInPrices(own...)
	return budget.Limits{
		Cost: budget.USD(c.CostUSD), Tokens: c.Tokens, Requests: c.Requests, Time: time.Duration(c.Minutes) * time.Minute,
	}, prices, err
}

// setup returns the setup commands by the real paths of their workspaces. Of two for the
// same workspace, the later counts.
func (w wiring) setup() map[string]string {
	all := map[string]string{}
	for _, s := range w.config.Setup {
		all[w.realDir(s.Workspace)] = s.Run
	}
	return all
}

// ports returns the ports that are opened at the start of a session, by the real paths of
// the workspaces.
func (w wiring) ports() map[string][]broker.Port {
	all := map[string][]broker.Port{}
	for _, p := range w.config.Ports {
		dir := w.realDir(p.Workspace)
		all[dir] = append(all[dir], broker.Port{Container: p.Port, Host: cmp.Or(p.Host, p.Port)})
	}
	return all
}

// realDir returns the real path of a directory that the configuration names.
func (w wiring) realDir(name string) string {
	dir := w.paths.expand([]string{name})[0]
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	return filepath.Clean(dir)
}

// fetchServer is the command line of our own fetch server.
func fetchServer() ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return []string{self, "serve", "fetch"}, nil
}
