package session

import (
	"path/filepath"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// The user in a container is the owner of the session's files: by the same number, or by the number 0
// where the engine is theirs and keeps no numbers. Who takes a container back knows it by its label.
func TestInside(t *testing.T) {
	owner := stored.User{UID: 1001, GID: 1002}
	for name, tt := range map[string]struct {
		keeps bool
		want  string
		root  bool
	}{
		"numbers are kept":     {true, "1001:1002", false},
		"numbers are not kept": {false, "0:0", true},
	} {
		t.Run(name, func(t *testing.T) {
			s := stateSession(t)
			s.owner = owner
			var err error
			if s.lease, err = docker.AcquireLease(filepath.Join(t.TempDir(), "lock")); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Release() }()
			s.setInside(insideOf(owner, tt.keeps))
			if s.inside.String() != tt.want || s.inside.root() != tt.root {
				t.Errorf("the user is %s", s.inside)
			}
			if again := insideLabeled(owner, s.labels()); again != s.inside {
				t.Errorf("by its label it is %s", again)
			}
		})
	}
}
