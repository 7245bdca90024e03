package doctor

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
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/codemode"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm/helper"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
)

// doctorChecks lists the prerequisites in the order in which they matter.
func doctorChecks(p wiring.Paths, e engine) []check {
	return []check{
		{"engine", func(ctx context.Context) finding { return checkEngine(ctx, p, e) }},
		{"way", func(ctx context.Context) finding { return checkWay(ctx, p, e) }},
		{"files", func(ctx context.Context) finding { return checkFiles(ctx, p, e) }},
		{"user", func(context.Context) finding { return checkSeen(p, e, false) }},
		{"isolation", func(context.Context) finding { return checkSeen(p, e, true) }},
		{"images", func(ctx context.Context) finding { return checkImages(ctx, p, e) }},
		{"sandbox", func(context.Context) finding {
			return checkPrograms("tool servers run in a sandbox", "bwrap", "socat", "rg")
		}},
		{"node", func(context.Context) finding { return checkPrograms("tool servers can be installed", "node", "npm") }},
		{"servers", func(ctx context.Context) finding { return checkServers(ctx, p) }},
		{"programs", func(ctx context.Context) finding { return checkCode(ctx, p) }},
		{"packages", func(ctx context.Context) finding { return checkPackages(ctx, p) }},
		{"daemon", func(ctx context.Context) finding { return checkDaemon(ctx, p) }},
		{"crashes", func(context.Context) finding { return checkCrashes(p, time.Now()) }},
		{"logout", func(context.Context) finding { return checkLogout(p) }},
		{"policy", func(context.Context) finding { return checkPolicy(p) }},
		{"config", func(context.Context) finding { return checkConfig(p) }},
		{"sockets", func(context.Context) finding { return checkSockets(p) }},
		{"terminal", checkTerminal},
		{"keys", func(context.Context) finding { return checkKeys(p, p.Agents()) }},
		{"disk", func(context.Context) finding { return checkDisk(p) }},
		{"quotas", func(context.Context) finding { return checkQuotas(p) }},
		{"clock", func(context.Context) finding { return checkClock(time.Now()) }},
	}
}

// checkCode checks that programs of agents, and with them the built-in agent, can run: that this
// system can lock their processes.
func checkCode(ctx context.Context, p wiring.Paths) finding {
	program, err := codemode.Find()
	if err == nil {
		err = codemode.Probe(ctx, program)
	}
	if err == nil {
		_, err = helper.Find()
	}
	if err == nil {
		return ok("the built-in agent and agents' programs run in locked processes")
	}
	if c, broken := p.Config(); broken == nil {
		for _, a := range c.Agents {
			if a.CodeMode != "" && a.CodeMode != string(codemode.Off) {
				return bad(cli.RemedyOf(err, ""), "%s", cli.ReasonOf(err))
			}
		}
	}
	return warn(cli.RemedyOf(err, "run 'make build', or install it beside this program"), "the built-in agent and codeMode cannot be used: %s", cli.ReasonOf(err))
}

func checkPolicy(p wiring.Paths) finding {
	c, err := p.Config()
	if err != nil {
		return warn("fix config.json first", "unknown without the configuration")
	}
	loaded, err := wiring.LoadPolicyDir(c.Policy)
	if err != nil {
		return bad(cli.RemedyOf(err, ""), "%s", cli.ReasonOf(err))
	}
	return ok("%s", loaded.Source)
}

func checkConfig(p wiring.Paths) finding {
	if _, err := p.Config(); err != nil {
		return bad(cli.RemedyOf(err, ""), "%s", cli.ReasonOf(err))
	}
	if _, err := os.Stat(p.ConfigFile()); errors.Is(err, fs.ErrNotExist) {
		return ok("there is no %s; the defaults apply", p.ConfigFile())
	}
	return ok("%s", p.ConfigFile())
}

// checkKeys checks which agents have a credential for one of their providers.
func checkKeys(p wiring.Paths, agents *agent.Registry) finding {
	table := mitm.Providers()
	c, err := p.Config()
	if err == nil { // checkConfig reports the error
		if all, err := wiring.ProvidersOf(c); err == nil {
			table = all
		}
	}
	keys := wiring.Credentials(table, agents, p, wiring.Upstreams{})
	var can, cannot []string
	var lacks error
	for _, a := range agents.All() {
		if len(a.Providers) == 0 {
			continue
		}
		_, given := c.AgentAPIKeys[a.Name]
		if lack := wiring.Lacking(keys, a); lack != nil && !given {
			cannot, lacks = append(cannot, a.Name), errors.Join(lacks, lack)
			continue
		}
		can = append(can, a.Name)
	}
	if len(can) == 0 {
		return warn(cli.RemedyOf(lacks, "log in")+", or use 'ironcurtain-mux demo', which needs none",
			"no agent has a key: %s", strings.Join(cannot, ", "))
	}
	if len(cannot) > 0 {
		return ok("for %s; none for %s", strings.Join(can, ", "), strings.Join(cannot, ", "))
	}
	return ok("for %s", strings.Join(can, ", "))
}

// checkServers starts every tool server in its sandbox for a moment. It runs the probes
// inside, and compares the tools that the servers offer with the policy's annotations.
func checkServers(ctx context.Context, p wiring.Paths) finding {
	c, err := p.Config()
	if err != nil {
		return warn("fix config.json first", "unknown without the configuration")
	}
	if !servers.Installed(p.Cache) {
		return warn("they are installed when the first tab is opened", "not installed yet")
	}
	agents, err := wiring.AgentsOf(c)
	if err != nil {
		return bad(cli.RemedyOf(err, ""), "%s", cli.ReasonOf(err))
	}
	own, err := wiring.OwnServers(c, p.ConfigFile(), "", agents)
	if err != nil {
		return bad(cli.RemedyOf(err, ""), "%s", cli.ReasonOf(err))
	}
	var b *broker.Broker
	w := wiring.Parts{Paths: p, Config: c, Agents: agents, Servers: own, Keys: wiring.Credentials(nil, agents, p, wiring.Upstreams{})}
	sessions, err := w.Sessions(slog.New(slog.DiscardHandler))
	if err == nil {
		b, err = broker.New(sessions)
	}
	if err != nil {
		return bad(cli.RemedyOf(err, ""), "%s", cli.ReasonOf(err))
	}
	defer b.Shutdown(context.WithoutCancel(ctx)) //nolint:errcheck // nothing was opened
	found, err := b.CheckServers(ctx)
	if err != nil {
		return bad(cli.RemedyOf(err, "run 'ironcurtain-mux doctor' again; if it stays, remove "+p.Cache), "%v", err)
	}
	if len(found.Failed) > 0 {
		return bad("do what the error says, or fix mcpServers in config.json", "some of your servers do not start: %s", strings.Join(found.Failed, "; "))
	}
	if len(found.Hidden) > 0 {
		return warn("annotate them in a policy of your own if agents may use them",
			"%d tools, each server in its sandbox; not offered: %s", found.Tools, strings.Join(found.Hidden, "; "))
	}
	return ok("%d tools, each server in its sandbox", found.Tools)
}
