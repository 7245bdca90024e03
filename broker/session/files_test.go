package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
)

// The list of changed files is bounded and says so.
func TestFilesChangedIsBounded(t *testing.T) {
	s := &Session{fixed: stored.Session{Workspace: t.TempDir()}}
	note := s.compareFiles(t.Context())
	for i := range maxFilesChanged + 2 {
		if err := os.WriteFile(filepath.Join(s.fixed.Workspace, fmt.Sprint(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var turn Turn
	note(&turn)
	if len(turn.FilesChanged) != maxFilesChanged || turn.FilesMissed != "2 more files changed" {
		t.Errorf("%d files, %s", len(turn.FilesChanged), turn.FilesMissed)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	turn = Turn{}
	if s.compareFiles(ended)(&turn); turn.FilesChanged != nil || !strings.Contains(turn.FilesMissed, "canceled") {
		t.Errorf("%+v", turn)
	}
}
