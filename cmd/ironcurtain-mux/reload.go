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
		Long: `Let the daemon read config.json and the policy again. Tabs and terminals that are opened
from then on have them; those that are open go on as they are, with their policy, which
only /policy reload changes. A file that is invalid is refused, and nothing changes.

The daemon also reads config.json when a tab or a terminal is opened and the file was
changed. This command says at once whether it is valid, and reads changes of the policy.

Some settings hold from the next start of the daemon: the times of escalations, of
receipts, awayHours, daemonIdleMinutes, keepSessionsDays, terminal, scrollback, and keys
for providers that are new.`,
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
				return cli.Fail("reload", err, "'ironcurtain-mux' starts one, which reads it")
			case err == nil:
				_, err = fmt.Fprintln(cmd.ErrOrStderr(), "config.json was read again: for tabs and terminals that are opened from now on")
			}
			return cli.Fail("reload", err, "")
		},
	}
}
