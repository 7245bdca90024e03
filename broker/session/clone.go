package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/mirror"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/worktree"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// CheckRepo returns an error if the URL or the branch of a request for a clone is invalid, or does not
// fit the rest of the request. It does not contact the remote.
func CheckRepo(r Request) error {
	switch {
	case r.Repo == "" && r.Branch == "":
		return nil
	case r.Repo == "":
		return fault.New("name its repository with --repo URL", "--branch is for --repo")
	case r.Workspace != "" || r.Worktree != WorktreeAsConfigured:
		return fault.New("leave --workspace, --worktree and --no-worktree out", "--repo makes a workspace of its own")
	}
	_, err := mirror.Address(r.Repo)
	if err == nil && r.Branch != "" {
		err = mirror.CheckBranch(r.Branch)
	}
	return err
}

// mirrors returns the cache of mirrors, by its real path, because worktrees borrow only from those.
func (s *Session) mirrors() mirror.Cache {
	return mirror.Cache{Dir: filepath.Join(stored.RealPath(s.deps.Config.CacheDir), "repositories")}
}

// chooseClone makes the session's workspace a clone of the repository at a URL. makeClone sets the
// branch and commit after fetching.
func (s *Session) chooseClone(r Request) error {
	if s.adapter.Place == agent.OnHost {
		return fault.New("leave --repo out", "%s runs without a container, so it cannot get a clone", s.adapter.Name)
	}
	remote, err := mirror.Address(r.Repo)
	if err != nil {
		return err
	}
	s.fixed.Workspace = s.layout.Worktree().Dir
	s.fixed.Worktree = &worktree.Tree{Repository: remote.String(), Common: s.mirrors().Path(remote), Branch: r.Branch, Cloned: true}
	return nil
}

// fetch makes or updates the mirror of the session's repository, and reports git's progress. The
// caller must release the mirror.
func (s *Session) fetch(ctx context.Context) (*mirror.Mirror, error) {
	tree := s.fixed.Worktree
	remote, err := mirror.Address(tree.Repository)
	if err != nil {
		return nil, err
	}
	step := "fetching " + tree.Repository
	s.progress(step, "")
	m, err := s.mirrors().Fetch(ctx, remote, tree.Branch, func(line string, passing bool) {
		s.reportProgress(s.starting.next(time.Now(), step, line, passing))
	})
	if err == nil && m.Dir != tree.Common {
		err = errors.Join(m.Release(), fault.New("set IRONCURTAIN_CACHE to the former cache, or clone again with --repo", "the cache has moved: the session borrows from %s", tree.Common))
	}
	return m, err
}

// makeClone fetches the session's repository and makes its worktree. If that fails, the directory of a
// new session is removed.
func (s *Session) makeClone(ctx context.Context, stack *teardown) (err error) {
	defer func() {
		if err != nil && !s.resumed {
			stack.push("remove the unfinished clone", s.abandon)
		}
	}()
	m, err := s.fetch(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Release()) }()
	tree := *s.fixed.Worktree
	if tree.Branch = m.Branch; tree.Base == "" {
		tree.Base = m.Commit
	}
	s.setClone(&tree)
	s.progress("making the worktree", tree.Branch+" of "+tree.Repository)
	err = s.fillClone(ctx, tree)
	if err == nil {
		return nil
	}
	repaired, repairErr := m.Repair(ctx)
	if !repaired || repairErr != nil {
		return errors.Join(err, repairErr)
	}
	if !s.resumed {
		tree.Base = m.Commit
		s.setClone(&tree)
	}
	return s.fillClone(ctx, tree)
}

// fillClone makes the worktree of a clone from the mirror.
func (s *Session) fillClone(ctx context.Context, tree worktree.Tree) error {
	source, err := worktree.Clone(tree.Common, s.deps.Config.UserHome, tree.Repository, tree.Base)
	if err != nil {
		return err
	}
	return s.layout.Worktree().Make(ctx, source, tree)
}

// setClone sets the worktree of the session's clone, with its branch and commit.
func (s *Session) setClone(tree *worktree.Tree) {
	s.mu.Lock()
	s.fixed.Worktree, s.baseCommit = tree, tree.Base
	s.mu.Unlock()
	s.Announce()
}

// lendClone fetches the repository of a resumed clone if the cache lacks objects that the clone
// borrows.
func (s *Session) lendClone(ctx context.Context) (err error) {
	tree := *s.fixed.Worktree
	if tree.Lends(ctx) {
		return nil
	}
	m, err := s.fetch(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Release()) }()
	if tree.Lends(ctx) {
		return nil
	}
	if _, err := m.Repair(ctx); err != nil {
		return err
	}
	if !tree.Lends(ctx) {
		return fault.New("save what you need from "+s.fixed.Workspace+", then clone again with --repo",
			"the cache has lost commit %s, and %s no longer has it", tree.Base[:min(12, len(tree.Base))], tree.Repository)
	}
	return nil
}

// abandon removes the directory of a session that never got a workspace, and releases its lease.
func (s *Session) abandon(ctx context.Context) error {
	err := dirtree.Remove(ctx, s.layout.Dir)
	if released := s.Release(); !errors.Is(released, fs.ErrNotExist) {
		err = errors.Join(err, released)
	}
	return err
}

// pushLook is how long the end of a clone waits for the remote's answer.
const pushLook = 10 * time.Second

// fetchPushed updates the mirror if the clone claims that its branch was pushed, because only the
// remote can confirm that. It stops when the process must end soon.
func (s *Session) fetchPushed(ctx context.Context) {
	tree := s.fixed.Worktree
	remote, err := mirror.Address(tree.Repository)
	if err != nil || !s.layout.Worktree().SaysPushed(*tree) {
		return
	}
	ctx, cancel := context.WithTimeoutCause(ctx, pushLook, fmt.Errorf("no answer in %v", pushLook))
	defer cancel()
	defer context.AfterFunc(s.deps.Hurried, cancel)()
	m, err := s.mirrors().Fetch(ctx, remote, tree.Branch, nil)
	if err != nil {
		s.deps.Log.Warn("find out whether a clone was pushed", "session", s.fixed.ID, "error", err)
		return
	}
	if err := m.Release(); err != nil {
		s.deps.Log.Warn("release the mirror of a clone", "session", s.fixed.ID, "error", err)
	}
}
