package wiring

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/session"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
)

// TabFlags are the flags of a tab, and of start.
type TabFlags struct {
	Demo      bool
	Agent     string
	Workspace string
	policy    string
	Servers   string // a file
	prompt    string
	Resume    string // the beginning of a session's id
	Worktree  worktreeFlags
	Engine    EngineFlag
	upstream  UpstreamFlags
	resumed   broker.Profile // of the session to resume
	// Task says that the agent gets tasks, so that startAgent is the default. Instead says why
	// another agent gets them; empty: the default agent does.
	Task    bool
	Instead string
}

// Register adds the flags of a tab to a command.
func (f *TabFlags) Register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Agent, "agent", "", "agent of the first tab (default from config.json)")
	cmd.Flags().StringVar(&f.prompt, "prompt", "", "first prompt of the first tab, sent once its agent is ready")
	cmd.Flags().StringVar(&f.Workspace, "workspace", "", "directory of the first tab (default a fresh sandbox)")
	f.Worktree.Register(cmd)
	f.Engine.Register(cmd)
	cmd.Flags().StringVar(&f.Resume, "resume", "", "continue that session in the first tab; the beginning of its id is enough")
}

// RegisterProfile adds the flags that a demo does not have.
func (f *TabFlags) RegisterProfile(cmd *cobra.Command) {
	f.upstream.Register(cmd)
	cmd.Flags().StringVar(&f.Servers, "servers", "", "`file` with more MCP servers, in the form of mcpServers in config.json")
	cmd.Flags().StringVar(&f.policy, "policy", "", "directory with the compiled policy (default built in)")
}

// Check checks everything that can be checked before anything is created: the agent's name,
// the directories, the workspace, the session to resume and the configuration.
func (f *TabFlags) Check(ctx context.Context) (Paths, config.Config, error) {
	if f.Resume != "" && (f.Agent != "" || f.Workspace != "" || f.Worktree.given()) {
		return Paths{}, config.Config{}, cli.Usagef("a resumed session keeps its agent and workspace; leave --agent, --workspace, --worktree and --repo out")
	}
	if own := (broker.Profile{Demo: f.Demo}); f.Resume != "" && !f.given().Same(own) || f.Demo && !f.given().Same(own) {
		return Paths{}, config.Config{}, cli.Usagef("a demo and a resumed session have their own policy, servers and providers; leave --policy, --servers and --upstream out")
	}
	if err := f.Worktree.complete(&f.Workspace); err != nil {
		return Paths{}, config.Config{}, err
	}
	p, err := FindPaths()
	if err != nil {
		return Paths{}, config.Config{}, err
	}
	p = f.Engine.In(p)
	if err := stored.CheckHome(p.Home); err != nil {
		return Paths{}, config.Config{}, cli.Fail("open multiplexer", err, "")
	}
	if err := session.CheckWorkspace(f.Workspace, p.Home, p.Cache, p.UserHome); err != nil {
		return Paths{}, config.Config{}, cli.Fail("open workspace", err, "")
	}
	if f.Worktree.Choice() == broker.WorktreeYes {
		if err := session.CheckWorktree(ctx, f.Workspace, p.Home, p.Cache, p.UserHome); err != nil {
			return Paths{}, config.Config{}, cli.Fail("open workspace", err, "")
		}
	}
	if f.Resume != "" {
		if err := f.findResumed(p); err != nil {
			return Paths{}, config.Config{}, cli.Fail("resume session", err, "")
		}
	}
	c, err := p.Config()
	if err != nil || f.Agent == "" {
		return p, c, err
	}
	agents, err := AgentsOf(c)
	if err != nil {
		return Paths{}, config.Config{}, err
	}
	if _, err := agents.Named(f.Agent); err != nil {
		return Paths{}, config.Config{}, &cli.UsageError{Err: cli.Fail("open multiplexer", err, "")}
	}
	return p, c, nil
}

