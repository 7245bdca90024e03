package sessions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire/calls"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/running"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
)

// Command groups the commands for sessions, running or on disk. resume continues one.
func Command(resume *cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List, show, resume, land and remove sessions",
		Example: `  ironcurtain-mux sessions ls
  ironcurtain-mux sessions resume 6f1c
  ironcurtain-mux sessions ls --json | jq '.sessions[].state'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(sessionsListCommand(), sessionsShowCommand(), resume, sessionsLandCommand(), sessionsRemoveCommand())
	return cmd
}

func sessionsListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List the sessions, running and on disk, last used first",
		Long: `List the sessions, running and on disk, last used first. Their states have the same names as
in the multiplexer. With --json "waiting for you" is waiting, "ended" is dead, "out of reach"
is unknown or has trouble, and "left running" has detached.`,
		Example: "  ironcurtain-mux sessions ls --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := wiring.FindPaths()
			if err != nil {
				return err
			}
			list, err := List(cmd.Context(), p)
			if err != nil {
				return cli.Fail("list sessions", err, "")
			}
			if asJSON {
				if list == nil {
					list = []broker.StoredSession{}
				}
				return cli.PrintJSON(cmd.OutOrStdout(), map[string]any{"sessions": list})
			}
			if len(list) == 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), "there are no sessions; 'ironcurtain-mux' opens one")
			}
			return printSessions(cmd.OutOrStdout(), list)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// List lists the sessions on disk, with the state that the daemon knows.
func List(ctx context.Context, p wiring.Paths) ([]broker.StoredSession, error) {
	stored, err := stored.List(p.Home, p.Agents())
	if err != nil {
		return nil, err
	}
	var live []broker.Session
	err = running.AskIfRunning(ctx, p.Home, func(ctx context.Context, c *calls.Client) error {
		live, err = c.Sessions(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	at := map[broker.SessionID]int{}
	for i, s := range stored {
		at[s.ID], stored[i].Tab = i, 0 // only the daemon knows the present place
	}
	for _, s := range live {
		if i, ok := at[s.ID]; ok {
			stored[i].Session = s
			continue
		}
		stored = append(stored, broker.StoredSession{Session: s, LastActivity: s.CreatedAt, Owned: true})
	}
	return stored, nil
}

// Find returns the session that a word names: the beginning of its id, or the present number of its tab.
func Find(ctx context.Context, p wiring.Paths, word string) (broker.StoredSession, error) {
	list, err := List(ctx, p)
	if err != nil {
		return broker.StoredSession{}, err
	}
	return stored.Among(list, word)
}

func printSessions(w io.Writer, list []broker.StoredSession) error {
	var rows [][]string
	for _, s := range list {
		workspace, tab := cli.SafeName(s.Place()), "-" // no tab shows it
		_, err := os.Stat(s.Workspace)
		gone := errors.Is(err, fs.ErrNotExist)
		switch {
		case gone && s.Origin != "":
			workspace += " (no copy)" // copying was refused, or the copy was removed
		case gone:
			workspace += " (gone)"
		case s.Unlanded != "" && !s.Owned:
			workspace += " (copy, not landed: " + s.Unlanded + ")"
		case s.Origin != "":
			workspace += " (copy)"
		}
		if s.Tab > 0 {
			tab = strconv.Itoa(s.Tab)
		}
		rows = append(rows, []string{
			s.ID, tab, cli.SafeName(s.Agent), s.StateWords(), s.LastActivity.Local().Format("2006-01-02 15:04"), workspace, cli.QuotedIfAny(s.LastPrompt),
		})
	}
	return cli.PrintTable(w, []string{"ID", "TAB", "AGENT", "STATE", "LAST USED", "WORKSPACE", "LAST PROMPT"}, rows)
}
