package main

import (
	"os"
	"path/filepath"
	"testing"
)

// A program that takes more memory than its container may is ended by the kernel.
// The tab says so although nothing of the session has ended: what tells is the
// engine's event. An agent that does it itself has ended, the tab says of what, and
// the multiplexer goes on.
func TestOutOfMemory(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	state := filepath.Join(home, "state")
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(state, "config.json"), []byte(withWay(`{"resources":{"memoryMb":256}}`)), 0o600); err != nil {
		t.Fatal(err)
	}
	d := drive(t, home, 100, 24, "demo", "--agent", "shell")
	d.see(patience, "/workspace$")
	d.send("tail /dev/zero\r")
	d.see(patience, "the memory limit was hit: the kernel ended a program in the container")
	d.send("echo still $((6*7))\r")
	d.see(patience, "still 42")
	d.send("exec tail /dev/zero\r")
	d.see(patience, "the memory limit was hit and the kernel ended", "/restart")
	d.send("\x01/new shell\r")
	d.see(patience, "/workspace$")
	d.quit()
	d.traceless()
}
