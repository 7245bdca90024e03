package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/session"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/outer"
)

// muxFlags are the flags of the multiplexer itself and of its demo.
type muxFlags struct {
	agent     string
	workspace string
	policy    string
	servers   string // a file
	prompt    string
	resume    string // the beginning of a session's id
	worktree  worktreeFlags
	upstream  upstreamFlags
}

func (f *muxFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.agent, "agent", "", "agent of the first tab (default from config.json)")
	cmd.Flags().StringVar(&f.prompt, "prompt", "", "first prompt of the first tab, sent once its agent is ready")
	cmd.Flags().StringVar(&f.workspace, "workspace", "", "directory of the first tab (default a fresh sandbox)")
	f.worktree.register(cmd)
	cmd.Flags().StringVar(&f.resume, "resume", "", "continue that session in the first tab; the beginning of its id is enough")
}

// registerReal adds the flags that a demo does not have.
func (f *muxFlags) registerReal(cmd *cobra.Command) {
	f.upstream.register(cmd)
	cmd.Flags().StringVar(&f.servers, "servers", "", "`file` with more MCP servers, in the form of mcpServers in config.json")
	cmd.Flags().StringVar(&f.policy, "policy", "", "directory with the compiled policy (default built in)")
}

// check checks everything that can be checked before anything is created: the agent's name,
// the directories, the workspace, the session to resume and the configuration.
func (f *muxFlags) check(ctx context.Context) (paths, config.Config, error) {
	if f.resume != "" && (f.agent != "" || f.workspace != "" || f.worktree.given()) {
		return paths{}, config.Config{}, usagef("--resume takes the session's own agent and workspace; leave --agent, --workspace, --worktree and --repo out")
	}
	if err := f.worktree.complete(&f.workspace); err != nil {
		return paths{}, config.Config{}, err
	}
	p, err := findPaths()
	if err != nil {
		return paths{}, config.Config{}, err
	}
	if err := stored.CheckHome(p.home); err != nil {
		return paths{}, config.Config{}, fail("open multiplexer", err, "")
	}
	if err := session.CheckWorkspace(f.workspace, p.home, p.cache, p.userHome); err != nil {
		return paths{}, config.Config{}, fail("open workspace", err, "")
	}
	if f.worktree.choice() == broker.WorktreeYes {
		if err := session.CheckWorktree(ctx, f.workspace, p.home, p.cache, p.userHome); err != nil {
			return paths{}, config.Config{}, fail("open workspace", err, "")
		}
	}
	if f.resume != "" {
		if err := f.findResumed(p); err != nil {
			return paths{}, config.Config{}, fail("resume session", err, "")
		}
	}
	c, err := p.config()
	if err != nil || f.agent == "" {
		return p, c, err
	}
	agents, err := agentsOf(c)
	if err != nil {
		return paths{}, config.Config{}, err
	}
	if _, err := agents.Named(f.agent); err != nil {
		return paths{}, config.Config{}, &usageError{fail("open multiplexer", err, "")}
	}
	return p, c, nil
}

// findResumed completes the id of the session to resume, and sets the session's agent.
func (f *muxFlags) findResumed(p paths) error {
	s, err := stored.Find(p.home, f.resume)
	if err != nil {
		return err
	}
	if s.Owned {
		return fail("resume session", fmt.Errorf("session %s is open in a multiplexer", s.ID), "use it there, or close it there first")
	}
	f.resume, f.agent = s.ID, s.Agent
	return nil
}

// muxCommand makes root the command that opens the multiplexer.
func muxCommand(root *cobra.Command) {
	var flags muxFlags
	flags.register(root)
	flags.registerReal(root)
	root.RunE = func(cmd *cobra.Command, _ []string) error { return openMux(cmd, flags) }
}

// openMux opens the multiplexer on the real providers.
func openMux(cmd *cobra.Command, flags muxFlags) error {
	w, err := wireReal(cmd.Context(), &flags)
	if err != nil {
		return err
	}
	return w.run(cmd, flags, tui.Options{})
}

// run checks what it can before it takes the screen, opens the multiplexer, and ends
// everything when the multiplexer closes.
func (w wiring) run(cmd *cobra.Command, flags muxFlags, options tui.Options) error {
	b, number, _, done, err := w.open(cmd, "open multiplexer")
	if err != nil {
		return err
	}
	defer done()
	if err := b.CheckAgent(cmd.Context(), flags.agent); err != nil {
		return fail("open multiplexer", err, "")
	}
	in, out, err := terminalOf(cmd)
	if err != nil {
		return err
	}
	notices, intro := options.Notices, options.Intro
	left := b.Sweep()
	options = w.options(b, number, in, out)
	options.Notices, options.Intro = append(notices, options.Notices...), intro
	if left && flags.resume == "" {
		options.Offer = offerOf(b)
	}
	options.Agent, options.Workspace, options.Prompt = flags.agent, flags.workspace, flags.prompt
	options.Worktree, options.Repo, options.Branch = flags.worktree.choice(), flags.worktree.repo, flags.worktree.branch
	options.Resume = flags.resume
	return fail("multiplexer", tui.Run(cmd.Context(), options), "")
}

// offerOf returns a function that reports whether a killed multiplexer left agents running.
func offerOf(b *broker.Broker) func(context.Context) bool {
	return func(ctx context.Context) bool {
		left, _ := b.LeftRunning(ctx) // whose end is that of the multiplexer
		return len(left) > 0
	}
}

// options are what a view shows of the broker, and how the person wants it.
func (w wiring) options(b *broker.Broker, number int, in, out *os.File) tui.Options {
	o := tui.Options{
		API: b, In: in, Out: out,
		Scrollback: w.config.Scrollback, Engine: w.config.Terminal.Engine,
		Theme: w.config.Theme, NoMouse: !w.config.Mouse, NoStrip: !w.config.Strip,
		Notify: w.config.Notify, NotifyOn: w.config.NotifyOn, NotifyCommand: w.config.NotifyCommand,
		CommandKey: w.config.CommandKey, Prefix: w.config.Prefix, Keys: w.config.Keys,
		Phrase: newPhrase(),
	}
	if number > 1 { // the same numbers of tabs and calls stand in another one
		o.Notices = append(o.Notices, fmt.Sprintf("multiplexer %d", number))
	}
	return o
}

// terminalOf returns the two streams as files, which a full screen needs.
func terminalOf(cmd *cobra.Command) (in, out *os.File, err error) {
	const op = "open multiplexer"
	in, okIn := cmd.InOrStdin().(*os.File)
	out, okOut := cmd.OutOrStdout().(*os.File)
	if !okIn || !okOut {
		return nil, nil, fail(op, errors.New("input and output are not a terminal"),
			"run it in a terminal, without redirection")
	}
	return in, out, fail(op, outer.Check(in, out), "")
}
