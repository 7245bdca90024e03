package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// worktreeFlags say whether a session gets a worktree.
type worktreeFlags struct{ yes, no bool }

func (f *worktreeFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.yes, "worktree", false, "work in a git worktree and on a branch of its own, made of the workspace (default the current directory)")
	cmd.Flags().BoolVar(&f.no, "no-worktree", false, "work in the workspace itself, whatever config.json says")
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

// complete sets the workspace to the current directory if a worktree was asked for without
// one.
func (f *worktreeFlags) complete(workspace *string) error {
	if f.yes && f.no {
		return usagef("--worktree and --no-worktree: give one of them")
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
