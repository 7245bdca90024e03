package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/demo"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/session"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/client"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/outer"
)

// muxFlags are the flags of a tab, and of start.
type muxFlags struct {
	demo      bool
	agent     string
	workspace string
	policy    string
	servers   string // a file
	prompt    string
	resume    string // the beginning of a session's id
	worktree  worktreeFlags
	upstream  upstreamFlags
	resumed   broker.Profile // of the session to resume
}

func (f *muxFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.agent, "agent", "", "agent of the first tab (default from config.json)")
	cmd.Flags().StringVar(&f.prompt, "prompt", "", "first prompt of the first tab, sent once its agent is ready")
	cmd.Flags().StringVar(&f.workspace, "workspace", "", "directory of the first tab (default a fresh sandbox)")
	f.worktree.register(cmd)
	cmd.Flags().StringVar(&f.resume, "resume", "", "continue that session in the first tab; the beginning of its id is enough")
}

// registerProfile adds the flags that a demo does not have.
func (f *muxFlags) registerProfile(cmd *cobra.Command) {
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
	if own := (broker.Profile{Demo: f.demo}); f.resume != "" && !f.given().Same(own) || f.demo && !f.given().Same(own) {
		return paths{}, config.Config{}, usagef("a demo and a resumed session have their own policy, servers and providers; leave --policy, --servers and --upstream out")
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
		return fail("resume session", fmt.Errorf("session %s is open in a multiplexer", s.ID), "'ironcurtain-mux attach "+string(s.ID[:8])+"' shows it")
	}
	if f.demo && !s.Profile.Demo {
		return fail("resume session", fmt.Errorf("session %s is none of the demo", s.ID), "'ironcurtain-mux --resume "+string(s.ID[:8])+"' continues it")
	}
	f.resume, f.agent, f.resumed = s.ID, s.Agent, s.Profile
	return nil
}

// profile is the profile that the tab has.
func (f *muxFlags) profile() broker.Profile {
	if f.resume != "" {
		return f.resumed
	}
	return f.given()
}

// given is the profile that the flags ask for.
func (f *muxFlags) given() broker.Profile {
	p := broker.Profile{Demo: f.demo, Upstreams: f.upstream.hosts}
	for flag, path := range map[*string]string{&p.Policy: f.policy, &p.Servers: f.servers, &p.UpstreamCA: f.upstream.ca} {
		if path != "" {
			*flag = absolutePath(path)
		}
	}
	return p
}

// muxCommand makes root the command that opens the multiplexer.
func muxCommand(root *cobra.Command) {
	var flags muxFlags
	flags.register(root)
	flags.registerProfile(root)
	root.RunE = func(cmd *cobra.Command, _ []string) error { return openMux(cmd, flags) }
}

// openMux shows the multiplexer in this terminal, and starts it when it does not run.
func openMux(cmd *cobra.Command, flags muxFlags) error {
	const op = "open multiplexer"
	p, o, err := clientOptions()
	if err != nil {
		return err
	}
	err = client.Reach(cmd.Context(), o)
	if err != nil && !errors.Is(err, client.ErrNoDaemon) {
		return fail(op, err, "")
	}
	if err != nil || flags.tab(p.home) != nil {
		if _, err := flags.checkTab(cmd.Context()); err != nil {
			return err // before the screen is taken
		}
	}
	o.View.Open = flags.tab(p.home)
	if err := showHere(cmd, op, p, &o); err != nil {
		return err
	}
	end, err := startAndAttach(cmd, o)
	return stay(cmd, op, o, end, err)
}

// checkTab checks the flags, the policy of the tab that they ask for, and whether its agent has a
// credential. It completes the flags, and returns what connects tabs without a profile.
func (f *muxFlags) checkTab(ctx context.Context) (wiring, error) {
	p, c, err := f.check(ctx)
	if err != nil {
		return wiring{}, err
	}
	w, err := p.wire(c, broker.Profile{})
	if err != nil || f.profile().Demo {
		return w, err
	}
	own, err := p.wire(c, f.profile())
	if err == nil {
		_, err = own.loadOwn()
		err = fail("load policy", err, "")
	}
	if err == nil {
		err = own.checkCredentials(cmp.Or(f.agent, c.Agent))
	}
	return w, err
}

