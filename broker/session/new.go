package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Resume makes the session that continues a stored one, with the same id, directory, agent and
// workspace. It acquires the session's lease, so that it fails at once if another process has the
// session open.
func Resume(d *Deps, r Request) (*Session, error) {
	if !stored.ValidID(r.Resume) {
		return nil, fault.New("list them with 'ironcurtain-mux sessions ls'", "%q is not the id of a session", r.Resume)
	}
	l := stored.LayoutOf(d.Config.Home, r.Resume)
	rec, err := stored.ReadRecord(l)
	if err != nil {
		return nil, fault.New("list them with 'ironcurtain-mux sessions ls'", "%w", err)
	}
	adapter, err := d.Config.Agents.Named(rec.Agent)
	if err != nil {
		return nil, err
	}
	if adapter.Place == agent.OnHost {
		return nil, fault.New("open another one with /new local-shell", "a shell of this machine cannot be resumed")
	}
	workspace := l.Sandbox()
	if rec.Worktree != nil {
		workspace = l.Worktree().Dir
	} else if rec.Origin != "" {
		workspace = l.Copy()
	} else if rec.Workspace != workspace {
		if workspace, err = stored.ResolveWorkspace(rec.Workspace, d.Config.Home, d.Config.CacheDir, d.Config.UserHome); err != nil {
			return nil, err
		}
		if workspace != rec.Workspace { // an agent that works in a parent directory can have made it a link
			return nil, fault.New(fmt.Sprintf("find out who made the link; to work in the directory that it leads to: /new %s --workspace", rec.Agent),
				"the session's workspace %q is now a link to %q", rec.Workspace, workspace)
		}
	}
	if d, err = d.withKeys(adapter.Name, r.Opener); err != nil {
		return nil, err
	}
	s := unnamed(d, adapter, r)
	s.layout, s.resumed, s.name = l, true, stored.ReadName(l)
	if isCommit(rec.Base) {
		s.baseCommit = rec.Base
	}
	s.fixed.ID, s.fixed.CreatedAt, s.fixed.Workspace = rec.ID, rec.CreatedAt, workspace
	s.fixed.Worktree, s.fixed.Origin = rec.Worktree, rec.Origin
	if err := s.takeProfile(rec.Profile); err != nil {
		return nil, err
	}
	if err := s.narrowBy(rec.Policy); err != nil {
		return nil, err
	}
	if s.fixed.Policy != rec.Policy {
		return nil, fault.New("find out who made the link", "the session's policy directory %q is now a link to %q", rec.Policy, s.fixed.Policy)
	}
	if s.lease, err = docker.AcquireLease(l.Lock()); errors.Is(err, docker.ErrLeaseHeld) {
		return nil, fault.New("use or close it in that multiplexer", "session %s is open in another multiplexer", rec.ID)
	} else if err != nil {
		return nil, err
	}
	return s, nil
}

// clearStale removes the container of a resumed session's former life. Nobody else uses it, because
// this process has the session's lease.
func (s *Session) clearStale(ctx context.Context, engine *docker.Client) error {
	if !s.resumed {
		return nil
	}
	return engine.RemoveLabeled(ctx, map[string]string{stored.LabelSession: s.fixed.ID})
}

// New makes a new session as a request asks for it.
func New(d *Deps, r Request) (*Session, error) {
	if r.Agent == "" {
		r.Agent = d.Config.DefaultAgent
	}
	adapter, err := d.Config.Agents.Named(r.Agent)
	if err != nil {
		return nil, err
	}
	if adapter.Place == agent.OnHost && d.Config.HostShell == nil {
		return nil, ErrHostShellOff()
	}
	if err := CheckRepo(r); err != nil {
		return nil, err
	}
	if d, err = d.withKeys(adapter.Name, r.Opener); err != nil {
		return nil, err
	}
	s := unnamed(d, adapter, r)
	if s.fixed.ID, err = stored.NewID(); err != nil {
		return nil, err
	}
	s.layout = stored.LayoutOf(d.Config.Home, s.fixed.ID)
	s.fixed.Workspace = s.layout.Sandbox()
	if adapter.Place == agent.OnHost {
		s.fixed.Workspace, s.fixed.Notice = d.Config.UserHome, hostNotice
	}
	// A request for a shell of this machine may name the home directory, which is its workspace
	// anyway: a request to open the shell again does so.
	if r.Workspace != "" && (adapter.Place != agent.OnHost || stored.RealPath(r.Workspace) != stored.RealPath(d.Config.UserHome)) {
		if s.fixed.Workspace, err = stored.ResolveWorkspace(r.Workspace, d.Config.Home, d.Config.CacheDir, d.Config.UserHome); err != nil {
			return nil, err
		}
	}
	if err := s.takeProfile(r.Profile); err != nil {
		return nil, err
	}
	if err := s.narrowBy(r.Policy); err != nil {
		return nil, err
	}
	return s, s.chooseWorktree(d.Context, r)
}

