package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
)

// shareWorkspace is shareTree for the session's workspace. Of one that is larger than is
// walked, the rest stays as it is.
func (s *Session) shareWorkspace(ctx context.Context) error {
	err := s.owner.ShareTree(ctx, s.fixed.Workspace)
	if limit := (*dirtree.Limit)(nil); errors.As(err, &limit) {
		s.notice(true, fmt.Sprintf("not everything in the workspace was shared with the agent: %v", limit))
		return nil
	}
	return err
}
