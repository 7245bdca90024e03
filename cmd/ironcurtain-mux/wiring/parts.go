package wiring

import (
	"cmp"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/budget"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
)

// Parts are the parts of a multiplexer.
type Parts struct {
	Paths     Paths
	Config    config.Config
	Agents    *agent.Registry
	table     []mitm.Provider
	upstreams Upstreams
	Keys      keyring
	Servers   map[string]servers.Config // the person's own
	latest    *atomic.Pointer[Parts]    // the parts since config.json was read again; empty: these
}

// Latest returns the parts made from config.json as it was last read.
func (w Parts) Latest() Parts {
	if l := w.latest.Load(); l != nil {
		return *l
	}
	return w
}

// Wire makes the parts for sessions with a profile, connected to the real providers.
func (p Paths) Wire(c config.Config, profile broker.Profile) (Parts, error) {
	if profile.Policy != "" {
		c.Policy = profile.Policy
	}
	agents, err := AgentsOf(c)
	if err != nil {
		return Parts{}, err
	}
	own, err := OwnServers(c, p.ConfigFile(), profile.Servers, agents)
	if err != nil {
		return Parts{}, err
	}
	table, err := TableOf(c)
	if err != nil {
		return Parts{}, cli.Fail("read configuration", err, "")
	}
	moved, err := UpstreamFlags{profile.Upstreams, profile.UpstreamCA}.Read(table)
	if err != nil {
		return Parts{}, err
	}
	w := Parts{
		Paths: p, Config: c, Agents: agents, table: table, upstreams: moved,
		Keys: Credentials(table, agents, p, moved), Servers: own, latest: new(atomic.Pointer[Parts]),
	}
	return w, nil
}

// broker makes the broker from the configuration. done ends what sessions with a profile have started.
func (w Parts) broker(log *slog.Logger) (b *broker.Broker, done func() error, err error) {
	const op = "open multiplexer"
	own := &profiles{paths: w.Paths, log: log, keys: map[string]keyring{"": w.Keys}, packages: newRegistries(w.Paths, w.Config, log)}
	c, err := own.withPackages(w.Sessions(log))
	if err != nil {
		return nil, nil, err
	}
	c.OfProfile = own.config
	c.Reload = func() (broker.Config, error) { return own.reload(w.latest) }
	b, err = broker.New(c)
	return b, own.close, cli.Fail(op, err, "")
}

// Sessions makes the configuration of sessions.
func (w Parts) Sessions(log *slog.Logger) (broker.Config, error) {
	const op = "open multiplexer"
	loaded, err := w.LoadOwn()
	if err != nil {
		return broker.Config{}, cli.Fail("load policy", err, "")
	}
	limits, prices, err := spending(w.Config.Budget)
	if err != nil {
		return broker.Config{}, cli.Fail(op, err, "")
	}
	fetch, err := fetchServer()
	if err != nil {
		return broker.Config{}, cli.Fail(op, err, "")
	}
	codeModes, codeProgram, err := w.codeModes()
	if err != nil {
		return broker.Config{}, cli.Fail(op, err, "")
	}
	c := broker.Config{
		Home:              w.Paths.Home,
		UserHome:          w.Paths.UserHome,
		CacheDir:          w.Paths.Cache,
		Agents:            w.Agents,
		Models:            w.Config.Models,
		Images:            broker.Images{From: BaseChoice(w.Config.Images.From), Recipe: RecipeOf(w.Config.Images)},
		Engine:            w.Paths.choice(w.Config),
		Runtime:           w.Config.Runtime,
		DefaultAgent:      w.Config.Agent,
		Ways:              w.Paths.Ways(w.Config),
		MaxSessions:       w.Config.MaxSessions,
		KeepSessions:      w.Config.KeepSessions(),
		Compiled:          loaded.Compiled,
		Annotations:       loaded.Annotations,
		Lists:             loaded.Lists,
		LoadPolicy:        w.loadPolicy(),
		PolicyFiles:       w.policiesOf(),
		Protected:         w.Config.Protected,
		Reachable:         w.Config.Reachable,
		Setup:             w.setup(),
		Ports:             w.ports(),
		Worktree:          w.Config.Worktree,
		SandboxPolicy:     w.Config.SandboxPolicy,
		EscalationTimeout: w.Config.EscalationTimeout(),
		Away:              w.Config.Away(),
		ReceiptHold:       w.Config.ReceiptHold(),
		ConfigFile:        w.Paths.ConfigFile(),
		CheckConfig:       w.Paths.CheckConfig,
		Credentials:       w.Keys,
		AgentKeys:         w.agentKeys(),
		GitHub:            w.github(),
		AgentPolicies:     w.agentPolicies(),
		CodeModes:         codeModes,
		CodeProgram:       codeProgram,
		Secrets:           w.Keys.Secrets(),
		Providers:         w.table,
		Upstreams:         w.upstreams.Hosts,
		UpstreamCAs:       w.upstreams.Roots,
		Resources: broker.Resources{
			MemoryMB: w.Config.Resources.MemoryMB,
			CPUs:     w.Config.Resources.CPUs,
			Pids:     w.Config.Resources.Pids,
		},
		FetchServer: fetch,
		Servers:     w.Servers,
		AddServer:   w.addServer,
		GitHosts:    w.Config.GitHosts,
		AutoApprove: w.autoApprove(),
		Limits:      limits,
		Prices:      prices,
		Log:         log,
	}
	c.Own = ownAgent()
	if w.Config.LocalShell {
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

// setup returns the setup commands by the real paths of their workspaces. Of two commands for
// the same workspace, the later one is used.
func (w Parts) setup() map[string]string {
	all := map[string]string{}
	for _, s := range w.Config.Setup {
		all[w.realDir(s.Workspace)] = s.Run
	}
	return all
}

// ports returns the ports that are opened at the start of a session, by the real paths of
// the workspaces.
func (w Parts) ports() map[string][]broker.Port {
	all := map[string][]broker.Port{}
	for _, p := range w.Config.Ports {
		dir := w.realDir(p.Workspace)
		all[dir] = append(all[dir], broker.Port{Container: p.Port, Host: cmp.Or(p.Host, p.Port)})
	}
	return all
}

// realDir returns the real path of a directory that the configuration names.
func (w Parts) realDir(name string) string {
	dir := w.Paths.expand([]string{name})[0]
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
