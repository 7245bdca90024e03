package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/egress"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/running"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/client"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/daemon"
)

// attachCommand shows the daemon in this terminal.
func attachCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "attach [SESSION]",
		Short: "Show the multiplexer that runs in this terminal, too",
		Long: `Show the multiplexer that runs in this terminal, too, beginning with a session's tab;
the beginning of its id is enough. /detach leaves it running, and so does closing the
terminal. Several terminals can show it; a tab has the size of the one in which it was
used last. Unlike 'ironcurtain-mux' alone, attach starts nothing when none runs.`,
		Example: "  ironcurtain-mux attach\n  ironcurtain-mux attach 6f1c\n  ssh -t workstation ironcurtain-mux attach",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, o, err := clientOptions()
			if err == nil {
				err = showHere(cmd, "attach", p, &o)
			}
			if err != nil {
				return err
			}
			if len(args) > 0 {
				s, err := stored.Find(p.Home, args[0])
				if err != nil {
					return cli.Fail("attach", err, "")
				}
				o.View.Show = string(s.ID)
			}
			end, err := client.Attach(cmd.Context(), o)
			return stay(cmd, "attach", o, end, err)
		},
	}
}

// showHere has the daemon show itself on this terminal, and tells it what the tabs that are
// opened there have from its environment.
func showHere(cmd *cobra.Command, op string, p wiring.Paths, o *client.Options) (err error) {
	if os.Getenv(wiring.InsideVariable) != "" {
		return cli.Fail(op, errors.New("this shell is one of the multiplexer's own tabs"), "use another terminal")
	}
	if o.In, o.Out, err = terminalOf(cmd); err != nil {
		return err
	}
	c, err := p.Config()
	if err != nil {
		return nil //nolint:nilerr // the daemon goes on with the configuration that it has read
	}
	agents, err := wiring.AgentsOf(c)
	if err != nil {
		return nil //nolint:nilerr // as above
	}
	table, err := wiring.TableOf(c)
	if err != nil {
		return nil //nolint:nilerr // as above
	}
	o.View.Keys = egress.EnvironmentKeys(table, agents.Providers(), os.Getenv)
	if c.LocalShell {
		o.View.Environment = os.Environ()
	}
	return nil
}

// stopCommand ends the daemon.
func stopCommand() *cobra.Command {
	var now bool
	cmd := &cobra.Command{
		Use:     "stop",
		Short:   "End the multiplexer and its agents",
		Long:    "End the multiplexer that runs. It refuses while agents run, except with --now.",
		Example: "  ironcurtain-mux stop --now",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, o, err := clientOptions()
			if err != nil {
				return err
			}
			end, err := client.Stop(cmd.Context(), o, now)
			return told(cmd, "stop", end, err)
		},
	}
	cmd.Flags().BoolVar(&now, "now", false, "end agents that run, too")
	return cmd
}

// clientOptions say where the daemon is.
func clientOptions() (wiring.Paths, client.Options, error) {
	p, err := wiring.FindPaths()
	if err != nil {
		return p, client.Options{}, err
	}
	if err := stored.CheckHome(p.Home); err != nil {
		return p, client.Options{}, cli.Fail("reach the daemon", err, "")
	}
	name, _ := os.Hostname() // a client may have no name
	return p, client.Options{Socket: daemon.SocketPath(p.Home), Version: cli.ThisBuild().Version, Name: name, Terminal: running.TerminalName(os.Stdin)}, nil
}

// told tells the person how the daemon has served them.
func told(cmd *cobra.Command, op, end string, err error) error {
	if errors.Is(err, client.ErrNoDaemon) {
		return cli.Fail(op, err, "'ironcurtain-mux' starts one")
	}
	for line := range strings.Lines(end) {
		fmt.Fprintln(cmd.ErrOrStderr(), text.ASCII(strings.TrimSuffix(line, "\n")))
	}
	return cli.Fail(op, err, "")
}
