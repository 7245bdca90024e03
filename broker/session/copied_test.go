package session

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/elsewhere"
)

// The agent can stop the process that serves its files. Nothing of the session may wait for that
// without end.
func TestFilesThatNobodyServesAreNotWaitedFor(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		asked := false
		files, err := elsewhere.Open(elsewhere.Options{
			Dirs: elsewhere.Dirs{Home: dir, Workspace: dir, Orientation: dir, Attachments: dir, Notes: dir},
			Connect: func(ctx context.Context) (net.Conn, error) {
				asked = true
				if _, ends := ctx.Deadline(); !ends {
					return nil, errors.New("it would wait for ever")
				}
				<-ctx.Done()
				return nil, ctx.Err()
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer files.Close()
		s := &Session{elsewhere: files}
		if err := s.fetchFiles(context.WithoutCancel(t.Context())); !asked || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("asked %v, and then %v", asked, err)
		}
	})
}
