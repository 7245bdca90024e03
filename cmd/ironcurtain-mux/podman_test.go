package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// startPodman starts Podman's service for the time of a test, with the images that it has, and
// returns its socket.
func startPodman(t *testing.T) string {
	t.Helper()
	dir := newHome(t)
	socket := filepath.Join(dir, "podman.sock")
	service := exec.Command("podman", "system", "service", "--time=0", "unix://"+socket)
	if err := service.Start(); err != nil {
		t.Fatalf("%v; 'scripts/setup --tests' installs it", err)
	}
	t.Cleanup(func() {
		_ = service.Process.Signal(syscall.SIGTERM)
		kill := time.AfterFunc(patience, func() { _ = service.Process.Kill() })
		_ = service.Wait()
		kill.Stop()
	})
	if !eventually(patience, func() bool {
		_, err := docker.Connect(t.Context(), docker.Endpoint{Address: "unix://" + socket, Source: "test"})
		return err == nil
	}) {
		t.Fatal("Podman does not answer")
	}
	return socket
}

// A session runs in Podman as in Docker: its terminal and its end. When
// its daemon is killed, the next one has the same engine and takes the agent back.
func TestSessionInPodman(t *testing.T) {
	socket := startPodman(t)
	home := newHome(t)
	link := filepath.Join(t.TempDir(), "engine")
	if err := os.Symlink(socket, link); err != nil {
		t.Fatal(err)
	}
	d := driveArgv(t, home, 110, 24, "env", "DOCKER_HOST=unix:///nowhere", "ironcurtain-mux", "demo", "--agent", "shell", "--engine", link)
	d.see(patience, "/workspace$")
	session := d.onlySession()
	d.send("echo made-$((40+2)); stty size; id -u\r")
	d.see(patience, "made-42", "22 110", "/workspace$")
	pid, shown := d.daemon(), d.takesTerminal()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case <-shown:
	case <-time.After(patience):
		t.Fatalf("no other daemon was started:\n%s", d.text())
	}
	d.see(patience, "made-42")
	d.send("echo back-$((40+3))\r")
	d.see(patience, "back-43")
	if d.onlySession().ID != session.ID {
		t.Error("it is another session")
	}
	// The same when the one that starts it names no engine.
	d.killAll(true)
	d = driveArgv(t, home, 110, 24, "env", "DOCKER_HOST=unix:///nowhere", "ironcurtain-mux")
	d.see(patience, "back-43")
	d.quit()
	if _, err := os.Stat(d.state("run", "engine")); err == nil {
		t.Error("the engine is kept although no agent is left")
	}
	c, err := docker.Connect(t.Context(), docker.Endpoint{Address: "unix://" + socket, Source: "test"})
	if err != nil {
		t.Fatal(err)
	}
	left, err := c.List(t.Context(), map[string]string{"ironcurtain.session": session.ID})
	if err != nil || len(left) > 0 {
		t.Errorf("left in the engine: %+v, %v", left, err)
	}
}
