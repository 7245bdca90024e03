package sessions

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

func sessionsShowCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show everything that is known about one session",
		Long: "Show everything that is known about one session. The beginning of its id, or the number of its\ntab, is enough.\n" +
			"Files in the workspace that programs of this machine would run or obey are listed last.",
		Example: "  ironcurtain-mux sessions show 6f1c\n  ironcurtain-mux sessions show 6f1c --json",
		Args:    OneSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := wiring.FindPaths()
			if err != nil {
				return err
			}
			found, err := Find(cmd.Context(), p, args[0])
			if err != nil {
				return cli.Fail("show session", err, "")
			}
			if asJSON {
				return cli.PrintJSON(cmd.OutOrStdout(), found)
			}
			if err := printSession(cmd.OutOrStdout(), p, found); err != nil {
				return err
			}
			o, err := stored.ObeyedOf(cmd.Context(), p.Home, p.UserHome, found)
			if err != nil {
				return cli.Fail("look at the workspace", err, "")
			}
			printObeyed(cmd.OutOrStdout(), o)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// OneSession accepts exactly one id of a session.
func OneSession(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return cli.Usagef("give exactly one id (see 'ironcurtain-mux sessions ls')")
	}
	return nil
}

func printSession(w io.Writer, p wiring.Paths, s broker.StoredSession) error {
	dir := filepath.Join(p.Home, "sessions", s.ID)
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(t, "%s\t%s\n", name, value)
		}
	}
	line("id", s.ID)
	line("agent", s.Agent)
	line("state", s.StateWords())
	line("reason", cli.QuotedIfAny(s.Reason))
	line("trouble", s.Trouble)
	line("notice", s.Notice)
	line("workspace", cli.SafeName(s.Workspace))
	if s.Origin != "" {
		line("copy of", cli.SafeName(s.Origin))
		if s.Unlanded != "" {
			line("not landed", s.Unlanded+" (ironcurtain-mux sessions land "+stored.ShortID(s.ID)+")")
		}
	}
	if t := s.Worktree; t != nil {
		line(map[bool]string{true: "clone of", false: "worktree of"}[t.Cloned], cli.SafeName(t.Repository))
		line("branch", cli.SafeName(t.Branch)+", made at "+t.Base[:min(12, len(t.Base))])
	}
	if s.Policy != "" {
		line("policy", cli.SafeName(s.Policy)+", beside the multiplexer's")
	}
	line("profile", text.ASCII(s.Profile.String()))
	line("created", s.CreatedAt.Local().Format(time.DateTime))
	line("last used", s.LastActivity.Local().Format(time.DateTime))
	line("last prompt", cli.QuotedIfAny(s.LastPrompt))
	line("conversation", map[bool]string{true: "continues when resumed", false: "starts over when resumed"}[s.Begun])
	line("directory", cli.SafeName(dir))
	line("audit", cli.SafeName(filepath.Join(dir, "audit.jsonl")))
	turns := stored.LayoutOf(p.Home, s.ID).Turns()
	if _, err := os.Lstat(turns); err == nil {
		line("tasks", cli.SafeName(turns))
	}
	return t.Flush()
}

// printObeyed lists what an agent has left that programs of this machine would run or obey.
func printObeyed(w io.Writer, o broker.Obeyed) {
	lines := o.Lines()
	if len(lines) == 0 {
		return
	}
	fmt.Fprintln(w, "\nprograms of this machine would run or obey these files of the workspace:")
	for _, line := range lines {
		fmt.Fprintln(w, "  "+text.ASCII(line))
	}
}
