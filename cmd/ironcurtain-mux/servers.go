package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
)

// ownServers returns the person's own MCP servers: those of the configuration and those of
// the file that --servers names, if it names one. Of two with the same name, that of the
// file counts.
func ownServers(c config.Config, configFile, more string, agents *agent.Registry) (map[string]servers.Config, error) {
	const op = "read servers"
	text, err := json.Marshal(c.MCPServers)
	if err != nil {
		return nil, fail(op, err, "")
	}
	all := map[string]servers.Config{}
	if len(c.MCPServers) > 0 {
		if all, err = servers.Parse(configFile+": mcpServers", text); err != nil {
			return nil, fail(op, err, "")
		}
	}
	if more != "" {
		added, err := servers.Load(more)
		if err != nil {
			return nil, fail(op, err, "--servers names a file with MCP servers")
		}
		maps.Copy(all, added)
	}
	if err := servers.CheckOwn(all); err != nil {
		return nil, fail(op, err, "give it another name")
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, a := range all[name].Agents {
			if _, err := agents.Named(a); err != nil {
				return nil, fail(op, fmt.Errorf("server %q: agents: %w", name, err), remedyOf(err, "mend its agents"))
			}
		}
	}
	return all, nil
}
