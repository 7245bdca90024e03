package decisions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire/calls"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/running"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/timespan"
)

// WaitingCall is a waiting call, with the scopes of its approval if they were asked for.
type WaitingCall struct {
	broker.Escalation
	Scopes []broker.Scope `json:"scopes,omitempty"`
}

// PendingCommand lists the calls that wait for a person.
func PendingCommand() *cobra.Command {
	var asJSON, scopes bool
	cmd := &cobra.Command{
		Use:   "pending",
		Short: "List the calls that wait for a decision",
		Long: `List the calls that wait for a decision, oldest first.

With --scopes it also lists the scopes within which 'approve --remember' could remember an
approval of each call, and how many past calls of the audit logs each scope would have let
through.`,
		Example: "  ironcurtain-mux pending\n  ironcurtain-mux pending --scopes\n  ironcurtain-mux pending --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := listPending(cmd, scopes)
			if err != nil {
				return cli.Fail("list pending calls", err, "")
			}
			if asJSON {
				return cli.PrintJSON(cmd.OutOrStdout(), map[string]any{"pending": list})
			}
			if err := PrintPending(cmd.OutOrStdout(), list); err != nil {
				return err
			}
			left, err := printLeft(cmd.ErrOrStderr())
			if err == nil && left == 0 && len(list) == 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), "nothing waits")
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	cmd.Flags().BoolVar(&scopes, "scopes", false, "list the scopes within which an approval could be remembered")
	return cmd
}

// listPending asks the daemon for the waiting calls. Without a daemon there are none.
func listPending(cmd *cobra.Command, scopes bool) ([]WaitingCall, error) {
	p, err := wiring.FindPaths()
	if err != nil {
		return nil, err
	}
	out := []WaitingCall{}
	err = running.AskIfRunning(cmd.Context(), p.Home, func(ctx context.Context, asked *calls.Client) error {
		list, err := asked.Pending(ctx)
		if err != nil {
			return err
		}
		for _, e := range list {
			c := WaitingCall{Escalation: e}
			if scopes {
				var settled *calls.Error // somebody decided it meanwhile
				if c.Scopes, err = asked.Scopes(ctx, e.ID); err != nil && !errors.As(err, &settled) {
					return err
				}
			}
			out = append(out, c)
		}
		return nil
	})
	return out, err
}

// printLeft prints the sessions with calls that nobody can decide at present, because their
// multiplexer was killed while they waited, and returns how many sessions these are.
func printLeft(w io.Writer) (left int, err error) {
	p, err := wiring.FindPaths()
	if err != nil {
		return 0, err
	}
	stored, err := stored.List(p.Home, nil)
	if err != nil {
		return 0, cli.Fail("list sessions", err, "")
	}
	for _, s := range stored {
		if s.Waiting == 0 {
			continue
		}
		left++
		_, err := fmt.Fprintf(w, "session %s has %d waiting %s, but its multiplexer was killed: 'ironcurtain-mux --resume %s' takes the session back\n",
			s.ID[:8], s.Waiting, map[bool]string{true: "call", false: "calls"}[s.Waiting == 1], s.ID[:8])
		if err != nil {
			return left, err
		}
	}
	return left, nil
}

// pendingRow is a line of the list of waiting calls.
const pendingRow = "%-4s  %-36s  %-8s  %-12s  %-6s  %s\n"

// PrintPending prints each waiting call, what it would do, and the scopes of its approval. It
// quotes all text of an agent, because it goes to a terminal.
func PrintPending(w io.Writer, list []WaitingCall) error {
	if len(list) > 0 {
		if _, err := fmt.Fprintf(w, pendingRow, "N", "ID", "SESSION", "AGENT", "LEFT", "CALL, AND WHY IT WAITS"); err != nil {
			return err
		}
	}
	for _, e := range list {
		call := fmt.Sprintf("%s  %s  %+q  %+q%s%s", cli.SafeName(e.Server), cli.SafeName(e.Tool), e.Arguments, e.Reason, repeatsText(e.More), restoredText(e.Escalation))
		left := timespan.String(time.Until(e.ExpiresAt).Round(time.Second))
		if _, err := fmt.Fprintf(w, pendingRow, "#"+strconv.Itoa(e.Number), e.ID, broker.ShortID(e.Session), cli.SafeName(e.Agent), left, call); err != nil {
			return err
		}
		if _, err := io.WriteString(w, programText(e.Program)+autoApprovalText(e.Escalation)); err != nil {
			return err
		}
		if err := printEffect(w, e.Escalation); err != nil {
			return err
		}
		for _, s := range e.Scopes {
			if _, err := fmt.Fprintf(w, "    remember %s, %d of %d past calls: %s\n", cli.SafeName(s.Name), s.Matched, s.Past, cli.SafeText(s.Text)); err != nil {
				return err
			}
		}
	}
	return nil
}

// restoredText says that a call comes from before a restart.
func restoredText(e broker.Escalation) string {
	switch {
	case e.Unclaimed:
		return ", asked before the restart, its agent has not asked again yet"
	case e.Restored:
		return ", asked before the restart"
	}
	return ""
}

// programText says which program makes a call, on which line, and what is written on that line.
func programText(from *broker.ProgramCall) string {
	switch {
	case from == nil:
		return ""
	case from.Line == 0:
		return fmt.Sprintf("    call %d of program %s\n", from.Index, cli.SafeName(from.ID))
	}
	return fmt.Sprintf("    call %d of program %s, line %d, where the program wrote: %+q\n", from.Index, cli.SafeName(from.ID), from.Line, from.Source)
}

// autoApprovalText says what the automatic approval decided about a call.
func autoApprovalText(e broker.Escalation) string {
	switch {
	case e.Auto == nil:
		return ""
	case e.Auto.Reason == "":
		return fmt.Sprintf("    the auto-approver has been judging it for %s, by receipt %d\n", timespan.String(time.Since(e.Auto.Since).Round(time.Second)), e.Auto.Receipt)
	}
	return fmt.Sprintf("    the auto-approver leaves it to you, receipt %d: %+q\n", e.Auto.Receipt, e.Auto.Reason)
}

// repeatsText says how many calls like one were refused without asking.
func repeatsText(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d similar calls were refused", n)
}
