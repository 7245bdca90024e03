package sessions

import (
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// A workspace that is not there any more is said to be gone.
func TestSessionsSayThatAWorkspaceIsGone(t *testing.T) {
	here := t.TempDir()
	var b strings.Builder
	list := []broker.StoredSession{
		{Session: broker.Session{ID: "a", Workspace: here}}, {Session: broker.Session{ID: "b", Workspace: here + "/removed"}},
	}
	if err := printSessions(&b, list); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	if !strings.HasPrefix(lines[0], "ID  TAB ") || strings.Contains(lines[1], "gone") || !strings.Contains(lines[2], here+"/removed (gone)") {
		t.Errorf("printed:\n%s", b.String())
	}
}
