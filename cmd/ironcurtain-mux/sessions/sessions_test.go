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

// A tab keeps its number in the bar after its agent has ended, and the list shows it.
func TestSessionsShowTheTabOfAnEndedAgent(t *testing.T) {
	var b strings.Builder
	list := []broker.StoredSession{{Session: broker.Session{ID: "a", Agent: "shell", State: broker.StateDead, Tab: 5}}}
	if err := printSessions(&b, list); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(b.String(), "\n"); !strings.HasPrefix(lines[1], "a   5  ") {
		t.Errorf("printed:\n%s", b.String())
	}
}
