package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/control"
)

// pendingCommand lists what waits for a person.
func pendingCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "pending",
		Short:   "List the calls that wait for a decision",
		Example: "  ironcurtain-mux pending\n  ironcurtain-mux pending --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := findPlace()
			if err != nil {
				return err
			}
			list, err := control.Dial(p.home).Pending(cmd.Context())
			if err != nil && !errors.Is(err, control.ErrNotRunning) {
				return fail("list pending calls", err, "")
			}
			if asJSON {
				if list == nil {
					list = []broker.Escalation{}
				}
				return json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]any{"pending": list})
			}
			return printPending(cmd.OutOrStdout(), list)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// printPending writes each waiting call and below it what it would do. It quotes
// everything that came from an agent: it goes to a terminal.
func printPending(w io.Writer, list []broker.Escalation) error {
	for _, e := range list {
		_, err := fmt.Fprintf(w, "%s  tab %d  %s  %s  %+q  %+q  %s left\n", e.ID, e.Tab,
			plain(e.Server), plain(e.Tool), e.Arguments, e.Reason,
			time.Until(e.ExpiresAt).Round(time.Second))
		if err != nil {
			return err
		}
		if err := printEffect(w, e); err != nil {
			return err
		}
	}
	return nil
}

// plain is a name as it may be printed: quoted unless it is ordinary.
func plain(name string) string {
	ordinary := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./", r)
	}
	if name != "" && strings.IndexFunc(name, func(r rune) bool { return !ordinary(r) }) < 0 {
		return name
	}
	return fmt.Sprintf("%+q", name)
}

// approveCommand approves one waiting call.
func approveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "approve ID",
		Short:   "Approve one waiting call",
		Long:    "Approve one waiting call, by the id that 'pending' prints. Exits 1 and says who was first when somebody else decided it.",
		Example: "  ironcurtain-mux approve 6f1c…",
		Args:    oneID,
		RunE: func(cmd *cobra.Command, args []string) error {
			return decide(cmd, args[0], true, "")
		},
	}
	return cmd
}

// denyCommand denies one waiting call.
func denyCommand() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:     "deny ID",
		Short:   "Deny one waiting call",
		Long:    "Deny one waiting call, by the id that 'pending' prints. Exits 1 and says who was first when somebody else decided it.",
		Example: "  ironcurtain-mux deny 6f1c… --reason 'use the copy in the workspace'",
		Args:    oneID,
		RunE: func(cmd *cobra.Command, args []string) error {
			return decide(cmd, args[0], false, reason)
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "what to tell the agent")
	return cmd
}

func oneID(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usagef("%s: give exactly one id (see 'ironcurtain-mux pending')", cmd.Name())
	}
	return nil
}

// decide answers the call with that id as it stands now: its digest is read
// first and sent along, so an answer never lands on another call.
func decide(cmd *cobra.Command, id string, approve bool, reason string) error {
	p, err := findPlace()
	if err != nil {
		return err
	}
	client := control.Dial(p.home)
	digest, err := digestOf(cmd.Context(), client, id)
	if err != nil {
		return fail(cmd.Name(), err, "start it with 'ironcurtain-mux'")
	}
	r, err := client.Decide(cmd.Context(), broker.Decision{
		ID: id, Digest: digest, Approve: approve, Reason: reason, By: "cli",
	})
	if err != nil {
		return fail(cmd.Name(), err, "")
	}
	if !r.Won {
		return fail(cmd.Name(), fmt.Errorf("%s was decided already: %s by %s", id, r.Outcome, plain(r.By)),
			"nothing is left to do")
	}
	return nil
}

// digestOf is the digest of a pending call. For one that waits no longer it is
// empty; the broker then tells who decided it.
func digestOf(ctx context.Context, client *control.Client, id string) (string, error) {
	list, err := client.Pending(ctx)
	if err != nil {
		return "", err
	}
	for _, e := range list {
		if e.ID == id {
			return e.Digest, nil
		}
	}
	return "", nil
}
