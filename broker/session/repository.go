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

// repositoryMounts returns mounts that keep an agent from planting files that git would
// run for the person outside of the container. In a workspace that was given, the hooks
// and the configuration of its repository are read-only. Links are not mounted, because
// they would name another file in the container than on the host. The .git directory is a
// mount, too, so that the agent cannot move it away. A mount ends when somebody replaces
// the file on the host, as 'git config' does; reportObeyed names what the agent leaves
// there afterwards.
//
// In a worktree that we made, the files that lead git to other repositories are read-only
// as well, and so are the objects that it borrows.
func (s *Session) repositoryMounts() []docker.Mount {
	fixed, kept := append([]string{".git/config.worktree"}, stored.ReadOnlyParts...), []string{".git"}
	if s.fixed.Worktree != nil {
		fixed, kept = worktree.ReadOnly()
	} else if stored.IsFile(filepath.Join(s.fixed.Workspace, ".git")) {
		fixed, kept = []string{".git"}, nil // the file names the repository's directory
	}
	var mounts []docker.Mount
	for i, name := range append(kept, fixed...) {
		if stored.PlainPath(s.fixed.Workspace, name) {
			mounts = append(mounts, docker.Mount{
				Source: filepath.Join(s.fixed.Workspace, name), Target: agent.Workspace + "/" + name, ReadOnly: i >= len(kept),
			})
		}
	}
	if m, ok := s.passage(); ok {
		mounts = append(mounts, m)
	}
	for _, dir := range s.borrowed() {
		mounts = append(mounts, docker.Mount{Source: dir, Target: dir, ReadOnly: true})
	}
	return mounts
}

// borrowed returns the object directories that the session's worktree reads.
func (s *Session) borrowed() []string {
	if s.fixed.Worktree == nil {
		return nil
	}
	return []string{s.fixed.Worktree.Objects()}
}

// commonDirFile is the file with which a repository in a workspace makes git use the
// configuration and hooks of another repository. An ordinary repository does not have it.
func commonDirFile(workspace string) string { return filepath.Join(workspace, ".git", "commondir") }

// checkRepository refuses a workspace whose repository makes git use another one.
func (s *Session) checkRepository() error {
	path := commonDirFile(s.fixed.Workspace)
	if s.fixed.Worktree != nil || !stored.PlainPath(s.fixed.Workspace, ".git") {
		return nil // in a worktree the file is mounted read-only
	}
	if _, err := os.Lstat(path); err == nil {
		return fault.New("look where it leads, then remove it", "%s makes git use another repository", path)
	}
	return nil
}

// disarm moves commonDirFile away if the agent has made one. The agent must have ended.
func (s *Session) disarm() error {
	path := commonDirFile(s.fixed.Workspace)
	if s.fixed.Worktree != nil || !stored.PlainPath(s.fixed.Workspace, ".git") {
		return nil
	}
	if _, err := os.Lstat(path); err != nil {
		return nil // there is no such file
	}
	if err := os.Rename(path, path+".disarmed"); err != nil {
		return fmt.Errorf("%s makes git use another repository, and cannot be moved away: %w", path, err)
	}
	text := fmt.Sprintf("the agent had made git use another repository; the file that did so was moved to %s.disarmed", path)
	s.deps.Events.Left(s.fixed.ID, aboutDisarmed, text)
	s.notice(true, text)
	return nil
}