// findResumed completes the id of the session to resume, and sets the session's agent.
func (f *TabFlags) findResumed(p Paths) error {
	s, err := stored.Find(p.Home, f.Resume)
	if err != nil {
		return err
	}
	if s.Owned {
		return cli.Fail("resume session", fmt.Errorf("session %s is open in a multiplexer", s.ID), "'ironcurtain-mux attach "+string(s.ID[:8])+"' shows it")
	}
	if f.Demo && !s.Profile.Demo {
		return cli.Fail("resume session", fmt.Errorf("session %s does not belong to the demo", s.ID), "'ironcurtain-mux --resume "+string(s.ID[:8])+"' continues it")
	}
	f.Resume, f.Agent, f.resumed = s.ID, s.Agent, s.Profile
	return nil
}

// Profile returns the profile of the tab.
func (f *TabFlags) Profile() broker.Profile {
	if f.Resume != "" {
		return f.resumed
	}
	return f.given()
}

// given returns the profile that the flags describe.
func (f *TabFlags) given() broker.Profile {
	p := broker.Profile{Demo: f.Demo, Upstreams: f.upstream.hosts}
	for flag, path := range map[*string]string{&p.Policy: f.policy, &p.Servers: f.Servers, &p.UpstreamCA: f.upstream.ca} {
		if path != "" {
			*flag = AbsolutePath(path)
		}
	}
	return p
}

// CheckTab checks the flags, the tab's policy, and whether the tab's agent has a credential. It
// completes the flags, and returns the parts for tabs without a profile.
func (f *TabFlags) CheckTab(ctx context.Context) (Parts, error) {
	p, c, err := f.Check(ctx)
	if err != nil {
		return Parts{}, err
	}
	w, err := p.Wire(c, broker.Profile{})
	if err != nil {
		return w, err
	}
	if f.Task && f.Agent == "" && f.Resume == "" {
		f.Agent, f.Instead = w.taskAgent(f.Demo)
	}
	if f.Profile().Demo {
		return w, err
	}
	own, err := p.Wire(c, f.Profile())
	if err == nil {
		_, err = own.LoadOwn()
		err = cli.Fail("load policy", err, "")
	}
	if err == nil {
		err = own.checkCredentials(cmp.Or(f.Agent, c.Agent), f.Task)
	}
	return w, err
}

// taskAgent returns the default agent for tasks. If that is not the configured one, instead says
// why.
func (w Parts) taskAgent(demo bool) (name, instead string) {
	if w.Config.StartAgent != agent.BuiltinName {
		return w.Config.StartAgent, ""
	}
	otherwise := w.Config.Agent
	if demo {
		otherwise = DemoAgent
	}
	if err := ownAgent().Check(); err != nil {
		return otherwise, fmt.Sprintf("%v; %s gets the task", err, otherwise)
	}
	adapter, err := w.Agents.Named(agent.BuiltinName)
	if _, given := w.Config.AgentAPIKeys[agent.BuiltinName]; err == nil && !given && !demo {
		err = Lacking(w.Keys, adapter)
	}
	if err != nil {
		return otherwise, fmt.Sprintf("the built-in agent has no API key; %s gets the task", otherwise)
	}
	return agent.BuiltinName, ""
}

// Tab returns the tab that the flags describe; nil without any flag.
func (f *TabFlags) Tab() *wire.Open {
	open := wire.Open{
		Agent: f.Agent, Prompt: f.prompt, Worktree: string(f.Worktree.Choice()), Repo: f.Worktree.Repo, Branch: f.Worktree.Branch, Resume: f.Resume,
	}
	if f.Workspace != "" {
		open.Workspace = AbsolutePath(f.Workspace)
	}
	plain := open == wire.Open{}
	if p := f.given(); !p.IsZero() && f.Resume == "" {
		own := wire.Profile(p)
		open.Profile, open.Once = &own, f.Demo && plain
		return &open
	}
	if plain {
		return nil
	}
	return &open
}
