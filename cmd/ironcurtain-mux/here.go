package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/session"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/toolchain"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/here"
)

// projectAt returns the project that a directory belongs to, and whether a working tree can be made
// of it. It returns "" if there is no project, or agents may not work in it.
func projectAt(ctx context.Context, p wiring.Paths, dir string) (project string, worktree bool) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil || !filepath.IsAbs(dir) || stored.Contains(stored.RealPath(p.Home), dir) {
		return "", false
	}
	project, git := toolchain.Project(dir, stored.RealPath(p.UserHome))
	if project == "" || session.CheckWorkspace(project, p.Home, p.Cache, p.UserHome) != nil {
		return "", false
	}
	return project, git && session.CheckWorktree(ctx, project, p.Home, p.Cache, p.UserHome) == nil
}

// workHere makes a view open its tab in the project in which the person has started the program,
// unless a tab works there already. It uses the person's answer for that project, or lets the view
// ask. A view that would open no tab opens one only because of such an answer.
func workHere(ctx context.Context, w wiring.Parts, b *broker.Broker, dir string, o *tui.Options) {
	opens := opensTab(ctx, b, *o)
	if o.Profile.Demo || o.Workspace != "" || o.Repo != "" || o.Resume != "" || o.Show != "" {
		return
	}
	name := cmp.Or(o.Agent, w.Config.Agent)
	if a, err := w.Agents.Named(name); err != nil || a.Place == agent.OnHost || !opens && b.CheckAgent(ctx, name) != nil {
		return
	}
	project, worktree := projectAt(ctx, w.Paths, dir)
	if project == "" || !o.Add && worksIn(ctx, b, project) {
		return
	}
	answers := session.ToolchainAnswers(w.Paths.Home)
	answer, err := answers.Of(project)
	if err != nil {
		return // opening a tab there reports the error
	}
	if answer.Here != toolchain.HereNo && !toolchain.Own(project) {
		answer.Here = toolchain.HereAsk // somebody else may have replaced the project
	}
	switch answer.Here {
	case toolchain.HereYes:
		o.Add, o.Workspace, o.Worktree = o.Add || !opens, project, cmp.Or(o.Worktree, broker.WorktreeNo)
	case toolchain.HereWorktree:
		o.Add, o.Workspace, o.Worktree = o.Add || !opens, project, cmp.Or(o.Worktree, broker.WorktreeYes)
	case toolchain.HereNo:
	case toolchain.HereAsk:
		o.Here = &here.Project{
			Dir: project, Worktree: worktree && o.Worktree != broker.WorktreeNo, Copied: copiesFiles(w), Tabs: !opens, Shared: !toolchain.Own(project),
			Keep: func(c here.Choice) error { return keepHere(answers, project, toolchain.Here(c)) },
		}
	}
}

// copiesFiles reports whether agents work on copies of this machine's files, as far as is known.
func copiesFiles(w wiring.Parts) bool {
	endpoint, err := w.Paths.Endpoint()
	return err == nil && w.Paths.Ways(w.Config).Copies(endpoint.Address) // without an engine no agent runs
}

// worksIn reports whether a tab works in a project, or in a working tree made of it.
func worksIn(ctx context.Context, b *broker.Broker, project string) bool {
	sessions, _ := b.Sessions(ctx) // it fails only when ctx has ended
	return slices.ContainsFunc(sessions, func(s broker.Session) bool {
		dir := s.Place()
		if s.Worktree != nil {
			dir = s.Worktree.Repository
		}
		return !s.NoTerminal && s.State != broker.StateClosed && dir != "" && stored.Contains(project, stored.RealPath(dir))
	})
}

func keepHere(answers *toolchain.Answers, project string, h toolchain.Here) error {
	return answers.Change(project, func(a toolchain.Answer) toolchain.Answer { a.Here = h; return a })
}

// hereCommand shows and changes what the person has answered about the projects in which they have
// started the program.
func hereCommand() *cobra.Command {
	words := []cobra.Completion{
		cobra.CompletionWithDesc(string(toolchain.HereYes), "work in the project"),
		cobra.CompletionWithDesc(string(toolchain.HereWorktree), "work on a branch of its own"),
		cobra.CompletionWithDesc(string(toolchain.HereNo), "do not work in the project"),
		cobra.CompletionWithDesc(hereAsk, "ask again"),
	}
	cmd := &cobra.Command{
		Use:   "here [yes|worktree|no|ask]",
		Short: "Show or change whether 'ironcurtain-mux' works in the project it is started in",
		Long: `When it is started in a project, ironcurtain-mux asks once whether to work there, and keeps
the answer for that directory. This command lists the answers, or changes the answer for the
project of the current directory: with yes, agents work in it; with worktree, on a branch of
their own in a working tree made of it; with no, neither; ask asks again at the next start.

A project is a git working tree, or a directory with a file such as go.mod, package.json,
Cargo.toml, pyproject.toml or Makefile; never your home directory or one above it.
For a directory that is not yours, or that everybody can write to, only a no is kept.
--workspace, --worktree and --repo override the answer.`,
		Example:   "  ironcurtain-mux here\n  ironcurtain-mux here worktree",
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		ValidArgs: words,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := wiring.FindPaths()
			if err != nil {
				return err
			}
			answers := session.ToolchainAnswers(p.Home)
			if len(args) == 0 {
				return listHere(cmd, answers)
			}
			dir := wiring.AbsolutePath(".")
			project, worktree := projectAt(cmd.Context(), p, dir)
			if project == "" {
				return cli.Fail("change answer", fmt.Errorf("%s is not a project in which agents may work", text.Drawable(dir)), "change to the project's directory first")
			}
			answer := toolchain.Here(args[0])
			if answer != toolchain.HereNo && args[0] != hereAsk && !toolchain.Own(project) {
				return cli.Fail("change answer", fmt.Errorf("others can write to %s, so it may become another project", text.Drawable(project)), "make it yours alone, or answer when 'ironcurtain-mux' asks there")
			}
			if answer == toolchain.HereWorktree && !worktree {
				return cli.Fail("change answer", session.CheckWorktree(cmd.Context(), project, p.Home, p.Cache, p.UserHome), "")
			}
			if args[0] == hereAsk {
				answer = toolchain.HereAsk
			}
			return cli.Fail("change answer", keepHere(answers, project, answer), "")
		},
	}
	return cmd
}

// hereAsk makes the program ask again.
const hereAsk = "ask"

func listHere(cmd *cobra.Command, answers *toolchain.Answers) error {
	all, err := answers.All()
	if err != nil {
		return cli.Fail("list answers", err, "")
	}
	var rows [][]string
	for _, dir := range slices.Sorted(maps.Keys(all)) {
		if h := all[dir].Here; h != toolchain.HereAsk {
			rows = append(rows, []string{cli.SafeName(string(h)), cli.SafeText(dir)})
		}
	}
	if len(rows) == 0 {
		_, _ = io.WriteString(cmd.ErrOrStderr(), "no project has an answer yet: 'ironcurtain-mux' asks when it is started in a project\n")
	}
	return cli.PrintTable(cmd.OutOrStdout(), []string{"ANSWER", "PROJECT"}, rows)
}
