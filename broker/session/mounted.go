package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/bridge"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/worktree"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// mountShared adds the mounts of this machine's files to a container's specification.
func (s *Session) mountShared(spec *docker.Spec, bridgePath string) error {
	inOrientation := func(name string) string { return s.layout.Orientation() + "/" + name }
	bridgeMount := docker.Mount{Source: bridgePath, Target: agent.Bridge, ReadOnly: true}
	workspace := []docker.Mount{{Source: s.fixed.Workspace, Target: agent.Workspace}}
	spec.Mounts = []docker.Mount{
		{Source: s.layout.Home(), Target: agent.Home},
		{Source: s.layout.Orientation(), Target: agent.Orientation, ReadOnly: true},
		{Source: s.layout.Attachments(), Target: agent.Attachments, ReadOnly: true},
		bridgeMount,
		{Source: inOrientation(caFile), Target: agent.CABundle, ReadOnly: true},
		{Source: inOrientation("passwd"), Target: "/etc/passwd", ReadOnly: true},
		{Source: inOrientation("group"), Target: "/etc/group", ReadOnly: true},
	}
	if s.stream == nil {
		spec.Mounts = append(spec.Mounts, docker.Mount{Source: s.layout.Sockets(), Target: agent.Sockets, ReadOnly: true})
	}
	spec.Mounts = append(spec.Mounts, s.registryMounts()...)
	if s.fixed.Workspace != s.layout.Sandbox() {
		workspace = append(workspace, s.repositoryMounts()...)
	}
	spec.Mounts = append(spec.Mounts, workspace...)
	mounts, err := s.describeMounts(bridgeMount, workspace)
	if err != nil {
		return err
	}
	spec.Env = append([]string{bridge.MountsVariable + "=" + mounts}, spec.Env...)
	return nil
}

// describeMounts describes the mounts whose sources other agents may be able to replace: a workspace
// that the person has named, and the mounts inside it. The bridge compares the description with what
// the engine has mounted. The first mount is one that no agent can replace.
func (s *Session) describeMounts(first docker.Mount, workspace []docker.Mount) (string, error) {
	if s.fixed.Workspace == s.layout.Sandbox() {
		return "", nil // no other agent can write to this session's sandbox
	}
	var all []bridge.Mount
	for _, m := range append([]docker.Mount{{Source: stored.RealPath(first.Source), Target: first.Target}}, workspace...) {
		device, inode, err := dirtree.Identify(s.resolveStateLinks(m.Source))
		if err != nil {
			return "", fault.New("end other agents that work in that directory, and try again", "examine what is to be mounted: %w", err)
		}
		all = append(all, bridge.Mount{Path: m.Target, Device: device, Inode: inode})
	}
	return bridge.DescribeMounts(all), nil
}

// resolveStateLinks resolves the links in the path of our state directory, which the person
// made, and no others.
func (s *Session) resolveStateLinks(path string) string {
	home := s.deps.Config.Home
	if below, ok := strings.CutPrefix(path, home+"/"); ok {
		return filepath.Join(stored.RealPath(home), below)
	}
	return path
}

// rootsHome is root's home, which only root can enter in an image. If the multiplexer runs as root,
// its cache, with the objects that worktrees borrow, is below it.
const rootsHome = "/root"

// passage returns a mount of empty directories over rootsHome, through which the container's user can
// reach the objects that the session's worktree borrows. ok is false if none is needed.
func (s *Session) passage() (m docker.Mount, ok bool) {
	for _, dir := range s.borrowed() {
		ok = ok || strings.HasPrefix(dir, rootsHome+"/")
	}
	return docker.Mount{Source: filepath.Join(s.layout.Dir, "passage"), Target: rootsHome, ReadOnly: true}, ok
}

// makePassage makes the directories of passage.
func (s *Session) makePassage() error {
	m, ok := s.passage()
	if !ok {
		return nil
	}
	for _, dir := range s.borrowed() {
		path := m.Source
		for part := range strings.SplitSeq(strings.TrimPrefix(dir, rootsHome), "/") {
			path = filepath.Join(path, part)
			if err := os.Mkdir(path, 0o755); err != nil && !os.IsExist(err) { //nolint:gosec // empty, and for the container's user
				return fmt.Errorf("make directories over %s: %w", rootsHome, err)
			}
			if err := os.Chmod(path, 0o755); err != nil { //nolint:gosec // as above
				return fmt.Errorf("make directories over %s: %w", rootsHome, err)
			}
		}
	}
	return nil
}

