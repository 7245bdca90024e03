package main

import (
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/budget"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
)

// broker puts the trusted process together from the configuration.
func (w wiring) broker(log *slog.Logger) (*broker.Broker, error) {
	const op = "open multiplexer"
	loaded, err := judgeBy(w.config.Policy)
	if err != nil {
		return nil, fail("load policy", err, "")
	}
	limits, prices, err := spending(w.config.Budget)
	if err != nil {
		return nil, fail(op, err, "")
	}
	c := broker.Config{
		Home:              w.place.home,
		UserHome:          w.place.userHome,
		CacheDir:          w.place.cache,
		Agents:            w.agents,
		Models:            w.config.Models,
		Images:            broker.Images{Base: w.config.Images.Base, From: baseChoice(w.config.Images.From)},
		DefaultAgent:      w.config.Agent,
		MaxSessions:       w.config.MaxSessions,
		KeepSessions:      w.config.KeepSessions(),
		Compiled:          loaded.compiled,
		Annotations:       loaded.annotations,
		Lists:             loaded.lists,
		Protected:         slices.Concat(w.config.Protected, policyFiles(w.config.Policy)),
		Reachable:         w.config.Reachable,
		Setup:             w.setup(),
		Worktree:          w.config.Worktree,
		SandboxPolicy:     w.config.SandboxPolicy,
		EscalationTimeout: w.config.EscalationTimeout(),
		ReceiptHold:       w.config.ReceiptHold(),
		Credentials:       w.keys,
		Secrets:           w.keys.Secrets(),
		Providers:         w.table,
		Upstreams:         w.moved.hosts,
		UpstreamCAs:       w.moved.roots,
		Resources: broker.Resources{
			MemoryMB: w.config.Resources.MemoryMB,
			CPUs:     w.config.Resources.CPUs,
			Pids:     w.config.Resources.Pids,
		},
		Limits: limits,
		Prices: prices,
		Log:    log,
	}
	if c.FetchServer, err = fetchServer(); err != nil {
		return nil, fail(op, err, "")
	}
	c.GitHosts = w.config.GitHosts
	c.AutoApprove = w.autoApprove()
	if w.config.LocalShell {
		c.HostShell = startShell
	}
	if w.change != nil {
		w.change(&c)
	}
	b, err := broker.New(c)
	return b, fail(op, err, "")
}

// spending is what a session may use, and what things cost.
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

// setup lists the setup commands by the real paths of their workspaces. Of two for
// the same one the later holds.
func (w wiring) setup() map[string]string {
	all := map[string]string{}
	for _, s := range w.config.Setup {
		dir := w.place.expand([]string{s.Workspace})[0]
		if resolved, err := filepath.EvalSymlinks(dir); err == nil {
			dir = resolved
		}
		all[filepath.Clean(dir)] = s.Run
	}
	return all
}
