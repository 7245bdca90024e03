package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire/calls"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/running"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/sessions"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/client"
)

// stopCommand ends the daemon, or some of its sessions.
func stopCommand() *cobra.Command {
	var now bool
	cmd := &cobra.Command{
		Use:   "stop [SESSION...]",
		Short: "End the multiplexer and its agents, or only some sessions",
		Long: `End the running multiplexer. While agents run, this is refused, except with --now.

With SESSION, end only these sessions and their agents at once: a task of 'start --detach',
a tab, or an agent that a killed multiplexer has left. SESSION is the id that 'start --detach',
'sessions ls' and 'pending' print, the beginning of that id, or the number of a tab. The
session stays on disk, with the work in it; a session that has ended already is no failure.`,
		Example: "  ironcurtain-mux stop --now\n  ironcurtain-mux stop 6f1c",
		RunE: func(cmd *cobra.Command, words []string) error {
			p, o, err := running.ClientOptions()
			if err != nil {
				return err
			}
			if len(words) > 0 {
				return cli.Fail("stop", stopSessions(cmd, p, words), "")
			}
			end, err := client.Stop(cmd.Context(), o, now)
			return reportEnd(cmd, "stop", end, err)
		},
	}
	cmd.Flags().BoolVar(&now, "now", false, "end running agents, too")
	return cmd
}

// stopSessions ends the named sessions, or none if one of the words names no session.
func stopSessions(cmd *cobra.Command, p wiring.Paths, words []string) error {
	list, err := sessions.List(cmd.Context(), p)
	if err != nil {
		return err
	}
	named := map[broker.SessionID]bool{}
	for _, word := range words {
		s, err := stored.Among(list, word)
		if err != nil {
			return err
		}
		named[s.ID] = true
	}
	defer time.AfterFunc(wiring.SlowEnd, func() { fmt.Fprintln(cmd.ErrOrStderr(), wiring.EndIsSlow) }).Stop()
	var all []error
	for _, s := range list {
		if named[s.ID] {
			all = append(all, stopSession(cmd, p, s))
		}
	}
	return cli.OnOneLine(errors.Join(all...))
}

// stopSession ends a session, and says how it can be continued.
func stopSession(cmd *cobra.Command, p wiring.Paths, s broker.StoredSession) error {
	short := broker.ShortID(s.ID)
	if !s.Owned && !s.Detached && s.Tab == 0 { // a tab can stay after the end of its agent
		fmt.Fprintf(cmd.ErrOrStderr(), "session %s has ended already\n", short)
		return nil
	}
	err := running.AskLong(cmd.Context(), p.Home, func(ctx context.Context, c *calls.Client) error { return c.Close(ctx, s.ID) })
	if errors.Is(err, running.ErrNotRunning) {
		return fault.New("'ironcurtain-mux gc' ends what a killed one has left", "session %s: %w", short, err)
	}
	if err != nil {
		return err
	}
	switch {
	case s.Ephemeral:
		fmt.Fprintf(cmd.ErrOrStderr(), "session %s has ended\n", short)
	case s.NoTerminal:
		fmt.Fprintf(cmd.ErrOrStderr(), "session %s has ended; 'ironcurtain-mux start --resume %s TASK' continues it\n", short, short)
	default:
		fmt.Fprintf(cmd.ErrOrStderr(), "session %s has ended; 'ironcurtain-mux sessions resume %s' continues it\n", short, short)
	}
	return nil
}
