package broker

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
)

func shortTemp(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ic")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// storeSession makes the directory of a session that was last used that long ago.
func storeSession(t *testing.T, home, agentName string, ago time.Duration) stored.Layout {
	t.Helper()
	id, err := stored.NewID()
	if err != nil {
		t.Fatal(err)
	}
	l := stored.LayoutOf(home, id)
	if err := l.Make(stored.ContainerUser()); err != nil {
		t.Fatal(err)
	}
	if err := l.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(-ago).Truncate(time.Second).UTC()
	data, err := json.Marshal(stored.Record{Session: Session{
		ID: id, Tab: 3, Agent: agentName, State: StateIdle, Workspace: l.Sandbox(), CreatedAt: at.Add(-time.Hour),
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(l.Record(), data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(l.Record(), at, at); err != nil {
		t.Fatal(err)
	}
	return l
}
