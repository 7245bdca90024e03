package decisions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire/calls"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/running"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/timespan"
)

// ApproveCommand approves one waiting call.
func ApproveCommand() *cobra.Command {
	var scope string
	var limit time.Duration
	cmd := &cobra.Command{
		Use:   "approve N|ID",
		Short: "Approve one waiting call",
		Long: `Approve one waiting call, by its number or the beginning of its id, which 'pending' and the
screen show, and wait some seconds for its end. Exits 1 and says why when the call failed or
was refused nevertheless. Exits 1 and says who when somebody else decided the call first.

With --remember the approval also covers later calls, within one of the scopes that
'pending --scopes' prints, until its time is over or 'revoke' ends it.`,
		Example: "  ironcurtain-mux approve 5\n  ironcurtain-mux approve 6f1c --remember file --for 30m",
		Args:    oneID,
		RunE: func(cmd *cobra.Command, args []string) error {
			d := broker.Decision{ID: args[0], Approve: true}
			switch {
			case scope != "":
				d.Remember = &broker.Remember{Scope: scope, Seconds: int(limit.Round(time.Second) / time.Second)}
			case limit != 0:
				return cli.Usagef("--for needs --remember SCOPE")
			}
			if limit < 0 || cmd.Flags().Changed("for") && limit < time.Second {
				return cli.Usagef("--for %s is too short, give at least 1s", timespan.String(limit))
			}
			return decide(cmd, d)
		},
	}
	cmd.Flags().StringVar(&scope, "remember", "", "also approve later calls within this scope")
	cmd.Flags().Var(timespan.Flag{To: &limit}, "for", "how long the approval is remembered, such as 30m, '2 hours' or 3d (default 15m)")
	return cmd
}

// DenyCommand denies one waiting call.
func DenyCommand() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "deny N|ID",
		Short: "Deny one waiting call",
		Long: `Deny one waiting call, by its number or the beginning of its id, which 'pending' and the
screen show. Exits 1 and says who when somebody else decided the call first. Also exits 1
when the refusal could not be recorded.`,
		Example: "  ironcurtain-mux deny 5 --reason 'use the copy in the workspace'",
		Args:    oneID,
		RunE: func(cmd *cobra.Command, args []string) error {
			return decide(cmd, broker.Decision{ID: args[0], Reason: reason})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "what to tell the agent")
	return cmd
}

func oneID(cmd *cobra.Command, args []string) error {
	if len(args) > 1 && cmd.Flags().Lookup("reason") != nil {
		return cli.Usagef("give one call; write what to tell the agent as --reason TEXT (see 'ironcurtain-mux pending')")
	}
	if len(args) != 1 {
		return cli.Usagef("give exactly one call, such as 5, '#5' in quotes, or the beginning of its id (see 'ironcurtain-mux pending')")
	}
	return nil
}

// decide answers the call with that id. It first reads the call's digest and the fingerprint
// of its effect and sends them with the answer, so that the answer cannot apply to another
// call or another effect.
func decide(cmd *cobra.Command, d broker.Decision) error {
	p, err := wiring.FindPaths()
	if err != nil {
		return err
	}
	var r running.SettledCall
	err = running.Ask(cmd.Context(), p.Home, func(ctx context.Context, c *calls.Client) (err error) {
		if err = seal(ctx, c, &d); err == nil {
			r, err = running.Decide(ctx, c, d)
		}
		return err
	})
	if errors.Is(err, running.ErrNotRunning) {
		return cli.Fail(cmd.Name(), err, "start it with 'ironcurtain-mux'")
	}
	if err != nil {
		return cli.Fail(cmd.Name(), err, "")
	}
	if !r.Won {
		return cli.Fail(cmd.Name(), fmt.Errorf("%s was decided already: %s by %s", d.ID, r.Outcome, cli.SafeName(r.Client.Decider(r.By))),
			"nothing is left to do")
	}
	return cli.Fail(cmd.Name(), printEnding(cmd.OutOrStdout(), r), "see 'ironcurtain-mux audit tail'")
}

// printEnding prints how a decided call ended. It returns an error when the call did not end
// as decided.
func printEnding(w io.Writer, r running.SettledCall) error {
	text := string(r.Outcome)
	switch e := r.Ending; {
	case e == nil && r.Outcome == broker.Approved:
		text += "; the call is still under way, 'ironcurtain-mux audit tail' shows how it ends"
	case e == nil || e.Expected():
	case e.State == broker.EndDone, e.State == broker.EndKept:
		text += "; " + e.Text()
	default:
		return errors.New(text + "; " + cli.SafeText(e.Text()))
	}
	_, err := fmt.Fprintln(w, text)
	return err
}

// seal completes a decision with the whole id, the digest and the fingerprint of its call. It leaves
// the decision about a call that no longer waits unchanged; the broker then answers who decided it.
func seal(ctx context.Context, c *calls.Client, d *broker.Decision) error {
	e, found, err := running.WaitingCall(ctx, c, d.ID)
	if found {
		d.ID, d.Digest, d.Effect = e.ID, e.Digest, e.Fingerprint()
	}
	return err
}
