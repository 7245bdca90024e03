package sessions

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/copies"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire/calls"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/running"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// landing are the flags of 'sessions land'.
type landing struct {
	which             copies.Which
	yes, diff, asJSON bool
}

func sessionsLandCommand() *cobra.Command {
	var l landing
	cmd := &cobra.Command{
		Use:   "land [ID]",
		Short: "Write into your directory what an agent changed in its copy of it",
		Long: `Show what an agent changed in its copy of your directory, and write it into the directory
after you have agreed. Sessions have a copy on engines that do not see this machine's
files; on other engines the agent changes the files themselves. Without an id, the only
session with a copy is meant. The session may be running: then its present files are
fetched first, and the multiplexer lands them, as with /land in its tab.

Files that were changed on both sides stay as they are and are listed. Commits stay in the
copy; use --worktree for sessions whose commits should come to your repository. Nothing in
.git is landed, no link that leads out of the directory, and files that git ignores only
with --ignored. Files that programs of this machine run or obey by themselves are named
first: look at them.`,
		Example: `  ironcurtain-mux sessions land 6f1c
  ironcurtain-mux sessions land 6f1c --diff
  ironcurtain-mux sessions land 6f1c --yes --ignored`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cli.Usagef("give at most one id (see 'ironcurtain-mux sessions ls')")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := wiring.FindPaths()
			if err != nil {
				return err
			}
			s, err := toLand(cmd.Context(), p, args)
			if err == nil {
				err = l.run(cmd, p, s)
			}
			return cli.AsInterrupt(cmd.Context(), cli.Fail("land", err, ""))
		},
	}
	cmd.Flags().BoolVarP(&l.yes, "yes", "y", false, "land without asking")
	cmd.Flags().BoolVar(&l.which.Ignored, "ignored", false, "also land files that git ignores")
	cmd.Flags().BoolVar(&l.diff, "diff", false, "show the lines that have changed")
	cmd.Flags().BoolVar(&l.asJSON, "json", false, "print one JSON object; lands only with --yes")
	return cmd
}

// toLand returns the named session, or without a name the only one that has a copy.
func toLand(ctx context.Context, p wiring.Paths, args []string) (stored.Entry, error) {
	if len(args) == 1 {
		return Find(ctx, p, args[0])
	}
	all, err := stored.List(p.Home, nil)
	if err != nil {
		return stored.Entry{}, err
	}
	var found []stored.Entry
	var ids []string
	for _, s := range all {
		if s.Origin != "" && copies.Made(stored.LayoutOf(p.Home, s.ID).CopyNote()) {
			found, ids = append(found, s), append(ids, stored.ShortID(s.ID))
		}
	}
	switch len(found) {
	case 0:
		return stored.Entry{}, fault.New("'ironcurtain-mux sessions ls' lists them", "no session works in a copy of a directory")
	case 1:
		return found[0], nil
	}
	return stored.Entry{}, fault.New("name one of them", "%d sessions work in copies: %s", len(ids), strings.Join(ids, ", "))
}

// run shows what would be landed, and lands it when the person agrees.
func (l landing) run(cmd *cobra.Command, p wiring.Paths, s stored.Entry) error {
	ctx, layout := cmd.Context(), stored.LayoutOf(p.Home, s.ID)
	kept, err := fetch(ctx, p.Home, s, l.which)
	if err != nil {
		return err
	}
	d, err := stored.Difference(ctx, layout, s.Session, p.UserHome)
	if err != nil {
		return err
	}
	files, _ := d.Lands(l.which)
	if !l.asJSON {
		if s.Owned && kept == "" {
			fmt.Fprintln(cmd.ErrOrStderr(), "the session runs in another multiplexer: files that its agent has written since its last tool call are missing here")
		}
		if err := l.show(ctx, cmd.OutOrStdout(), s, d); err != nil {
			return err
		}
	}
	agreed := files > 0 && l.yes
	if files > 0 && !l.yes && !l.asJSON {
		if agreed, err = ask(cmd, fmt.Sprintf("land %s in %s?", text.Counted(files, "file"), cli.SafeName(s.Origin))); err != nil {
			return err
		}
	}
	landed := copies.Landed{Landed: []copies.Change{}}
	switch {
	case agreed && kept != "":
		landed, err = landThere(ctx, p.Home, s, kept)
	case agreed:
		landed, err = stored.Land(ctx, layout, s.Session, d, l.which)
	}
	if l.asJSON {
		if d.Changes == nil {
			d.Changes = []copies.Change{}
		}
		return errors.Join(cli.PrintJSON(cmd.OutOrStdout(), struct {
			Session string `json:"session"`
			copies.Diff
			copies.Landed
		}{s.ID, d, landed}), err)
	}
	if agreed {
		fmt.Fprintln(cmd.OutOrStdout(), text.Drawable(landed.String()))
	}
	if err == nil && len(landed.Left) > 0 {
		err = fault.New("'ironcurtain-mux sessions land' shows the rest", "%s could not be landed", text.Counted(len(landed.Left), "file"))
	}
	return err
}

