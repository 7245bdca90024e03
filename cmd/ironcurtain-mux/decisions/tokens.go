package decisions

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/token"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/running"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/sessions"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/timespan"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/client"
)

// TokensCommand groups the commands for answer tokens.
func TokensCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tokens",
		Short: "Let a helper in a sandbox of its own answer calls",
		Long: `An answer token lets a helper of yours, such as a bot in a sandbox, answer the calls of
some sessions and do nothing else. While a token exists, the daemon serves helpers that
show one at run/answer.sock in IRONCURTAIN_HOME. Give the sandbox only that socket. The
helper runs as your user, with IRONCURTAIN_HOME set to the directory that contains run/:

  IRONCURTAIN_ANSWER_TOKEN=... ironcurtain-mux pending --json
  IRONCURTAIN_ANSWER_TOKEN=... ironcurtain-mux deny ID

The helper sees only calls of the token's sessions, and remembers no approval. It does not
count as a person who is there: the time of waiting calls is paused as without it. The log
records each use, and the audit each decision with the token's name. After five wrong
tokens the daemon accepts none for a minute.`,
		Example: "  ironcurtain-mux tokens create bot 6f1c --deny-only\n  ironcurtain-mux tokens ls\n  ironcurtain-mux tokens revoke bot",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(tokensCreateCommand(), tokensListCommand(), tokensRevokeCommand())
	return cmd
}

// tokenLife is how long a token lasts unless the person says otherwise.
const tokenLife = 24 * time.Hour

func tokensCreateCommand() *cobra.Command {
	m := wire.MakeToken{Life: tokenLife}
	cmd := &cobra.Command{
		Use:   "create NAME SESSION...",
		Short: "Make a token for the calls of some sessions, and print it once",
		Long: `Make an answer token for the calls of some sessions, and print it once: only its hash is
kept. The beginning of a session's id is enough. The records of decisions that are made
with the token have its NAME.`,
		Example: "  ironcurtain-mux tokens create bot 6f1c\n  ironcurtain-mux tokens create bot 6f1c 8a20 --deny-only --for 1w",
		Args:    cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			const op = "create token"
			if err := cli.CheckName(args[0]); err != nil {
				return &cli.UsageError{Err: cli.Fail(op, err, "")}
			}
			if m.Life < time.Second || m.Life > token.MaxLife {
				return cli.Usagef("--for %s: give from 1s to %s", timespan.String(m.Life), timespan.String(token.MaxLife))
			}
			p, o, err := running.ClientOptions()
			if err != nil {
				return err
			}
			m.Name = args[0]
			for _, id := range args[1:] {
				s, err := sessions.Find(cmd.Context(), p, id)
				if err != nil {
					return cli.Fail(op, err, "")
				}
				m.Sessions = append(m.Sessions, string(s.ID))
			}
			secret, err := client.MakeToken(cmd.Context(), o, m)
			if err != nil {
				return failToken(op, err)
			}
			fmt.Fprintln(cmd.ErrOrStderr(), "the token, which is shown only once:")
			_, err = fmt.Fprintln(cmd.OutOrStdout(), secret)
			return cli.Fail(op, err, "")
		},
	}
	cmd.Flags().BoolVar(&m.DenyOnly, "deny-only", false, "let the token deny calls, and approve none")
	cmd.Flags().Var(timespan.Flag{To: &m.Life}, "for", "how long the token lasts, at most 30d")
	return cmd
}

func tokensListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "ls",
		Short:   "List the tokens: what each may do, when it expires, and its last use since the daemon began",
		Example: "  ironcurtain-mux tokens ls --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			const op = "list tokens"
			_, o, err := running.ClientOptions()
			if err != nil {
				return err
			}
			list, err := client.Tokens(cmd.Context(), o)
			if err != nil {
				return failToken(op, err)
			}
			if asJSON {
				return cli.PrintJSON(cmd.OutOrStdout(), wire.Tokens{Tokens: list})
			}
			if len(list) == 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), "there is no token")
			}
			return printTokens(cmd.OutOrStdout(), list)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func printTokens(w io.Writer, list []token.Token) error {
	var rows [][]string
	for _, one := range list {
		may, used, ids := "approves and denies", "", make([]string, len(one.Sessions))
		if one.DenyOnly {
			may = "denies"
		}
		if !one.Used.IsZero() {
			used = one.Used.Local().Format(time.DateTime)
		}
		for i, id := range one.Sessions {
			ids[i] = stored.ShortID(id)
		}
		rows = append(rows, []string{cli.SafeName(one.Name), may, one.Expires.Local().Format(time.DateTime), used, cli.SafeText(strings.Join(ids, " "))})
	}
	return cli.PrintTable(w, []string{"NAME", "MAY", "EXPIRES", "LAST USED", "SESSIONS"}, rows)
}

func tokensRevokeCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "revoke NAME",
		Short:   "End a token, and the connections that use it",
		Example: "  ironcurtain-mux tokens revoke bot",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			const op = "revoke token"
			_, o, err := running.ClientOptions()
			if err != nil {
				return err
			}
			end, err := client.RevokeToken(cmd.Context(), o, args[0])
			if err != nil {
				return failToken(op, err)
			}
			fmt.Fprintln(cmd.ErrOrStderr(), cli.SafeText(end))
			return nil
		},
	}
}

// failToken returns the failure of a command about tokens, with a hint if no daemon runs.
func failToken(op string, err error) error {
	if errors.Is(err, client.ErrNoDaemon) {
		return cli.Fail(op, err, "'ironcurtain-mux' starts one")
	}
	return cli.Fail(op, err, "")
}
