package session

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/worktree"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// repositoryMounts keep an agent from planting what git would run for the person
// outside of the container: of a repository in a workspace that was given, its
// hooks and its configuration are read-only. What is a link there is left as it
// is: it would name another file in the container than it does here. The
// repository itself is a mount, too: what is one cannot be moved out of the way.
// A mount ends when somebody replaces the file on the host, as 'git config' does; what
// the agent then leaves is named (tellObeyed).
//
// Of a worktree that we made, what leads git to other repositories is read-only as
// well, and so are the objects that it borrows.
func (s *Session) repositoryMounts() []docker.Mount {
	fixed, kept := append([]string{".git/config.worktree"}, stored.ReadOnlyParts...), []string{".git"}
	if s.fixed.Worktree != nil {
		fixed, kept = worktree.ReadOnly()
	} else if stored.IsFile(filepath.Join(s.fixed.Workspace, ".git")) {
		fixed, kept = []string{".git"}, nil // it says where the repository is
	}
	var mounts []docker.Mount
	for i, name := range append(kept, fixed...) {
		if stored.PlainPath(s.fixed.Workspace, name) {
			mounts = append(mounts, docker.Mount{
				Source: filepath.Join(s.fixed.Workspace, name), Target: agent.Workspace + "/" + name, ReadOnly: i >= len(kept),
			})
		}
	}
	for _, dir := range s.borrowed() {
		mounts = append(mounts, docker.Mount{Source: dir, Target: dir, ReadOnly: true})
	}
	return mounts
}

// borrowed are the stores of objects that the session's worktree reads.
func (s *Session) borrowed() []string {
	if s.fixed.Worktree == nil {
		return nil
	}
	return []string{s.fixed.Worktree.Objects()}
}

// commonDirFile is the file with which a repository in a directory would make git use
// another one: its configuration, its hooks. An ordinary repository has none.
func commonDirFile(workspace string) string { return filepath.Join(workspace, ".git", "commondir") }

// checkRepository refuses a workspace whose repository leads elsewhere.
func (s *Session) checkRepository() error {
	path := commonDirFile(s.fixed.Workspace)
	if s.fixed.Worktree != nil || !stored.PlainPath(s.fixed.Workspace, ".git") {
		return nil // ours is pinned
	}
	if _, err := os.Lstat(path); err == nil {
		return fault.New("look where it leads, then remove it", "%s makes git use another repository", path)
	}
	return nil
}

// disarm moves the file out of the way with which an agent has made its repository
// lead elsewhere. The agent must have ended.
func (s *Session) disarm() error {
	path := commonDirFile(s.fixed.Workspace)
	if s.fixed.Worktree != nil || !stored.PlainPath(s.fixed.Workspace, ".git") {
		return nil
	}
	if _, err := os.Lstat(path); err != nil {
		return nil // as it should be
	}
	if err := os.Rename(path, path+".disarmed"); err != nil {
		return fmt.Errorf("%s makes git use another repository, and cannot be removed: %w", path, err)
	}
	text := fmt.Sprintf("the agent had made git use another repository; that was moved to %s.disarmed", path)
	s.deps.Events.Left(s.fixed.ID, aboutDisarmed, text)
	s.notice(true, text)
	return nil
}
