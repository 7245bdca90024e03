package decisions

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/sessions"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/shortid"
)

// AuditCommand groups the commands that read audit logs.
func AuditCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Read the log of decisions and prove that it is whole",
		Long: `Read audit logs. Name a log by its file, by the beginning of a session's id, or by the
number of a tab; without a name it is the log of the newest session.

The decision about a call is one record, which is on disk before the call is carried
out. How a call ended that was let through is another record, "done" or "error",
written after the answer, with the time that the call took. Both have the call's id,
in brackets.`,
		Example: `  ironcurtain-mux audit tail
  ironcurtain-mux audit show --decision deny ./audit.jsonl
  ironcurtain-mux audit verify ./audit.jsonl`,
	}
	cmd.AddCommand(auditTailCommand(), auditShowCommand(), auditVerifyCommand())
	return cmd
}

func auditTailCommand() *cobra.Command {
	var lines int
	var follow, jsonl bool
	cmd := &cobra.Command{
		Use:   "tail [FILE|SESSION]",
		Short: "Print the newest decisions",
		Example: `  ironcurtain-mux audit tail -n 20
  ironcurtain-mux audit tail -f --jsonl ./audit.jsonl`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := auditFile(cmd.Context(), args)
			if err != nil {
				return err
			}
			show := printer(cmd, path, jsonl)
			if err := runAuditTail(cmd.Context(), path, lines, follow, show.print); err != nil {
				return err
			}
			return show.end("the log has no record")
		},
	}
	cmd.Flags().IntVarP(&lines, "lines", "n", 10, "how many records")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "keep printing new records")
	cmd.Flags().BoolVar(&jsonl, "jsonl", false, "print one JSON object a line: the records, in plain ASCII")
	return cmd
}

func runAuditTail(ctx context.Context, path string, lines int, follow bool, show func(audit.Line) error) error {
	const op = "read the audit log"
	if lines < 0 {
		return cli.Usagef("--lines %d: give 0 or more", lines)
	}
	last, err := audit.Last(path, max(lines, 1), func(audit.Line) bool { return true })
	if err != nil {
		return cli.Fail(op, err, "")
	}
	var seq uint64
	if len(last) > 0 {
		seq = last[len(last)-1].Seq
	}
	for _, l := range last[:min(lines, len(last))] {
		if err := show(l); err != nil {
			return cli.Fail(op, err, "")
		}
	}
	if !follow {
		return nil
	}
	return cli.Fail(op, audit.Tail(ctx, path, seq, show), "")
}

func auditShowCommand() *cobra.Command {
	var decision, server, tool, rule, call, outcome, program string
	var jsonl bool
	cmd := &cobra.Command{
		Use:   "show [FILE|SESSION]",
		Short: "Print decisions, all or some",
		Example: `  ironcurtain-mux audit show --decision deny
  ironcurtain-mux audit show --server git --jsonl ./audit.jsonl
  ironcurtain-mux audit show --outcome server-died
  ironcurtain-mux audit show --program 769679a910fb7e49`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := auditFile(cmd.Context(), args)
			if err != nil {
				return err
			}
			if call, err = callIn(path, call); err != nil {
				return err
			}
			if program, err = callIn(path, program); err != nil {
				return err
			}
			show := printer(cmd, path, jsonl)
			err = cli.Fail("read the audit log", audit.Read(path, func(l audit.Line) error {
				if !chosen(decision, string(l.Decision)) || !chosen(server, l.Server) || !chosen(tool, l.Tool) || !chosen(rule, l.Rule) ||
					!chosen(call, l.Call) || !chosen(outcome, string(l.Outcome)) || !chosen(program, l.Call) && !chosen(program, programOf(l)) {
					return nil
				}
				return show.print(l)
			}), "")
			if err != nil {
				return err
			}
			return show.end("no record matches")
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&decision, "decision", "", "only this decision: allow, deny, escalated-approved, done, error and so on")
	fl.StringVar(&server, "server", "", "only this server")
	fl.StringVar(&tool, "tool", "", "only this tool")
	fl.StringVar(&rule, "rule", "", "only this rule")
	fl.StringVar(&call, "call", "", "only the records of this call, by its `id` or the beginning of its id")
	fl.StringVar(&program, "program", "", "only a program of the agent and its calls, by the `id` of the call that ran it, or the beginning of that id")
	fl.StringVar(&outcome, "outcome", "", "only calls that ended this way: answered, tool-error, refused, cancelled, timed-out, server-died or unreadable")
	fl.BoolVar(&jsonl, "jsonl", false, "print one JSON object a line: the records, in plain ASCII")
	return cmd
}

