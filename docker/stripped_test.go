package docker_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker/fakeengine"
)

// status prints what a program finds out about its own isolation, without any
// privilege: a name and a value a line.
const status = `
	awk '/^(Uid|Gid|Groups|CapPrm|CapEff|CapBnd|CapAmb|NoNewPrivs|Seccomp):/ { sub(":", "", $1); print $1, $2 }' /proc/self/status
	echo Interfaces $(ls /sys/class/net)
	awk '$2 == "/" { split($4, options, ","); print "Root", options[1] }' /proc/mounts`

// hardened is what it prints in a container that is as it was ordered.
func hardened() map[string]string {
	none := "0000000000000000"
	return map[string]string{
		"Uid": "1000", "Gid": "1000", "Groups": "1000", "CapPrm": none, "CapEff": none, "CapBnd": none, "CapAmb": none,
		"NoNewPrivs": "1", "Seccomp": "2", "Interfaces": "lo", "Root": "ro",
	}
}

// An engine that forgets a hardening flag says that all went well. A program in the
// container sees which one it was, by exactly what that flag is for.
func TestStrippedFlagsAreSeenFromInside(t *testing.T) {
	for _, tt := range []struct {
		strip string
		seen  []string // what is not as ordered
	}{
		{fakeengine.Network, []string{"Interfaces"}},
		{fakeengine.Capabilities, []string{"CapBnd"}},
		{fakeengine.NewPrivileges, []string{"NoNewPrivs"}},
		{fakeengine.WritableRoot, []string{"Root"}},
		{fakeengine.Seccomp, []string{"Seccomp"}},
		{fakeengine.User, []string{"Uid", "Gid", "Groups"}},
	} {
		t.Run(tt.strip, func(t *testing.T) {
			want, got := hardened(), lookInside(t, fakeengine.Faults{Strip: []string{tt.strip}})
			for _, name := range tt.seen {
				if value, found := got[name]; !found || value == want[name] {
					t.Errorf("%s is %q, as in a hardened container", name, value)
				}
				delete(want, name)
				delete(got, name)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("what was ordered and what was seen (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		if diff := cmp.Diff(hardened(), lookInside(t, fakeengine.Faults{})); diff != "" {
			t.Errorf("what was ordered and what was seen (-want +got):\n%s", diff)
		}
	})
	t.Run("all", func(t *testing.T) {
		got := lookInside(t, fakeengine.Faults{Strip: fakeengine.Isolation()})
		for name, value := range hardened() {
			if name == "CapAmb" { // root's is empty, too
				continue
			}
			if got[name] == value {
				t.Errorf("%s is %q, as in a hardened container", name, value)
			}
		}
	})
}

// lookInside starts a hardened container through an engine with faults and returns what
// its program finds out.
func lookInside(t *testing.T, faults fakeengine.Faults) map[string]string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	c, order := hardenedOrder(ctx, t, faults)
	order.Cmd = []string{"sh", "-c", status}
	ct, err := c.Start(ctx, order)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ct.Remove(ctx); err != nil {
			t.Error(err)
		}
	})
	text, err := io.ReadAll(ct)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		found[name] = value
	}
	return found
}

// hardenedOrder connects through an engine with faults, and orders a hardened container
// without a command.
func hardenedOrder(ctx context.Context, t *testing.T, faults fakeengine.Faults) (*docker.Client, docker.Spec) {
	t.Helper()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	shared, err := docker.Choice{}.Resolve(os.Getenv, home)
	if err != nil {
		t.Fatal(err)
	}
	fake := fakeengine.Start(t, shared.SocketPath(), faults)
	c, err := docker.Connect(ctx, docker.Endpoint{Address: fake.Address(), Source: "test"})
	if err != nil {
		t.Fatal(err)
	}
	image, err := c.EnsureImage(ctx, "shell", docker.BuildOptions{
		CacheDir:   docker.DefaultCacheDir(os.Getenv, home),
		Recipe:     docker.Recipe{Toolchains: []string{"build", "node", "python"}},
		OnProgress: func(p docker.Progress) { t.Log(p) },
	})
	if err != nil {
		t.Fatal(err)
	}
	// With the labels of a lease, others do not take the container for a forgotten one.
	lease, err := docker.AcquireLease(filepath.Join(t.TempDir(), "test.lock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lease.Release() })
	return c, docker.Spec{
		Image: image, User: "1000:1000", WorkingDir: "/tmp", Labels: lease.Labels(),
		MemoryMB: 64, CPUs: 1, Pids: 64,
	}
}
