package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
)

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
