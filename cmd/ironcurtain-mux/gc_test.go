package main

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// gc removes the volume of a session that is gone, and the objects of a repository that were used
// lately only when it is told to. A trial run says so and removes nothing.
func TestGcRemovesVolumes(t *testing.T) {
	d := &driver{t: t, home: newHome(t)}
	client := engine(t)
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	id, err := stored.NewID()
	if err != nil {
		t.Fatal(err)
	}
	l := stored.LayoutOf(d.state(), id)
	objects, err := stored.ObjectsOf(d.state(), client.Endpoint().Address, "/repository")
	if err != nil {
		t.Fatal(err)
	}
	gone := "ironcurtain-" + id[:8] + id[9:13] + "-home"
	for name, labels := range map[string]map[string]string{
		gone:           {docker.LabelHost: host, docker.LabelLease: l.Lock(), stored.LabelSession: id},
		objects.Volume: objects.Labels,
	} {
		t.Cleanup(func() { _ = client.RemoveVolume(context.Background(), name) })
		if err := client.CreateVolume(t.Context(), name, labels); err != nil {
			t.Fatal(err)
		}
	}
	there := func(name string) bool {
		list, err := client.Volumes(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range list {
			if v.Name == name {
				return true
			}
		}
		return false
	}
	for _, step := range []struct {
		args          string
		gone, objects string // how their lines go on; empty: they have none
		left          [2]bool
	}{
		{"gc --dry-run", "would be removed", "stays", [2]bool{true, true}},
		{"gc", "removed", "", [2]bool{false, true}},
		{"gc --all --dry-run", "", "would be removed", [2]bool{false, true}},
		{"gc --all", "", "removed", [2]bool{false, false}},
	} {
		t.Run(step.args, func(t *testing.T) {
			out, errs, code := d.command(strings.Fields(step.args)...)
			if code != cli.ExitOK {
				t.Fatalf("it exits %d: %s%s", code, out, errs)
			}
			said := map[string]string{}
			for line := range strings.Lines(out) {
				name, rest, _ := strings.Cut(line, " ")
				said[name] = strings.TrimSpace(rest)
			}
			for name, want := range map[string]string{gone: step.gone, objects.Volume: step.objects} {
				if got, ok := said[name]; ok != (want != "") || !strings.HasPrefix(got, want) {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
			if left := [2]bool{there(gone), there(objects.Volume)}; left != step.left {
				t.Errorf("they are there: %v, want %v", left, step.left)
			}
		})
	}
}
