package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/running"
)

// A crash after which the person is asked about the agents is counted, too: doctor warns about many.
func TestACrashIsCountedWhenThePersonIsAsked(t *testing.T) {
	home := t.TempDir()
	path := running.TakenBackFile(home)
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := noteTakeBack(path); err != nil {
		t.Fatal(err)
	}
	for want := 2; want <= 3; want++ {
		if takeBack(t.Context(), nil, home, false, slog.New(slog.DiscardHandler)) {
			t.Error("the agents are taken back without asking")
		}
		noted, err := os.ReadFile(path)
		if n := strings.Count(string(noted), "\n"); err != nil || n != want {
			t.Errorf("%d crashes are noted, want %d: %v", n, want, err)
		}
	}
}