// callIn returns the whole id of the one call of a log whose id begins with word, or word itself if
// there is no such call.
func callIn(path, word string) (string, error) {
	const op = "read the audit log"
	if word == "" {
		return "", nil
	}
	var ids []shortid.One
	seen := map[string]bool{}
	err := audit.Read(path, func(l audit.Line) error {
		if l.Call != "" && !seen[l.Call] {
			seen[l.Call] = true
			ids = append(ids, shortid.One{ID: l.Call})
		}
		return nil
	})
	if err != nil {
		return "", cli.Fail(op, err, "")
	}
	at, found, err := shortid.Find("call", word, ids)
	if found {
		word = ids[at].ID
	}
	return word, cli.Fail(op, err, "")
}

func chosen(wanted, have string) bool { return wanted == "" || wanted == have }

func auditVerifyCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify [FILE|SESSION]",
		Short: "Prove that no record was changed, moved or removed",
		Long: `Follow the chain from the first record to the last. Exits 0 when the log is whole;
otherwise exits 1 and names the first place where the chain breaks. It also counts the
calls that were let through and have no record of how they ended: those under way, and
those during which the program was killed.`,
		Example: `  ironcurtain-mux audit verify
  ironcurtain-mux audit verify --json ./audit.jsonl`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := auditFile(cmd.Context(), args)
			if err != nil {
				return err
			}
			report, err := audit.Verify(path)
			out := cmd.OutOrStdout()
			if asJSON && (err == nil || errors.Is(err, audit.ErrBroken)) {
				if encErr := cli.PrintJSON(out, report); encErr != nil {
					return cli.Fail("print the report", encErr, "")
				}
			}
			if err != nil {
				return cli.Fail("verify", err, "treat the records after that place as unproven")
			}
			if !asJSON {
				printSession(cmd, path)
				state := "still open"
				if report.Closed {
					state = "closed"
				}
				fmt.Fprintf(out, "whole: %d records, %d bytes, %s\n", report.Records, report.Bytes, state)
				if report.Unfinished > 0 {
					fmt.Fprintf(out, "calls without a record of how they ended: %d\n", report.Unfinished)
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	return cmd
}

// AuditFiles returns the path of the log that the arguments name or, without arguments, the logs
// of all sessions.
func AuditFiles(ctx context.Context, args []string) ([]string, error) {
	if len(args) > 0 {
		one, err := auditFile(ctx, args)
		return []string{one}, err
	}
	at, err := wiring.FindPaths()
	if err != nil {
		return nil, err
	}
	all, err := filepath.Glob(logOf(at, "*"))
	return all, cli.Fail("find the audit logs", err, "")
}

// logOf returns the path of a session's log.
func logOf(p wiring.Paths, session string) string {
	return filepath.Join(p.Home, "sessions", session, "audit.jsonl")
}

// auditFile returns the path of the log that the arguments name or, without arguments, of the
// newest log.
func auditFile(ctx context.Context, args []string) (string, error) {
	const op = "find the audit log"
	at, err := wiring.FindPaths()
	if err != nil {
		return "", err
	}
	if len(args) == 1 {
		name := args[0]
		if strings.ContainsRune(name, '/') {
			if _, err := os.Stat(name); err != nil {
				return "", cli.Fail(op, err, "give a file, or a session of 'ironcurtain-mux sessions ls'")
			}
			return name, nil
		}
		for _, path := range []string{logOf(at, name), name} {
			if _, err := os.Stat(path); err == nil {
				return path, nil
			}
		}
		s, err := stored.Find(at.Home, name)
		if err != nil {
			s, err = sessions.Find(ctx, at, name) // it may be a tab's number, which the daemon knows
		}
		return logOf(at, s.ID), cli.Fail(op, err, "")
	}
	found, err := filepath.Glob(logOf(at, "*"))
	if err != nil {
		return "", cli.Fail(op, err, "")
	}
	newest := ""
	var latest int64
	for _, path := range found {
		if info, err := os.Stat(path); err == nil && (newest == "" || info.ModTime().UnixNano() > latest) {
			newest, latest = path, info.ModTime().UnixNano()
		}
	}
	if newest == "" {
		return "", cli.Fail(op, errors.New("there is no session yet"), "name a file")
	}
	return newest, nil
}