// A daemon that ends without a word is started again so often within that time.
const (
	maxRestarts   = 3
	restartWithin = time.Minute
)

// failedAgain is the time in which a view that is shown again after it has failed must not fail.
const failedAgain = 10 * time.Second

// stay starts the daemon again when it has ended without a word while it showed its view, and
// shows what it has taken back. It shows a view again that has failed, unless that happens twice
// in a moment. It tells the person of any other end.
func stay(cmd *cobra.Command, op string, o client.Options, end string, err error) error {
	o.View.Open = nil // the tab is there
	var restarts []time.Time
	var failed time.Time
	for errors.Is(err, client.ErrLost) || errors.Is(err, client.ErrViewFailed) {
		if errors.Is(err, client.ErrViewFailed) {
			if time.Since(failed) < failedAgain {
				break
			}
			failed = time.Now()
			end, err = client.Attach(cmd.Context(), o)
			continue
		}
		if n := len(restarts); n >= maxRestarts && time.Since(restarts[n-maxRestarts]) < restartWithin {
			break
		}
		restarts = append(restarts, time.Now())
		end, err = startAndAttach(cmd, o)
	}
	return told(cmd, op, end, err)
}

// startAndAttach starts the daemon, unless it runs, and shows it.
func startAndAttach(cmd *cobra.Command, o client.Options) (end string, err error) {
	for range 3 { // it may end at that moment
		if _, err := startDaemon(cmd, o); err != nil {
			return "", err
		}
		if end, err = client.Attach(cmd.Context(), o); !errors.Is(err, client.ErrNoDaemon) {
			break
		}
	}
	return end, err
}

// startDaemon starts the daemon, unless it runs, and reports whether it did.
func startDaemon(cmd *cobra.Command, o client.Options) (bool, error) {
	program, err := os.Executable()
	if err != nil {
		return false, fail("start daemon", err, "")
	}
	started, err := client.Start(cmd.Context(), o, []string{program, "serve", "--" + startedFlag})
	return started, startFailure(err)
}

// startFailure turns why the daemon could not be started into a failure of this command.
func startFailure(err error) error {
	var s *client.StartError
	if errors.As(err, &s) {
		return &failure{op: s.Op, err: errors.New(s.Reason), hint: s.Next}
	}
	return fail("open multiplexer", err, "")
}

// tab is the tab that the flags ask for; nil: none in particular.
func (f *muxFlags) tab(home string) *wire.Open {
	open := wire.Open{
		Agent: f.agent, Prompt: f.prompt, Worktree: string(f.worktree.choice()), Repo: f.worktree.repo, Branch: f.worktree.branch, Resume: f.resume,
	}
	if f.workspace != "" {
		open.Workspace = absolutePath(f.workspace)
	}
	plain := open == wire.Open{}
	if p := f.given(); !p.IsZero() && f.resume == "" {
		own := wire.Profile(p)
		open.Profile, open.Once = &own, f.demo && plain
		open.Workspace = f.demoWorkspace(home, open.Workspace)
		return &open
	}
	if plain {
		return nil
	}
	return &open
}

// demoWorkspace returns the workspace given or, without one in a demo, that of the playground.
func (f *muxFlags) demoWorkspace(home, given string) string {
	if f.demo && given == "" && f.resume == "" && f.worktree.repo == "" {
		return demo.At(home).Workspace
	}
	return given
}

// offerOf returns a function that reports whether a killed multiplexer left agents running.
func offerOf(b *broker.Broker) func(context.Context) bool {
	return func(ctx context.Context) bool {
		left, _ := b.LeftRunning(ctx) // whose end is that of the multiplexer
		return len(left) > 0
	}
}

// options are what a view shows of the broker, and how the person wants it.
func (w wiring) options(b *broker.Broker, in, out *os.File) tui.Options {
	return tui.Options{
		API: b, In: in, Out: out,
		Scrollback: w.config.Scrollback, Engine: w.config.Terminal.Engine,
		Theme: w.config.Theme, NoMouse: !w.config.Mouse, NoStrip: !w.config.Strip,
		Notify: w.config.Notify, NotifyOn: w.config.NotifyOn, NotifyCommand: w.config.NotifyCommand,
		CommandKey: w.config.CommandKey, Prefix: w.config.Prefix, Keys: w.config.Keys,
		Phrase: newPhrase(),
		Intro:  w.intro,
	}
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
