package packs_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/packs"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/treesync"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/gitrun"
)

// A container's volume is filled over one connection, and again over another one.
func TestInto(t *testing.T) {
	s := open(t, repository(t, ""))
	server := treesync.NewServer(map[string]string{packs.Tree: s.dir})
	s.plan.Tips, s.plan.More = []string{s.tree.Base}, []string{s.id("v1")}
	for _, reused := range []bool{false, true} {
		host, container := net.Pipe()
		served := make(chan error, 1) // one value
		go func() { served <- server.Serve(t.Context(), container) }()
		c := treesync.NewClient(host)
		r, err := packs.Into(t.Context(), s.plan, c, s.work)
		if err != nil || r.Reused != reused || (r.Sent == 0) != reused {
			t.Errorf("got %+v, %v", r, err)
		}
		if err := errors.Join(c.Close(), <-served); err != nil {
			t.Error(err)
		}
	}
	s.works("2")
}

// When packs become too large, the context ends with an error that says what to do.
func TestBounded(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "pack"), make([]byte, 2000), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := packs.LimitSize(t.Context(), dir, 1000)
	<-ctx.Done()
	stop()
	if limit := (*gitrun.Limit)(nil); !errors.As(context.Cause(ctx), &limit) {
		t.Errorf("ended by %v", context.Cause(ctx))
	}
}

// Of two sessions that start at once, the second one sends nothing twice.
func TestTwoAtOnce(t *testing.T) {
	e := newEngine(t, filepath.Join(repository(t, ""), ".git"))
	e.plan.Tips = []string{e.id("main")}
	both := make(chan packs.Result, 2) // one value of each
	for range 2 {
		go func() {
			r, err := packs.Fill(t.Context(), e.plan, e.volume, e.work)
			if err != nil {
				t.Error(err)
			}
			both <- r
		}()
	}
	if one, two := <-both, <-both; one.Sent == 0 || two.Sent != 0 || one.Reused || !two.Reused {
		t.Errorf("got %+v and %+v", one, two)
	}
}

// Ready does not ask the volume, and compares only its identity.
func TestReady(t *testing.T) {
	dir := repository(t, "")
	e := newEngine(t, filepath.Join(dir, ".git"))
	e.plan.Volume = "first"
	for _, c := range []struct {
		name, script, volume string
		fill, ready          bool
	}{
		{"nothing was sent", "", "first", false, false},
		{"everything was sent", "", "first", true, true},
		{"another volume", "", "second", false, false},
		{"the first volume again", "", "first", false, true},
		{"a new commit", "echo three >>a; git commit -qam three", "first", false, false},
		{"which was sent", "", "first", true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			sh(t, dir, c.script)
			e.plan.Tips, e.plan.Volume = []string{e.id("main")}, c.volume
			if c.fill {
				if _, err := fillPlan(e); err != nil {
					t.Fatal(err)
				}
			}
			puts := len(e.puts)
			r, ready, err := packs.Ready(t.Context(), e.plan, e.work)
			if err != nil || ready != c.ready || r.Reused != c.ready || len(e.puts) != puts {
				t.Errorf("ready %v: %+v, %v", ready, r, err)
			}
			if left, _ := os.ReadDir(e.work); len(left) > 0 {
				t.Errorf("left in the scratch directory: %v", left)
			}
		})
	}
}
