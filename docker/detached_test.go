package docker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	engine "github.com/fsouza/go-dockerclient"
)

// detached runs a command in a detached container, removed at the end.
func detached(t testing.TB, c *Client, change func(*Spec), cmd ...string) *Handle {
	t.Helper()
	s := Spec{
		Image: image(t, c, "shell"), Cmd: cmd, User: "1000:1000", WorkingDir: "/tmp",
		Labels: testLabel(t, c), MemoryMB: 512, CPUs: 1, Pids: 256,
	}
	if change != nil {
		change(&s)
	}
	h, err := c.StartDetached(deadline(t, patience), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := h.Remove(ctx); err != nil {
			t.Error(err)
		}
	})
	return h
}

// A detached container has no terminal, no input and no log.
func TestDetached(t *testing.T) {
	c := connect(t)
	h := detached(t, c, nil, "sh", "-c", "readlink /proc/self/fd/0 > /tmp/input; tty >> /tmp/input; echo never kept; exec sleep 1000")
	for script, want := range map[string]string{
		"until [ -s /tmp/input ] && [ $(wc -l < /tmp/input) = 2 ]; do sleep 0.01; done; cat /tmp/input": "/dev/null\nnot a tty",
	} {
		t.Run(script, func(t *testing.T) {
			if got := inside(t, c, h.ID(), script); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	t.Run("as the engine sees it", func(t *testing.T) {
		found, err := c.bound(deadline(t, patience)).InspectContainerWithOptions(engine.InspectContainerOptions{ID: h.ID()})
		if err != nil {
			t.Fatal(err)
		}
		if found.Config.Tty || found.Config.OpenStdin || found.HostConfig.LogConfig.Type != "none" || found.HostConfig.NetworkMode != "none" {
			t.Errorf("%+v %+v", found.Config, found.HostConfig)
		}
		if err := c.Replay(deadline(t, patience), h.ID(), &strings.Builder{}); err == nil {
			t.Error("its output can be read")
		}
	})
}

func TestDetachedEnds(t *testing.T) {
	c := connect(t)
	h := detached(t, c, nil, "sh", "-c", "exit 7")
	if exit, err := h.Wait(deadline(t, patience)); err != nil || exit.Code != 7 {
		t.Errorf("%+v, %v", exit, err)
	}
	if _, err := c.Running(deadline(t, patience), h.ID()); !errors.Is(err, ErrNotRunning) {
		t.Errorf("taken back after its end: %v", err)
	}
}

// The program is hung up before it is killed.
func TestDetachedIsHungUp(t *testing.T) {
	c := connect(t)
	dir := shortDir(t)
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	h := detached(t, c, func(s *Spec) { s.Mounts = []Mount{{Source: dir, Target: "/workspace"}} },
		"sh", "-c", "trap 'echo saved > /workspace/state; exit' HUP; echo > /workspace/ready; while :; do sleep 0.01; done")
	eventually(t, patience, "the program's start", func() bool { return exists(filepath.Join(dir, "ready")) })
	if err := h.Remove(deadline(t, patience)); err != nil {
		t.Fatal(err)
	}
	if !exists(filepath.Join(dir, "state")) {
		t.Error("it could not save its state")
	}
	if _, err := c.Running(deadline(t, patience), h.ID()); !errors.Is(err, ErrNoContainer) {
		t.Errorf("taken back after its removal: %v", err)
	}
}

func TestDetachedIsTakenBack(t *testing.T) {
	c := connect(t)
	h := detached(t, c, nil, "sleep", "1000")
	again, err := connect(t).Running(deadline(t, patience), h.ID()[:12])
	if err != nil || again.ID() != h.ID() {
		t.Fatalf("%+v, %v", again, err)
	}
	if err := again.Remove(deadline(t, patience)); err != nil {
		t.Fatal(err)
	}
	if exit, err := h.Wait(deadline(t, patience)); err != nil || exit.Code != killed {
		t.Errorf("%+v, %v", exit, err)
	}
}

// Nothing but a container with this program's label is taken back.
func TestForeignContainerIsNotTakenBack(t *testing.T) {
	c := connect(t)
	ctx := deadline(t, patience)
	created, err := c.bound(ctx).CreateContainer(engine.CreateContainerOptions{
		Config:     &engine.Config{Image: image(t, c, "shell"), Cmd: []string{"sleep", "1000"}, User: "1000:1000"},
		HostConfig: &engine.HostConfig{NetworkMode: "none"},
		Context:    ctx,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.remove(ctx, created.ID) }()
	if err := c.bound(ctx).StartContainer(created.ID, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Running(ctx, created.ID); !errors.Is(err, ErrNoContainer) {
		t.Errorf("%v", err)
	}
}

func TestDetachedIsRefusedByStart(t *testing.T) {
	c := connect(t)
	_, err := c.Start(deadline(t, patience), Spec{
		Image: image(t, c, "shell"), Cmd: []string{"true"}, User: "1000:1000", Detached: true, Labels: testLabel(t, c),
	})
	if !errors.Is(err, ErrSpec) {
		t.Errorf("%v", err)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
