package wiring

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// AddServers adds entries to mcpServers in config.json, all of them or none.
func AddServers(p Paths, entries map[string]any) (map[string]servers.Config, error) {
	data, err := json.Marshal(entries)
	if err != nil {
		return nil, err
	}
	own, err := servers.Parse("mcpServers", data)
	if err == nil {
		err = servers.CheckOwn(own)
	}
	if err == nil {
		err = config.AddServers(p.ConfigFile(), entries)
	}
	return own, err
}

// addServer adds a server to config.json: a command with its arguments, or an address.
func (w Parts) addServer(name string, words []string) (servers.Config, error) {
	entry := map[string]any{"command": words[0]}
	if len(words) > 1 {
		entry["args"] = words[1:]
	}
	if len(words) == 1 && strings.Contains(words[0], "://") {
		entry = map[string]any{"url": words[0]}
	}
	if _, taken := w.Servers[name]; taken {
		return servers.Config{}, fault.New("give the server another name", "there is a server %q already", name)
	}
	own, err := AddServers(w.Paths, map[string]any{name: entry})
	return own[name], err
}

// OwnServers returns the person's own MCP servers: those of the configuration and those of the
// file that --servers names. If both have a server of the same name, the file's is used.
func OwnServers(c config.Config, configFile, more string, agents *agent.Registry) (map[string]servers.Config, error) {
	const op = "read servers"
	text, err := json.Marshal(c.MCPServers)
	if err != nil {
		return nil, cli.Fail(op, err, "")
	}
	all := map[string]servers.Config{}
	if len(c.MCPServers) > 0 {
		if all, err = servers.Parse(configFile+": mcpServers", text); err != nil {
			return nil, cli.Fail(op, err, "")
		}
	}
	if more != "" {
		added, err := servers.Load(more)
		if err != nil {
			return nil, cli.Fail(op, err, "--servers names a file with MCP servers")
		}
		maps.Copy(all, added)
	}
	if err := servers.CheckOwn(all); err != nil {
		return nil, cli.Fail(op, err, "give the server another name")
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, a := range all[name].Agents {
			if _, err := agents.Named(a); err != nil {
				return nil, cli.Fail(op, fmt.Errorf("server %q: agents: %w", name, err), cli.RemedyOf(err, "fix its agents"))
			}
		}
	}
	return all, nil
}