// unnamed makes a session without an id, directory and workspace.
func unnamed(d *Deps, adapter agent.Adapter, r Request) *Session {
	s := &Session{
		deps:        d,
		adapter:     adapter,
		idle:        r.Idle,
		opener:      r.Opener,
		kept:        r.Kept,
		replaces:    r.Replaces,
		owner:       stored.ContainerUser(),
		cols:        r.Cols,
		rows:        r.Rows,
		firstOutput: make(chan struct{}),
		started:     make(chan struct{}),
		finished:    make(chan struct{}),
		fixed:       stored.Session{Agent: adapter.Name, CreatedAt: time.Now().UTC(), Notice: d.Config.tabNotice(adapter), Ephemeral: adapter.Place == agent.OnHost, NoTerminal: r.Idle},
	}
	s.life, s.cancel = context.WithCancel(d.Context)
	s.tally.connected = !adapter.Tools || r.Idle
	return s
}

// CheckWorkspace returns an error if a multiplexer with that home and cache cannot open a session on
// the given directory. An empty directory means a new sandbox.
func CheckWorkspace(given, home, cache, userHome string) error {
	if given == "" {
		return nil
	}
	_, err := stored.ResolveWorkspace(given, home, cache, userHome)
	return err
}

// Request says which session to open.
type Request struct {
	Agent     string `json:"agent"`     // empty: the configured default
	Workspace string `json:"workspace"` // empty: a new sandbox
	// Worktree says whether the session gets a worktree of the workspace instead of
	// the workspace itself.
	Worktree WorktreeChoice `json:"worktree,omitempty"`
	// Repo is the URL of a repository; a clone of it becomes the workspace. Branch is the branch to
	// check out; empty: the remote's default branch.
	Repo   string `json:"repo,omitempty"`
	Branch string `json:"branch,omitempty"`
	// Policy is the directory of a further policy for the session, which must be stricter than the
	// multiplexer's; empty: none.
	Policy string `json:"policy,omitempty"`
	// Profile is what the session has in place of the configuration.
	Profile stored.Profile `json:"profile,omitzero"`
	// Resume continues a stored session instead of making a new one. Agent, Workspace, Policy and
	// Profile are ignored, because the stored session has its own.
	Resume stored.ID `json:"resume,omitempty"`
	// Replaces is the session that this one replaces. The caller ends that one with Close, and this
	// one starts after it has ended. The replaced session does not count towards the limit.
	Replaces stored.ID `json:"replaces,omitempty"`
	// First refuses the request if there is a session already. With a profile, only sessions count
	// that have this profile and have not ended.
	First bool `json:"first,omitempty"`
	Cols  int  `json:"cols"`
	Rows  int  `json:"rows"`
	// Idle starts no agent on a terminal: Turn gives the agent tasks.
	Idle   bool   `json:"idle,omitempty"`
	Opener Opener `json:"-"`
	Kept   *Kept  `json:"-"` // what another program has handed over of the stored session; nil: nothing
}

// WorktreeChoice says whether a session gets a worktree of its workspace.
type WorktreeChoice string

// The choices.
const (
	WorktreeAsConfigured WorktreeChoice = ""    // as config.json says, if the workspace is a repository
	WorktreeYes          WorktreeChoice = "yes" // refuse the session if it cannot get one
	WorktreeNo           WorktreeChoice = "no"
)
