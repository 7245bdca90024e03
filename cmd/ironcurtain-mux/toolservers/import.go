package toolservers

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers/imported"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

func serversImportCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "import [NAME...]",
		Short: "Import MCP servers that other agents on this machine are configured with",
		Long: `List the MCP servers in the configurations of Claude Code, Codex, Gemini CLI and
OpenCode, or add the named ones to mcpServers in config.json. The configurations of
the agents are not changed. A value that may be a secret is not copied: the server
gets a reference to a variable, and the command names the variables that you must set.`,
		Example: `  ironcurtain-mux servers import
  ironcurtain-mux servers import memory github`,
		RunE: func(cmd *cobra.Command, names []string) error {
			if all && len(names) > 0 {
				return cli.Usagef("name servers, or give --all")
			}
			p, c, err := wiring.LoadConfig()
			if err != nil {
				return err
			}
			found, failures := imported.Find(p.UserHome)
			if failures != nil {
				fmt.Fprintln(cmd.ErrOrStderr(), "ironcurtain-mux: left out: "+cli.OnOneLine(failures).Error())
			}
			if !all && len(names) == 0 {
				return printFound(cmd.OutOrStdout(), found, c)
			}
			return takeServers(cmd.OutOrStdout(), p, c, found, names)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "add every server that can be used")
	return cmd
}

// obstacle returns why a server cannot be imported, or "".
func obstacle(s imported.Server, c config.Config) string {
	if _, taken := c.MCPServers[s.Name]; taken {
		return "config.json has a server of this name"
	}
	return s.Unusable
}

func printFound(w io.Writer, found []imported.Server, c config.Config) error {
	if len(found) == 0 {
		_, err := fmt.Fprintln(w, "no other agent on this machine is configured with MCP servers")
		return err
	}
	var rows [][]string
	for _, s := range found {
		row := []string{s.Name, s.From, text.OneLine(s.What(), 60), strings.Join(s.Variables, " "), obstacle(s, c)}
		for i, cell := range row {
			row[i] = text.Drawable(cell)
		}
		rows = append(rows, row)
	}
	return cli.PrintTable(w, []string{"NAME", "FROM", "SERVER", "NEEDS", "NOT USABLE BECAUSE"}, rows)
}

// takeServers adds servers to config.json: the named ones, or without names all that can be
// used. It adds all of them or none.
func takeServers(w io.Writer, p wiring.Paths, c config.Config, found []imported.Server, names []string) error {
	const op = "import servers"
	chosen := map[string]imported.Server{}
	for _, name := range names {
		i := slices.IndexFunc(found, func(s imported.Server) bool { return s.Name == name })
		if i < 0 {
			return cli.Fail(op, fmt.Errorf("no other agent has a server %q", name), "'ironcurtain-mux servers import' lists them")
		}
		if why := obstacle(found[i], c); why != "" {
			return cli.Fail(op, fmt.Errorf("%s: %s", name, why), "")
		}
		chosen[name] = found[i]
	}
	for _, s := range found {
		if _, twice := chosen[s.Name]; len(names) == 0 && !twice && obstacle(s, c) == "" {
			chosen[s.Name] = s
		}
	}
	if len(chosen) == 0 {
		return cli.Fail(op, errors.New("there is no server that could be added"), "'ironcurtain-mux servers import' shows why")
	}
	entries := map[string]any{}
	for name, s := range chosen {
		entries[name] = s.Entry
	}
	if _, err := wiring.AddServers(p, entries); err != nil {
		return cli.Fail(op, err, "")
	}
	for _, s := range found {
		if chosen[s.Name].From != s.From {
			continue
		}
		fmt.Fprintf(w, "added %s\n", s.Name)
		for _, v := range s.Variables {
			fmt.Fprintf(w, "  set %s where you start ironcurtain-mux, or name a command or a file in its credentials\n", v)
		}
	}
	return nil
}
