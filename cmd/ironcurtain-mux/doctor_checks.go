package main

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
)

// doctorChecks lists the prerequisites in the order in which they matter.
func doctorChecks(p paths) []check {
	return []check{
		{"engine", func(ctx context.Context) finding { return checkEngine(ctx, p) }},
		{"images", func(ctx context.Context) finding { return checkImages(ctx, p) }},
		{"sandbox", func(context.Context) finding {
			return checkPrograms("tool servers run in a sandbox", "bwrap", "socat", "rg")
		}},
		{"node", func(context.Context) finding { return checkPrograms("tool servers can be installed", "node", "npm") }},
		{"servers", func(ctx context.Context) finding { return checkServers(ctx, p) }},
		{"policy", func(context.Context) finding { return checkPolicy(p) }},
		{"config", func(context.Context) finding { return checkConfig(p) }},
		{"sockets", func(context.Context) finding { return checkSockets(p) }},
		{"terminal", checkTerminal},
		{"keys", func(context.Context) finding { return checkKeys(p, p.agents()) }},
		{"disk", func(context.Context) finding { return checkDisk(p) }},
		{"quotas", func(context.Context) finding { return checkQuotas(p) }},
		{"clock", func(context.Context) finding { return checkClock(time.Now()) }},
	}
}

func checkPolicy(p paths) finding {
	c, err := p.config()
	if err != nil {
		return warn("mend config.json first", "cannot be told without the configuration")
	}
	loaded, err := loadPolicyDir(c.Policy)
	if err != nil {
		return bad(remedyOf(err, ""), "%s", reasonOf(err))
	}
	return ok("%s", loaded.source)
}

func checkConfig(p paths) finding {
	if _, err := p.config(); err != nil {
		return bad(remedyOf(err, ""), "%s", reasonOf(err))
	}
	if _, err := os.Stat(p.configFile()); errors.Is(err, fs.ErrNotExist) {
		return ok("there is no %s; the defaults hold", p.configFile())
	}
	return ok("%s", p.configFile())
}

// checkKeys says which agents have a credential for one of their providers.
func checkKeys(p paths, agents *agent.Registry) finding {
	table := mitm.Providers()
	c, err := p.config()
	if err == nil { // what is wrong with it is said elsewhere
		if all, err := providersOf(c); err == nil {
			table = all
		}
	}
	keys := credentials(table, agents, p, upstreams{})
	var can, cannot []string
	var lacks error
	for _, a := range agents.All() {
		if len(a.Providers) == 0 {
			continue
		}
		_, given := c.AgentAPIKeys[a.Name]
		if lack := lacking(keys, a); lack != nil && !given {
			cannot, lacks = append(cannot, a.Name), errors.Join(lacks, lack)
			continue
		}
		can = append(can, a.Name)
	}
	if len(can) == 0 {
		return warn(remedyOf(lacks, "log in")+", or use 'ironcurtain-mux demo', which needs none",
			"no agent has a key: %s", strings.Join(cannot, ", "))
	}
	if len(cannot) > 0 {
		return ok("for %s; none for %s", strings.Join(can, ", "), strings.Join(cannot, ", "))
	}
	return ok("for %s", strings.Join(can, ", "))
}

// checkServers starts every tool server in its sandbox for a moment. It runs the probes
// inside, and compares the tools that the servers offer with the policy's annotations.
func checkServers(ctx context.Context, p paths) finding {
	c, err := p.config()
	if err != nil {
		return warn("mend config.json first", "cannot be told without the configuration")
	}
	if !servers.Installed(p.cache) {
		return warn("they are installed when the first tab is opened", "not installed yet")
	}
	agents, err := agentsOf(c)
	if err != nil {
		return bad(remedyOf(err, ""), "%s", reasonOf(err))
	}
	own, err := ownServers(c, p.configFile(), "", agents)
	if err != nil {
		return bad(remedyOf(err, ""), "%s", reasonOf(err))
	}
	var b *broker.Broker
	w := wiring{paths: p, config: c, agents: agents, servers: own, keys: credentials(nil, agents, p, upstreams{})}
	sessions, err := w.sessions(slog.New(slog.DiscardHandler))
	if err == nil {
		b, err = broker.New(sessions)
	}
	if err != nil {
		return bad(remedyOf(err, ""), "%s", reasonOf(err))
	}
	defer b.Shutdown(context.WithoutCancel(ctx)) //nolint:errcheck // nothing was opened
	found, err := b.CheckServers(ctx)
	if err != nil {
		return bad(remedyOf(err, "run 'ironcurtain-mux doctor' again; if it stays, remove "+p.cache), "%v", err)
	}
	if len(found.Failed) > 0 {
		return bad("do what it says, or mend mcpServers in config.json", "these of your servers do not start: %s", strings.Join(found.Failed, "; "))
	}
	if len(found.Hidden) > 0 {
		return warn("annotate them in a policy of your own if agents shall have them",
			"%d tools, each server in its sandbox; not offered: %s", found.Tools, strings.Join(found.Hidden, "; "))
	}
	return ok("%d tools, each server in its sandbox", found.Tools)
}