// fetch lets the multiplexer that runs a session fetch the files of its agent. The multiplexer keeps
// the difference for landThere, under the returned id; "" when no multiplexer runs the session.
func fetch(ctx context.Context, home string, s stored.Entry, which copies.Which) (kept string, err error) {
	if !s.Owned {
		return "", nil
	}
	err = running.AskLong(ctx, home, func(ctx context.Context, c *calls.Client) error {
		live, err := c.Sessions(ctx)
		if err != nil || !slices.ContainsFunc(live, func(one broker.Session) bool { return one.ID == s.ID }) {
			return err
		}
		l, err := c.Landing(ctx, s.ID, which)
		kept = l.ID
		return err
	})
	if errors.Is(err, running.ErrNotRunning) {
		err = nil
	}
	return kept, err
}

// landThere lets the multiplexer land the difference that it has kept, except files that have changed
// since.
func landThere(ctx context.Context, home string, s stored.Entry, kept string) (landed copies.Landed, err error) {
	err = running.AskLong(ctx, home, func(ctx context.Context, c *calls.Client) error {
		landed, err = c.Land(ctx, s.ID, kept)
		return err
	})
	if landed.Landed == nil {
		landed.Landed = []copies.Change{}
	}
	return landed, err
}

// show lists what has changed.
func (l landing) show(ctx context.Context, w io.Writer, s stored.Entry, d copies.Diff) error {
	shown, _ := d.Shown(len(d.Changes))
	lines := shown.Lines(l.which)
	if len(lines) == 0 {
		_, err := fmt.Fprintf(w, "session %s has no changes in its copy of %s that are missing there\n", stored.ShortID(s.ID), cli.SafeName(s.Origin))
		return err
	}
	for i, line := range lines {
		switch {
		case line.Head && i > 0:
			fmt.Fprintf(w, "\n%s:\n", text.Drawable(line.Text))
		case line.Head:
			fmt.Fprintf(w, "%s:\n", text.Drawable(line.Text))
		case line.What != "":
			fmt.Fprintf(w, "  %-8s %s\n", line.What, text.Drawable(line.Text))
		default:
			fmt.Fprintf(w, "  %s\n", text.Drawable(line.Text))
		}
	}
	if !l.diff {
		return nil
	}
	for _, c := range shown.Changes {
		if !l.which.Lands(c) {
			continue
		}
		changed, err := d.Text(ctx, c)
		if err != nil {
			return err
		}
		if changed != "" {
			fmt.Fprintf(w, "\n%s:\n", cli.SafeName(c.Path))
		}
		for line := range strings.Lines(changed) {
			fmt.Fprintln(w, text.Drawable(strings.TrimSuffix(line, "\n")))
		}
	}
	return nil
}

// ask asks the person at the terminal. Without a terminal it prints how to agree, and returns false.
func ask(cmd *cobra.Command, question string) (bool, error) {
	in := cli.TerminalIn(cmd.InOrStdin())
	if in == nil {
		fmt.Fprintln(cmd.ErrOrStderr(), "nothing was landed; --yes lands it")
		return false, nil
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "\n%s [y/N] ", question)
	answer := make(chan string, 1) // one answer
	go func() {                    // ends with the process at the latest, because the read cannot be cancelled
		line, _ := bufio.NewReader(in).ReadString('\n')
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case line := <-answer:
		return line == "y" || line == "yes", nil
	case <-cmd.Context().Done():
		return false, context.Cause(cmd.Context())
	}
}
