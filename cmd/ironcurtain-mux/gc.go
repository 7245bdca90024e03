package main

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/packages/learn"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// gcCommand removes what is left of sessions that ended without cleaning up.
func gcCommand() *cobra.Command {
	var options docker.ReapOptions
	var volumes stored.VolumeSweep
	var asJSON bool
	var engine wiring.EngineFlag
	cmd := &cobra.Command{
		Use:   "gc",
		Short: "Remove what crashed sessions left",
		Long: `Remove the containers and sockets of sessions whose multiplexer has ended, even if
their agents still run; the sessions stay and can be resumed. A multiplexer that
starts removes only stopped containers, and offers to take back running agents.

Only containers with this program's label are removed, and none whose owner still
runs. --force also removes running containers without an owner, containers that
belong to a machine of another name, and those that a multiplexer with another
IRONCURTAIN_HOME can take back.

On an engine that does not see this machine's files, gc also removes the volumes of
removed sessions, and copies of a repository's objects 30 days after their last use
(with --all, now): they are sent again when they are needed. A volume of another
machine or another IRONCURTAIN_HOME always stays.`,
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
			var g garbage
			err = g.collect(cmd.Context(), client, p.Home, options, volumes)
			if asJSON {
				err = errors.Join(err, cli.PrintJSON(cmd.OutOrStdout(), g))
			} else {
				err = errors.Join(err, g.print(cmd.OutOrStdout()))
			}
			return cli.Fail(op, err, "")
		},
	}
	cmd.Flags().BoolVar(&options.DryRun, "dry-run", false, "print what would be removed, and what would stay and why")
	cmd.Flags().BoolVar(&options.Force, "force", false, "also remove running containers without an owner, or of another machine or home")
	cmd.Flags().BoolVar(&volumes.Objects, "all", false, "also remove copies of repositories' objects that were used in the last 30 days")
	engine.Register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// garbage is what crashed sessions left, and what was removed of it.
type garbage struct {
	DryRun     bool                 `json:"dryRun"`
	Containers []docker.Reaped      `json:"containers"`
	Volumes    []stored.SweptVolume `json:"volumes"`
	Paths      []string             `json:"paths"`
}

// collect removes what was left, except in a dry run. It continues after a failure.
func (g *garbage) collect(ctx context.Context, client *docker.Client, home string, options docker.ReapOptions, volumes stored.VolumeSweep) error {
	g.DryRun, volumes.Remove = options.DryRun, !options.DryRun
	var errs [4]error
	g.Containers, errs[0] = client.Reap(ctx, options)
	g.Volumes, errs[1] = stored.SweepVolumes(ctx, home, client, volumes)
	g.Paths, errs[2] = stored.Leftovers(ctx, home, !options.DryRun)
	asked, errAsked := learn.Leftovers(home, !options.DryRun)
	g.Paths, errs[3] = append(g.Paths, asked...), errAsked
	// No list is null in JSON.
	g.Containers, g.Volumes, g.Paths = append([]docker.Reaped{}, g.Containers...), append([]stored.SweptVolume{}, g.Volumes...), append([]string{}, g.Paths...)
	return errors.Join(errors.Join(errs[:]...), client.Close(ctx))
}

// print lists what was removed, and after a dry run also what would stay.
func (g *garbage) print(w io.Writer) error {
	var rows [][]string
	add := func(name string, removed bool, created time.Time, reason string) {
		what, at := "removed", ""
		switch {
		case !removed && !g.DryRun:
			return
		case !removed:
			what = "stays"
		case g.DryRun:
			what = "would be removed"
		}
		if !created.IsZero() {
			at = created.Local().Format(time.DateTime)
		}
		rows = append(rows, []string{name, what, at, reason})
	}
	for _, r := range g.Containers {
		add(r.Name, r.Removed, r.CreatedAt, r.Reason)
	}
	for _, v := range g.Volumes {
		add(v.Name, v.Removed, v.CreatedAt, v.Reason)
	}
	for _, path := range g.Paths {
		add(path, true, time.Time{}, "its owner was killed")
	}
	return cli.PrintTable(w, []string{"WHAT", "OUTCOME", "CREATED", "REASON"}, rows)
}
