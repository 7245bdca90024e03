package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/control"
)

// sessionsCommand is about sessions on disk and running.
func sessionsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "sessions",
		Short:   "List sessions, running and stored",
		Example: "  ironcurtain-mux sessions ls\n  ironcurtain-mux sessions ls --json | jq '.sessions[].state'",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(sessionsListCommand())
	return cmd
}

func sessionsListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "ls",
		Short:   "List the running multiplexer's sessions, else those on disk",
		Example: "  ironcurtain-mux sessions ls --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := findPlace()
			if err != nil {
				return err
			}
			list, err := listSessions(cmd.Context(), p)
			if err != nil {
				return fail("list sessions", err, "")
			}
			if asJSON {
				if list == nil {
					list = []broker.Session{}
				}
				return json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]any{"sessions": list})
			}
			return printSessions(cmd.OutOrStdout(), list)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// listSessions joins the running multiplexer's sessions with those that only
// exist on disk.
func listSessions(ctx context.Context, p place) ([]broker.Session, error) {
	stored, err := broker.Stored(p.home)
	if err != nil {
		return nil, err
	}
	running, err := control.Dial(p.home).Sessions(ctx)
	if errors.Is(err, control.ErrNotRunning) {
		return stored, nil
	}
	if err != nil {
		return nil, err
	}
	known := map[broker.SessionID]bool{}
	for _, s := range running {
		known[s.ID] = true
	}
	for _, s := range stored {
		if !known[s.ID] {
			running = append(running, s)
		}
	}
	return running, nil
}

func printSessions(w io.Writer, list []broker.Session) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, s := range list {
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%s\n", s.ID, s.Tab, s.Agent, s.State,
			s.CreatedAt.Local().Format("2006-01-02 15:04"), s.Workspace)
	}
	return t.Flush()
}
