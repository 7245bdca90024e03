package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/session"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// worktreeFlags say whether a session gets a worktree, or a clone.
type worktreeFlags struct {
	yes, no      bool
	repo, branch string
}

func (f *worktreeFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.yes, "worktree", false, "work in a git worktree and on a branch of its own, made of the workspace (default the current directory)")
	cmd.Flags().BoolVar(&f.no, "no-worktree", false, "work in the workspace itself, whatever config.json says")
	cmd.Flags().StringVar(&f.repo, "repo", "", "work in a clone of the repository at that https or ssh URL")
	cmd.Flags().StringVar(&f.branch, "branch", "", "branch of the clone (default the one that the repository names)")
}

func (f *worktreeFlags) choice() broker.WorktreeChoice {
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

// complete checks the flags, and sets the workspace to the current directory if a worktree
// was asked for without one.
func (f *worktreeFlags) complete(workspace *string) error {
	if f.yes && f.no {
		return usagef("--worktree and --no-worktree: give one of them")
	}
	if err := session.CheckRepo(session.Request{Workspace: *workspace, Worktree: f.choice(), Repo: f.repo, Branch: f.branch}); err != nil {
		return &usageError{fail("open workspace", err, "")}
	}
	if f.yes && *workspace == "" {
		*workspace = "."
	}
	return nil
}

// farewell prints, after the end, what the person has to know about the sessions.
func farewell(w io.Writer, b *broker.Broker) {
	for _, notice := range b.EndNotices() {
		fmt.Fprintln(w, text.ASCII(notice))
	}
}
