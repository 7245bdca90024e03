package main

import (
	"os"
	"path/filepath"
	"testing"
)

// An agent that takes more memory than it may is ended by the kernel. Its tab says
// so at once, and the multiplexer goes on.
func TestOutOfMemory(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	state := filepath.Join(home, "state")
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(state, "config.json"), []byte(`{"resources":{"memoryMb":256}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	d := drive(t, home, 100, 24, "demo", "--agent", "shell")
	d.see(patience, "/workspace$")
	d.send("exec tail /dev/zero\r")
	d.see(patience, "the memory limit was hit")
	d.send("\x01/new shell\r")
	d.see(patience, "/workspace$")
	d.quit()
	d.traceless()
}
