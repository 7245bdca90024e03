package main

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/running"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/timespan"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/client"
)

// clientsCommand groups the commands for the terminals that show the multiplexer.
func clientsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "clients",
		Short:   "List the terminals that show the multiplexer, detach one, or let a phone answer",
		Example: "  ironcurtain-mux clients ls\n  ironcurtain-mux clients kick 3f9a",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(clientsAuthorizeCommand(), clientsListCommand(), clientsKickCommand())
	return cmd
}

func clientsListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "ls",
		Short:   "List the terminals that show the multiplexer",
		Long:    "List the terminals that show the multiplexer: id, name, terminal, rights, size, the tab\nin front, and how long it has been idle.",
		Example: "  ironcurtain-mux clients ls --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, o, err := running.ClientOptions()
			if err != nil {
				return err
			}
			list, err := client.Clients(cmd.Context(), o)
			if err != nil {
				return reportEnd(cmd, "list clients", "", err)
			}
			if asJSON {
				return cli.PrintJSON(cmd.OutOrStdout(), wire.Shown{Clients: list})
			}
			if len(list) == 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), "no client is attached")
			}
			return printClients(cmd.OutOrStdout(), list)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// rightsText describes the rights of a client.
func rightsText(r wire.Right) string {
	switch r {
	case wire.See:
		return "read-only"
	case wire.Answer:
		return "answer-only"
	default:
		return "operates"
	}
}

func printClients(w io.Writer, list []wire.Client) error {
	var rows [][]string
	for _, c := range list {
		front := "-" // no tab
		if c.Session != "" {
			front = broker.ShortID(c.Session)
		}
		rows = append(rows, []string{c.ID, cli.SafeName(c.Name), cli.SafeName(cmp.Or(c.Terminal, "-")), rightsText(c.Rights), fmt.Sprintf("%dx%d", c.Cols, c.Rows), front, idleText(c)})
	}
	return cli.PrintTable(w, []string{"ID", "NAME", "TERMINAL", "RIGHTS", "SIZE", "IN FRONT", "ACTIVITY"}, rows)
}

// idleText describes how long nobody has used a client.
func idleText(c wire.Client) string {
	if c.Stopped {
		return "in the background"
	}
	if c.Stalled {
		return "stalled: it takes no output"
	}
	return "idle " + timespan.String(time.Since(c.Used).Round(time.Second))
}

func clientsKickCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "kick ID",
		Short:   "Detach a terminal; the agents keep running",
		Long:    "Detach a terminal that shows the multiplexer. The agents keep running. The beginning\nof its id, as 'clients ls' prints it, is enough.",
		Example: "  ironcurtain-mux clients kick 3f9a",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, o, err := running.ClientOptions()
			if err != nil {
				return err
			}
			end, err := client.Kick(cmd.Context(), o, args[0])
			return reportEnd(cmd, "detach client", end, err)
		},
	}
}
