package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire/calls"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/running"
)

// reloadCommand makes the daemon read config.json again.
func reloadCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "reload",
		Short: "Let the daemon read config.json again",
		Long: `Let the daemon read config.json and the policy again. They apply to tabs and terminals
that are opened from then on. Open ones keep their settings and their policy, which only
/policy reload changes. An invalid file is refused, and nothing changes.

The daemon also reads a changed config.json when a tab or a terminal is opened. This
command reports at once whether the file is valid, and also reads changes of the policy.

Some settings apply from the next start of the daemon: the times of escalations and of
receipts, awayHours, daemonIdleMinutes, keepSessionsDays, terminal, scrollback, and keys
for new providers.`,
		Example: "  ironcurtain-mux reload",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, _, err := running.ClientOptions()
			if err != nil {
				return err
			}
			err = running.Ask(cmd.Context(), p.Home, func(ctx context.Context, c *calls.Client) error { return c.Reload(ctx) })
			switch {
			case errors.Is(err, running.ErrNotRunning):
				return cli.Fail("reload", err, "'ironcurtain-mux' starts one, which reads config.json")
			case err == nil:
				_, err = fmt.Fprintln(cmd.ErrOrStderr(), "config.json was read again and applies to tabs and terminals that are opened from now on")
			}
			return cli.Fail("reload", err, "")
		},
	}
}
