package main

import (
	"log/slog"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// broker puts the trusted process together from the configuration.
func (w wiring) broker(log *slog.Logger) (*broker.Broker, error) {
	const op = "open multiplexer"
	loaded, err := judgeBy(w.config.Policy)
	if err != nil {
		return nil, fail("load policy", err, "")
	}
	c := broker.Config{
		Home:              w.place.home,
		UserHome:          w.place.userHome,
		CacheDir:          w.place.cache,
		Agents:            w.agents,
		DefaultAgent:      w.config.Agent,
		MaxSessions:       w.config.MaxSessions,
		KeepSessions:      w.config.KeepSessions(),
		Compiled:          loaded.compiled,
		Annotations:       loaded.annotations,
		Lists:             loaded.lists,
		Protected:         w.config.Protected,
		Reachable:         w.config.Reachable,
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
		Log: log,
	}
	if c.FetchServer, err = fetchServer(); err != nil {
		return nil, fail(op, err, "")
	}
	if w.config.LocalShell {
		c.HostShell = startShell
	}
	if w.change != nil {
		w.change(&c)
	}
	b, err := broker.New(c)
	return b, fail(op, err, "")
}
