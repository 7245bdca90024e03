package reach_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach"
)

const local = "unix:///run/engine.sock"

func TestTheWayToTryFirst(t *testing.T) {
	for name, tt := range map[string]struct {
		wanted  reach.Way
		address string
		way     reach.Way
		other   bool
		says    string
	}{
		"this machine":    {"", local, reach.Sockets, true, "each start finds out"},
		"automatic":       {reach.Auto, local, reach.Sockets, true, "each start finds out"},
		"another machine": {"", "tcp://10.0.0.1:2376", reach.ByStream, false, "another kernel"},
		"wanted":          {reach.ByStream, local, reach.ByStream, false, "config.json"},
		"wanted sockets":  {reach.Sockets, "tcp://10.0.0.1:2376", reach.Sockets, false, "config.json"},
	} {
		t.Run(name, func(t *testing.T) {
			w := &reach.Ways{Wanted: tt.wanted, Path: filepath.Join(t.TempDir(), "engines.json")}
			if way, other := w.First(tt.address, "1"); way != tt.way || other != tt.other {
				t.Errorf("%s, %v", way, other)
			}
			if says := w.Describe(tt.address, "1"); !strings.Contains(says, tt.says) {
				t.Errorf("it says %q", says)
			}
		})
	}
}

func TestAWayIsRememberedOfOneVersion(t *testing.T) {
	w := &reach.Ways{Path: filepath.Join(t.TempDir(), "engines.json")}
	if err := w.Remember(local, "1", reach.ByStream); err != nil {
		t.Fatal(err)
	}
	if way, other := w.First(local, "1"); way != reach.ByStream || other {
		t.Errorf("%s, %v", way, other)
	}
	if says := w.Describe(local, "1"); !strings.Contains(says, "do not lead") {
		t.Errorf("it says %q", says)
	}
	if way, other := w.First(local, "2"); way != reach.Sockets || !other {
		t.Errorf("of another version: %s, %v", way, other)
	}
}

// A file that cannot be read costs another try, and says so when something is to be kept.
func TestRememberingInAFileThatIsNone(t *testing.T) {
	w := &reach.Ways{Path: filepath.Join(t.TempDir(), "engines.json")}
	if err := os.WriteFile(w.Path, []byte("no json"), 0o600); err != nil {
		t.Fatal(err)
	}
	if way, other := w.First(local, "1"); way != reach.Sockets || !other {
		t.Errorf("%s, %v", way, other)
	}
	if err := w.Remember(local, "1", reach.ByStream); err == nil || !strings.Contains(err.Error(), "remember the way") {
		t.Errorf("%v", err)
	}
}
