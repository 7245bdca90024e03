package main

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// describeEngine says which engine it is, how it was found, and on what it runs.
func describeEngine(e docker.Endpoint, info docker.Info) string {
	rootless := ""
	if info.Rootless {
		rootless = ", rootless"
	}
	return fmt.Sprintf("Docker %s at %s (from %s)%s, kernel %s, cgroup v%s",
		info.Version, e.Address, e.Source, rootless, info.Kernel, info.CgroupVersion)
}

// checkServers starts every tool server in its sandbox for a moment: the probes
// from inside, and the tools they offer against the policy's annotations.
func checkServers(ctx context.Context, p place) finding {
	c, err := p.config()
	if err != nil {
		return warn("mend config.json first", "cannot be told without the configuration")
	}
	if !broker.ServersInstalled(p.cache) {
		return warn("they are installed when the first tab is opened", "not installed yet")
	}
	agents, err := agentsOf(c)
	if err != nil {
		return bad(remedyOf(err, ""), "%s", reasonOf(err))
	}
	b, err := wiring{place: p, config: c, agents: agents, keys: credentials(nil, agents, p.userHome, upstreams{})}.broker(slog.New(slog.DiscardHandler))
	if err != nil {
		return bad(remedyOf(err, ""), "%s", reasonOf(err))
	}
	defer b.Shutdown(context.WithoutCancel(ctx)) //nolint:errcheck // nothing was opened
	found, err := b.CheckServers(ctx)
	if err != nil {
		return bad(remedyOf(err, "run 'ironcurtain-mux doctor' again; if it stays, remove "+p.cache), "%v", err)
	}
	if len(found.Hidden) > 0 {
		return warn("annotate them in a policy of your own if agents shall have them",
			"%d tools, each server in its sandbox; not offered: %s", found.Tools, strings.Join(found.Hidden, "; "))
	}
	return ok("%d tools, each server in its sandbox, all annotated", found.Tools)
}

// checkClock makes sure that the clock can be right: certificates and the time
// that approvals hold depend on it.
func checkClock(now time.Time) finding {
	text := now.Format(time.RFC3339)
	if info, known := debug.ReadBuildInfo(); known {
		for _, s := range info.Settings {
			if built, err := time.Parse(time.RFC3339, s.Value); s.Key == "vcs.time" && err == nil && now.Before(built.Add(-24*time.Hour)) {
				return bad("set the clock", "%s, but this program was made on %s", text, built.Format(time.DateOnly))
			}
		}
	}
	if !clockKept() {
		return ok("%s, not kept by a time service", text)
	}
	return ok("%s", text)
}