// shareWorkspace gives both the agent and the host access to the workspace (User.ShareTree). If the
// workspace is too large, it shares a part and tells the person.
func (s *Session) shareWorkspace(ctx context.Context) error {
	err := s.owner.ShareTree(ctx, s.fixed.Workspace)
	if limit := (*dirtree.Limit)(nil); errors.As(err, &limit) {
		s.notice(true, fmt.Sprintf("not everything in the workspace was shared with the agent: %v", limit))
		return nil
	}
	return err
}

// repositoryMounts returns mounts that keep an agent from planting files that git would run for the
// person outside of the container. In a workspace that the person has named, the hooks and the
// configuration of its repository are read-only. Links are not mounted, because they would lead to
// another file in the container than on the host. The .git directory is a mount, too, so that the
// agent cannot rename it. A mount loses its effect when somebody replaces the file on the host, as
// 'git config' does; reportObeyed finds what the agent leaves there afterwards.
//
// In a worktree that we made, the files that lead git to other repositories are read-only as well, and
// so are the borrowed objects.
func (s *Session) repositoryMounts() []docker.Mount {
	fixed, kept := s.guarded()
	var mounts []docker.Mount
	for i, name := range append(kept, fixed...) {
		mounts = append(mounts, docker.Mount{
			Source: filepath.Join(s.fixed.Workspace, name), Target: agent.Workspace + "/" + name, ReadOnly: i >= len(kept),
		})
	}
	if m, ok := s.passage(); ok {
		mounts = append(mounts, m)
	}
	for _, dir := range s.borrowed() {
		mounts = append(mounts, docker.Mount{Source: dir, Target: dir, ReadOnly: true})
	}
	return mounts
}

// guarded returns those files of the workspace's repository that programs of this machine run or obey,
// to be mounted read-only, and the directories that the agent must not rename, because they contain
// those files. Missing ones are left out.
func (s *Session) guarded() (fixed, kept []string) {
	switch {
	case s.fixed.Worktree != nil:
		fixed, kept = worktree.ReadOnly()
	case stored.IsFile(filepath.Join(s.fixed.Workspace, ".git")):
		fixed = []string{".git"} // the file names the repository's directory
	default:
		fixed, kept = append([]string{".git/config.worktree"}, stored.ReadOnlyParts...), []string{".git"}
	}
	missing := func(name string) bool { return !stored.PlainPath(s.fixed.Workspace, name) }
	return slices.DeleteFunc(fixed, missing), slices.DeleteFunc(kept, missing)
}

// borrowed returns the object directories from which the session's worktree borrows.
func (s *Session) borrowed() []string {
	if s.fixed.Worktree == nil {
		return nil
	}
	return []string{s.fixed.Worktree.Objects()}
}

// commonDirFile returns the file by which a repository in a workspace makes git use the configuration
// and hooks of another repository. An ordinary repository does not have it.
func commonDirFile(workspace string) string { return filepath.Join(workspace, ".git", "commondir") }

// checkRepository refuses a workspace whose repository makes git use another one.
func (s *Session) checkRepository() error {
	path := commonDirFile(s.fixed.Workspace)
	if s.fixed.Worktree != nil || !stored.PlainPath(s.fixed.Workspace, ".git") {
		return nil // in a worktree the file is mounted read-only
	}
	if _, err := os.Lstat(path); err == nil {
		return fault.New("check which repository the file names, then remove the file", "%s makes git use another repository", path)
	}
	return nil
}

// disarm renames commonDirFile if the agent has made one. The agent must have ended.
func (s *Session) disarm() error {
	path := commonDirFile(s.fixed.Workspace)
	if s.fixed.Worktree != nil || !stored.PlainPath(s.fixed.Workspace, ".git") {
		return nil
	}
	if _, err := os.Lstat(path); err != nil {
		return nil // there is no such file
	}
	if err := os.Rename(path, path+".disarmed"); err != nil {
		return fmt.Errorf("%s makes git use another repository, and cannot be renamed: %w", path, err)
	}
	text := fmt.Sprintf("the agent had made git use another repository; the file for that was renamed to %s.disarmed", path)
	s.deps.Events.Left(s.fixed.ID, aboutDisarmed, text)
	s.notice(true, text)
	return nil
}
