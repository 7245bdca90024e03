package wiring

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/session"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// worktreeFlags say whether a session gets a worktree, or a clone.
type worktreeFlags struct {
	yes, no      bool
	Repo, Branch string
}

// Register adds the flags to a command.
func (f *worktreeFlags) Register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.yes, "worktree", false, "work in a git worktree and on a branch of its own, made of the workspace (default the current directory)")
	cmd.Flags().BoolVar(&f.no, "no-worktree", false, "work in the workspace itself, whatever config.json says")
	cmd.Flags().StringVar(&f.Repo, "repo", "", "work in a clone of the repository at that https or ssh URL")
	cmd.Flags().StringVar(&f.Branch, "branch", "", "branch of the clone (default: the repository's default branch)")
}

// Choice returns what the flags choose.
func (f *worktreeFlags) Choice() broker.WorktreeChoice {
	switch {
	case f.yes:
		return broker.WorktreeYes
	case f.no:
		return broker.WorktreeNo
	}
	return broker.WorktreeAsConfigured
}

// given reports whether one of the flags was given.
func (f *worktreeFlags) given() bool { return *f != worktreeFlags{} }

// complete checks the flags, and sets the workspace to the current directory if only a worktree
// was asked for.
func (f *worktreeFlags) complete(workspace *string) error {
	if f.yes && f.no {
		return cli.Usagef("--worktree and --no-worktree: give one of them")
	}
	if err := session.CheckRepo(session.Request{Workspace: *workspace, Worktree: f.Choice(), Repo: f.Repo, Branch: f.Branch}); err != nil {
		return &cli.UsageError{Err: cli.Fail("open workspace", err, "")}
	}
	if f.yes && *workspace == "" {
		*workspace = "."
	}
	return nil
}

// farewell prints what the person must know about the sessions after their end.
func farewell(w io.Writer, b *broker.Broker) {
	for _, notice := range b.EndNotices() {
		fmt.Fprintln(w, text.Drawable(notice))
	}
}
