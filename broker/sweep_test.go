package broker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// Sweep knows at once, from the disk, whether something was left. LeftRunning has to wait
// for the engine, and only taking a session back waits for LeftRunning.
func TestSweepWaitsForNobody(t *testing.T) {
	home := shortTemp(t)
	silent, err := net.Listen("unix", filepath.Join(home, "engine.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close() // it takes connections and never answers
	t.Setenv("DOCKER_HOST", "unix://"+silent.Addr().String())
	killed := stored.LayoutOf(home, "22222222-2222-4222-8222-222222222222")
	for _, left := range []bool{false, true} {
		if left {
			if err := killed.Make(stored.ContainerUser()); err != nil {
				t.Fatal(err)
			}
		}
		b, err := New(Config{Home: home, DefaultAgent: "shell", MaxSessions: 1, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		if got := b.Sweep(); got != left {
			t.Errorf("something was left: %v, want %v", got, left)
		}
		if err := b.CheckAgent(t.Context(), "shell"); err != nil {
			t.Errorf("an engine that is only slow: %v", err)
		}
		impatient, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := b.Open(impatient, OpenRequest{Resume: "22222222-2222-4222-8222-222222222222"}); !errors.Is(err, context.Canceled) {
			t.Errorf("taken back in the middle of the sweep: %v", err)
		}
		if err := b.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		if ids, err := b.LeftRunning(t.Context()); len(ids) != 0 || err != nil {
			t.Errorf("after a sweep without an answer: %v, %v", ids, err)
		}
	}
}

// The next start names the sessions that ended before the work in their worktrees was
// brought back, also to a user interface that subscribes later.
func TestUnsettledWorktreesAreTold(t *testing.T) {
	home := shortTemp(t)
	for i := range unsettledNamed + 3 {
		id := fmt.Sprintf("%d2222222-2222-4222-8222-222222222222", i)
		l := stored.LayoutOf(home, id)
		record := fmt.Sprintf(`{"id":%q,"agent":"shell"}`, id)
		err := errors.Join(os.MkdirAll(l.Dir, 0o700), os.WriteFile(l.Record(), []byte(record), 0o600))
		if i > 0 { // the first one was settled
			err = errors.Join(err, os.WriteFile(l.Unsettled(), nil, 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	b, err := New(Config{Home: home, DefaultAgent: "shell", MaxSessions: 1, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	b.removeUnused()
	e := <-b.hub.subscribe(t.Context())
	if e.Notice == nil || strings.Count(e.Notice.Text, "2222222") != unsettledNamed || strings.Contains(e.Notice.Text, "02222222") || !strings.Contains(e.Notice.Text, "2 more") {
		t.Errorf("got %+v", e.Notice)
	}
	if err := b.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// A start removes the volumes of sessions of its home that are gone, and no others.
func TestSweepRemovesVolumes(t *testing.T) {
	home := shortTemp(t)
	at, err := docker.Choice{}.Resolve(os.Getenv, "/")
	if err != nil {
		t.Fatal(err)
	}
	engine, err := docker.Connect(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	volume := func(home string) string {
		id, err := stored.NewID()
		if err != nil {
			t.Fatal(err)
		}
		name := "ironcurtain-" + id[:8] + id[9:13] + "-home"
		t.Cleanup(func() { _ = engine.RemoveVolume(context.Background(), name) })
		labels := map[string]string{docker.LabelHost: host, docker.LabelLease: stored.LayoutOf(home, id).Lock(), stored.LabelSession: id}
		if err := engine.CreateVolume(t.Context(), name, labels); err != nil {
			t.Fatal(err)
		}
		return name
	}
	gone, others := volume(home), volume(shortTemp(t))
	b, err := New(Config{Home: home, DefaultAgent: "shell", MaxSessions: 1, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	b.Sweep()
	if _, err := b.LeftRunning(t.Context()); err != nil {
		t.Error(err)
	}
	if err := b.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	list, err := engine.Volumes(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	left := map[string]bool{}
	for _, v := range list {
		left[v.Name] = true
	}
	if left[gone] || !left[others] {
		t.Errorf("the volume of a session that is gone is there: %v, that of another home: %v", left[gone], left[others])
	}
}
