package decisions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire/calls"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/running"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/timespan"
)

// GrantsCommand lists the grants in force.
func GrantsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "grants",
		Aliases: []string{"rules"},
		Short:   "List the grants in force: approvals that are remembered",
		Long: `List the approvals that also cover later calls, given with /approve+ or 'approve
--remember': the calls that each covers, how often it was used, and how long it lasts.`,
		Example: "  ironcurtain-mux grants\n  ironcurtain-mux grants --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := wiring.FindPaths()
			if err != nil {
				return err
			}
			var list []broker.Grant
			err = running.AskIfRunning(cmd.Context(), p.Home, func(ctx context.Context, c *calls.Client) error {
				list, err = c.Grants(ctx)
				return err
			})
			if err != nil {
				return cli.Fail("list grants", err, "")
			}
			if asJSON {
				return cli.PrintJSON(cmd.OutOrStdout(), map[string]any{"grants": append([]broker.Grant{}, list...)})
			}
			if len(list) == 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), "no approval is remembered")
			}
			return printGrants(cmd.OutOrStdout(), list)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func printGrants(w io.Writer, list []broker.Grant) error {
	var rows [][]string
	for _, r := range list {
		rows = append(rows, []string{
			strconv.Itoa(r.Number), broker.ShortID(r.Session), cli.SafeName(r.Agent), cli.SafeName(r.Scope), cli.SafeName(r.Client.Decider(r.By)), strconv.Itoa(r.Used),
			timespan.String(time.Until(r.ExpiresAt).Round(time.Second)), cli.SafeText(r.Text),
		})
	}
	return cli.PrintTable(w, []string{"N", "SESSION", "AGENT", "SCOPE", "BY", "USED", "LEFT", "APPROVES"}, rows)
}

// RevokeCommand ends grants.
func RevokeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke N|all",
		Short: "End a grant",
		Long: `End the grant with that number in 'grants', or all of them. Calls that
are already under way are not stopped.`,
		Example: "  ironcurtain-mux revoke 3\n  ironcurtain-mux revoke all",
		Args:    oneGrant,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := wiring.FindPaths()
			if err != nil {
				return err
			}
			return cli.Fail("revoke", revoke(cmd.Context(), p, args[0]), "")
		},
	}
}

// oneGrant accepts one number, or "all".
func oneGrant(_ *cobra.Command, args []string) error {
	if len(args) == 1 && args[0] == "all" {
		return nil
	}
	if len(args) == 1 {
		if n, err := strconv.Atoi(strings.TrimPrefix(args[0], "#")); err == nil && n > 0 {
			return nil
		}
	}
	return cli.Usagef("give the number of one grant, or all (see 'ironcurtain-mux grants')")
}

// revoke ends the grant with that number, or all of them for "all".
func revoke(ctx context.Context, p wiring.Paths, which string) error {
	err := running.Ask(ctx, p.Home, func(ctx context.Context, c *calls.Client) error {
		if which != "all" {
			number, _ := strconv.Atoi(strings.TrimPrefix(which, "#")) // oneGrant has checked it
			_, err := c.Revoke(ctx, broker.Revocation{Number: number})
			return err
		}
		list, err := c.Grants(ctx)
		for _, g := range list {
			if _, errOne := c.Revoke(ctx, broker.Revocation{Number: g.Number}); errOne != nil {
				err = errors.Join(err, errOne)
			}
		}
		return err
	})
	if errors.Is(err, running.ErrNotRunning) {
		return cli.Fail("revoke", err, "without one there are no grants")
	}
	return err
}
