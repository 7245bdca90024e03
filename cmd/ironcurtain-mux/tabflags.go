package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/demo"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/session"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
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
