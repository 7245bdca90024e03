package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
)

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
