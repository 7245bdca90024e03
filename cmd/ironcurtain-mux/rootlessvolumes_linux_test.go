package main

import (
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// useVolumes starts a container with a layer, volumes and memory in place of directories of this
// machine: the volumes belong to the container's user, whatever number that has outside.
func useVolumes(t *testing.T, socket string) {
	t.Helper()
	c, err := docker.Connect(t.Context(), docker.Endpoint{Address: "unix://" + socket, Source: "test"})
	if err != nil {
		t.Fatal(err)
	}
	parent, _, err := c.ImageTag(t.Context(), "shell", standardRecipe)
	if err != nil {
		t.Fatal(err)
	}
	memory := docker.Tmpfs{Target: "/attachments"}
	tag, err := c.EnsureLayer(t.Context(), parent, docker.Layer{Files: []docker.LayerFile{
		{Path: "/home/codespace", Dir: true, UID: 1000, GID: 1000, Mode: 0o700},
		{Path: "/workspace", Dir: true, UID: 1000, GID: 1000, Mode: 0o755},
		memory.MountPoint(),
	}}, docker.BuildOptions{CacheDir: t.TempDir(), OnProgress: func(p docker.Progress) { t.Log(p) }})
	if err != nil {
		t.Fatal(err)
	}
	spec := docker.Spec{
		Image: tag, Cmd: []string{"sleep", "600"}, User: "1000:1000", Tmpfs: []docker.Tmpfs{memory},
		Volumes: []docker.VolumeMount{
			{Name: "ironcurtain-rootless-home", Target: "/home/codespace"},
			{Name: "ironcurtain-rootless-workspace", Target: "/workspace"},
			{Name: "ironcurtain-rootless-objects", Target: "/srv/project/.git/objects", ReadOnly: true},
		},
	}
	for _, v := range spec.Volumes {
		if err := c.CreateVolume(t.Context(), v.Name, nil); err != nil {
			t.Fatal(err)
		}
	}
	h, err := c.StartDetached(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	const script = `[ -O /home/codespace ] && [ -O /workspace ] && : >/home/codespace/x && : >/workspace/x && : >/attachments/x && echo writes
: 2>/dev/null >/srv/project/.git/objects/x || echo refused
id -u`
	out, errs, code, err := c.Exec(t.Context(), h.ID(), []string{"bash", "-c", script}, "1000:1000")
	if err != nil || code != 0 || out != "writes\nrefused\n1000\n" {
		t.Errorf("code %d, %v\n%s%s", code, err, out, errs)
	}
	if err := h.Remove(t.Context()); err != nil {
		t.Error(err)
	}
	for _, v := range spec.Volumes {
		if err := c.RemoveVolume(t.Context(), v.Name); err != nil {
			t.Error(err)
		}
	}
}
