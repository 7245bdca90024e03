package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/bridge"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// describeMounts describes the mounts whose sources other agents may be able to replace:
// the workspace, if it was given, and the mounts inside it. The bridge compares the
// description with what the engine has mounted. It begins with a mount that no agent can
// replace.
func (s *Session) describeMounts(first docker.Mount, workspace []docker.Mount) (string, error) {
	if s.fixed.Workspace == s.layout.Sandbox() {
		return "", nil // no other agent can write to the sandbox's directory
	}
	var all []bridge.Mount
	for _, m := range append([]docker.Mount{{Source: stored.RealPath(first.Source), Target: first.Target}}, workspace...) {
		device, inode, err := dirtree.Identify(s.behindOwnLinks(m.Source))
		if err != nil {
			return "", fault.New("end other agents that work there, and try again", "look at what is to be mounted: %w", err)
		}
		all = append(all, bridge.Mount{Path: m.Target, Device: device, Inode: inode})
	}
	return bridge.DescribeMounts(all), nil
}

// behindOwnLinks resolves the links in the path of our state directory, which the person
// made, and no others.
func (s *Session) behindOwnLinks(path string) string {
	home := s.deps.Config.Home
	if below, ok := strings.CutPrefix(path, home+"/"); ok {
		return filepath.Join(stored.RealPath(home), below)
	}
	return path
}

// rootsHome is the directory of an image in which only root can go on to another one. A root
// caller's cache is below it, and the container's user is not root.
const rootsHome = "/root"

// passage returns a mount that the container's user needs in order to reach what the session's
// worktree borrows: empty directories in the place of rootsHome. ok is false if none is needed.
func (s *Session) passage() (m docker.Mount, ok bool) {
	for _, dir := range s.borrowed() {
		ok = ok || strings.HasPrefix(dir, rootsHome+"/")
	}
	return docker.Mount{Source: filepath.Join(s.layout.Dir, "passage"), Target: rootsHome, ReadOnly: true}, ok
}

// makePassage makes these directories.
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
				return fmt.Errorf("make a way to what the worktree borrows: %w", err)
			}
			if err := os.Chmod(path, 0o755); err != nil { //nolint:gosec // likewise
				return fmt.Errorf("make a way to what the worktree borrows: %w", err)
			}
		}
	}
	return nil
}

// shareWorkspace gives the agent and the host access to the workspace (User.ShareTree). If
// the workspace is too large, a part of it is shared and the person is told.
func (s *Session) shareWorkspace(ctx context.Context) error {
	err := s.owner.ShareTree(ctx, s.fixed.Workspace)
	if limit := (*dirtree.Limit)(nil); errors.As(err, &limit) {
		s.notice(true, fmt.Sprintf("not everything in the workspace was shared with the agent: %v", limit))
		return nil
	}
	return err
}
