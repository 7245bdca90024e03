package main

import (
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// gcCommand removes what is left of sessions that ended without cleaning up.
func gcCommand() *cobra.Command {
	var options docker.ReapOptions
	var asJSON bool
	var engine wiring.EngineFlag
	cmd := &cobra.Command{
		Use:   "gc",
		Short: "Remove what crashed sessions left",
		Long: `Remove the containers and sockets of sessions whose multiplexer has ended, agents
that still run included; their sessions stay and can be resumed. A multiplexer that
starts removes only what runs no more, and offers to take back the rest.

Only containers with this program's label are looked at, and none whose owner
still runs is touched. --force also removes running containers that have no
owner at all, those that belong to a machine of another name and those that a
multiplexer with another IRONCURTAIN_HOME can take back.`,
		Example: `  ironcurtain-mux gc --dry-run
  ironcurtain-mux gc
  ironcurtain-mux gc --engine colima`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			const op = "remove what crashed sessions left"
			p, err := wiring.FindPaths()
			if err != nil {
				return err
			}
			client, err := wiring.ConnectEngine(cmd.Context(), engine.In(p))
			if err != nil {
				return cli.Fail(op, err, "")
			}
			if !options.Force {
				options.Keep = broker.TakeableElsewhere(p.Home)
			}
			seen, err := client.Reap(cmd.Context(), options)
			left, errLeft := stored.Leftovers(cmd.Context(), p.Home, !options.DryRun)
			err = errors.Join(err, errLeft, client.Close(cmd.Context()))
			if asJSON {
				err = errors.Join(err, cli.PrintJSON(cmd.OutOrStdout(), map[string]any{
					"dryRun": options.DryRun, "containers": seen, "paths": append([]string{}, left...),
				}))
			} else {
				err = errors.Join(err, printReaped(cmd.OutOrStdout(), seen, left, options.DryRun))
			}
			return cli.Fail(op, err, "")
		},
	}
	cmd.Flags().BoolVar(&options.DryRun, "dry-run", false, "say what would be removed, and what would stay and why")
	cmd.Flags().BoolVar(&options.Force, "force", false, "remove also what has no owner but runs, or belongs to another machine")
	engine.Register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// printReaped lists what was removed, and after a trial run also what would stay.
func printReaped(w io.Writer, seen []docker.Reaped, left []string, dryRun bool) error {
	var rows [][]string
	for _, r := range seen {
		what := "removed"
		switch {
		case !r.Removed && !dryRun:
			continue
		case !r.Removed:
			what = "stays"
		case dryRun:
			what = "would be removed"
		}
		rows = append(rows, []string{r.Name, what, r.CreatedAt.Local().Format(time.DateTime), r.Reason})
	}
	what := "removed"
	if dryRun {
		what = "would be removed"
	}
	for _, path := range left {
		rows = append(rows, []string{path, what, "", "its owner was killed"})
	}
	return cli.PrintTable(w, []string{"WHAT", "OUTCOME", "CREATED", "REASON"}, rows)
}
