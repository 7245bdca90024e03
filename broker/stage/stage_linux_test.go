package stage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// ground is a directory outside the workspace, and a stage.
type ground struct {
	t     *testing.T
	dir   string
	at    string // the stage's directory
	stage *Stage
}

func newGround(t *testing.T) *ground {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := t.TempDir()
	s, err := Open(at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return &ground{t, dir, at, s}
}

// path returns a path of the directory; on returns where the server finds it.
func (g *ground) path(name string) string { return filepath.Join(g.dir, name) }
func (g *ground) on(name string) string   { return filepath.Join(g.at, g.dir, name) }

func (g *ground) write(path, text string) {
	g.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		g.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		g.t.Fatal(err)
	}
}

func (g *ground) read(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return "error: " + err.Error()
	}
	return string(data)
}

// run plans and lays the accesses, lets the server do something, and commits.
func (g *ground) run(server func() error, accesses ...Access) error {
	g.t.Helper()
	p, err := New(accesses)
	if err != nil {
		return err
	}
	return g.perform(p, server)
}

// perform lays a plan, lets the server work on the stage, and commits.
func (g *ground) perform(p *Plan, server func() error) error {
	g.t.Helper()
	defer func() {
		if err := g.stage.Clear(g.t.Context()); err != nil {
			g.t.Error(err)
		}
	}()
	if err := g.stage.Prepare(p); err != nil {
		return err
	}
	if err := g.stage.Lay(g.t.Context(), p); err != nil {
		return err
	}
	if err := server(); err != nil {
		g.t.Fatal(err)
	}
	return g.stage.Commit(g.t.Context())
}

// Of all that a server does on the stage, only what the call is allowed to do takes effect.
func TestOnlyTheApprovedFileChanges(t *testing.T) {
	g := newGround(t)
	g.write(g.path("a/one"), "1")
	g.write(g.path("a/two"), "2")
	err := g.run(func() error {
		if got := g.read(g.on("a/one")); got != "1" {
			t.Errorf("the server reads %q", got)
		}
		if _, err := os.Lstat(g.on("a/two")); err == nil {
			t.Error("the server sees a file that the call does not name")
		}
		return errors.Join(os.WriteFile(g.on("a/one"), []byte("new"), 0o600), os.WriteFile(g.on("a/two"), []byte("new"), 0o600),
			os.WriteFile(g.on("a/three"), []byte("new"), 0o600), os.WriteFile(filepath.Join(g.at, "elsewhere"), nil, 0o600))
	}, Access{Path: g.path("a/one"), Write: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := g.read(g.path("a/one")) + g.read(g.path("a/two")); got != "new2" {
		t.Errorf("got %q", got)
	}
	if names, _ := os.ReadDir(g.path("a")); len(names) != 2 {
		t.Errorf("there are %v", names)
	}
}

// If a server does more with a file than the call may, all of it is refused.
func TestMoreThanWasApprovedIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		access Access
		server func(g *ground) error
		says   string
	}{
		"removed":  {Access{Write: true}, func(g *ground) error { return os.Remove(g.on("f")) }, "that was not allowed"},
		"a link":   {Access{Write: true}, func(g *ground) error { return errors.Join(os.Remove(g.on("f")), os.Symlink("/etc/passwd", g.on("f"))) }, "a link"},
		"a pipe":   {Access{Write: true}, func(g *ground) error { return errors.Join(os.Remove(g.on("f")), syscall.Mkfifo(g.on("f"), 0o600)) }, "a pipe"},
		"a folder": {Access{Write: true}, func(g *ground) error { return errors.Join(os.Remove(g.on("f")), os.Mkdir(g.on("f"), 0o700)) }, "left"},
		"changed":  {Access{Delete: true}, func(g *ground) error { return os.WriteFile(g.on("f"), []byte("new"), 0o600) }, "that was not allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGround(t)
			g.write(g.path("f"), "old")
			c.access.Path = g.path("f")
			if err := g.run(func() error { return c.server(g) }, c.access); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v", err)
			}
			if got := g.read(g.path("f")); got != "old" {
				t.Errorf("it is %q now", got)
			}
		})
	}
}

// A call that cannot take effect is an error of New, before anybody is asked.
func TestWhatCannotTakeEffectIsSaidBefore(t *testing.T) {
	g := newGround(t)
	g.write(g.path("f"), "text")
	if err := errors.Join(os.Symlink("f", g.path("link")), os.Mkdir(g.path("d"), 0o700), os.Symlink("d", g.path("dlink")), syscall.Mkfifo(g.path("pipe"), 0o600),
		os.WriteFile(g.path("large"), nil, 0o600), os.Truncate(g.path("large"), maxCopy+1)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path, says string
		access     Access
	}{
		{g.path("link"), "a link", Access{Write: true}},
		{g.path("dlink/new"), "is a link", Access{Write: true}},
		{g.path("f/new"), "is a file", Access{Write: true}},
		{g.path("pipe"), "a pipe", Access{Read: true}},
		{g.path("none"), "not exist", Access{Read: true}},
		{g.path("large"), "64 MiB", Access{Write: true}},
		{g.dir + "/d/../f", "not canonical", Access{Write: true}},
		{"relative", "not canonical", Access{Write: true}},
		{"/proc/self/environ", "devices and files of the kernel", Access{Read: true}},
		{"/dev/null", "devices and files of the kernel", Access{Write: true}},
		{"/name", "directly below /", Access{Write: true}},
	} {
		c.access.Path = c.path
		if _, err := New([]Access{c.access}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.path, err, c.says)
		}
	}
}

// A target that is replaced between judgment and effect is refused, and nothing is written anywhere.
func TestAnotherTargetIsRefused(t *testing.T) {
	swaps := map[string]func(g *ground) error{
		"a link": func(g *ground) error {
			return errors.Join(os.Remove(g.path("d/f")), os.Symlink("../other", g.path("d/f")))
		},
		"a pipe": func(g *ground) error {
			return errors.Join(os.Remove(g.path("d/f")), syscall.Mkfifo(g.path("d/f"), 0o600))
		},
		"another file": func(g *ground) error { return os.Rename(g.path("other"), g.path("d/f")) },
		"other text":   func(g *ground) error { return os.WriteFile(g.path("d/f"), []byte("meanwhile"), 0o600) },
		"gone":         func(g *ground) error { return os.Remove(g.path("d/f")) },
		"a linked place": func(g *ground) error {
			return errors.Join(os.Rename(g.path("d"), g.path("e")), os.Symlink("away", g.path("d")))
		},
		"another place": func(g *ground) error {
			return errors.Join(os.Rename(g.path("d"), g.path("e")), os.Rename(g.path("away"), g.path("d")))
		},
	}
	for name, swap := range swaps {
		for _, when := range []string{"before the server", "after the server"} {
			t.Run(name+" "+when, func(t *testing.T) {
				g := newGround(t)
				g.write(g.path("d/f"), "old")
				g.write(g.path("other"), "other")
				g.write(g.path("away/f"), "away")
				p, err := New([]Access{{Path: g.path("d/f"), Write: true}})
				if err != nil {
					t.Fatal(err)
				}
				if when == "before the server" {
					if err := swap(g); err != nil {
						t.Fatal(err)
					}
				}
				err = errors.Join(g.stage.Prepare(p), g.stage.Lay(t.Context(), p))
				if when == "after the server" {
					if err != nil {
						t.Fatal(err)
					}
					if err := errors.Join(os.WriteFile(g.on("d/f"), []byte("evil"), 0o600), swap(g)); err != nil {
						t.Fatal(err)
					}
					err = g.stage.Commit(t.Context())
				}
				if err == nil {
					t.Error("it went on")
				}
				g.nowhere("evil")
			})
		}
	}
}

// nowhere checks that no file contains a text.
func (g *ground) nowhere(text string) {
	g.t.Helper()
	err := filepath.WalkDir(g.dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && g.read(path) == text {
			g.t.Errorf("%s was written", path)
		}
		return err
	})
	if err != nil {
		g.t.Fatal(err)
	}
}

// While somebody swaps the target's directory a thousand times, the effect is in the judged
// directory or nowhere.
func TestASwappedDirectoryIsNeverWritten(t *testing.T) {
	g := newGround(t)
	g.write(g.path("d/f"), "old")
	g.write(g.path("away/f"), "away")
	worked, swaps, text := 0, 0, ""
	for i := range 1000 {
		p, err := New([]Access{{Path: g.path("d/f"), Write: true}})
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		var swapped sync.WaitGroup
		swapped.Go(func() { swaps += g.swapUntil(done) })
		next := fmt.Sprintf("text %d", i)
		err = g.perform(p, func() error { return os.WriteFile(g.on("d/f"), []byte(next), 0o600) })
		close(done)
		swapped.Wait()
		if err == nil {
			worked++
			text = next
		}
		if got := g.read(g.path("away/f")); got != "away" {
			t.Fatalf("it came to the other place: %q", got)
		}
	}
	if got := g.read(g.path("d/f")); worked > 0 && got != text {
		t.Errorf("after %d effects it is %q, want %q", worked, got, text)
	}
	if worked == 0 || worked == 1000 || swaps < 1000 {
		t.Errorf("%d of 1000 took effect during %d swaps, so the swaps came at the wrong moments", worked, swaps)
	}
}

// swapUntil replaces the directory d by a link and back until done is closed, at least once, and
// returns how often.
func (g *ground) swapUntil(done <-chan struct{}) int {
	for n := 1; ; n++ {
		err := errors.Join(os.Rename(g.path("d"), g.path("e")), os.Symlink("away", g.path("d")), os.Remove(g.path("d")), os.Rename(g.path("e"), g.path("d")))
		if err != nil {
			g.t.Error(err)
			return n
		}
		select {
		case <-done:
			return n
		case <-time.After(time.Duration(rand.IntN(300)) * time.Microsecond):
		}
	}
}

// A move to a path that somebody else has made meanwhile changes neither file.
func TestAMoveReplacesNothing(t *testing.T) {
	before := pseudo
	pseudo = nil // /dev/shm is the one file system that is sure to be another one
	t.Cleanup(func() { pseudo = before })
	for name, base := range map[string]string{"here": t.TempDir(), "another file system": "/dev/shm"} {
		t.Run(name, func(t *testing.T) {
			g := newGround(t)
			there, err := os.MkdirTemp(base, "stage")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(there) })
			for _, name := range []string{"f", "d"} {
				g.write(g.path("f"), "mine")
				g.write(g.path("d/f"), "mine")
				to := filepath.Join(there, name)
				err := g.run(func() error {
					g.write(filepath.Join(to, "f"), "theirs")
					return os.Rename(g.on(name), filepath.Join(g.at, to))
				}, Access{Path: g.path(name), Read: true, Delete: true}, Access{Path: to, Write: true})
				if err == nil {
					t.Errorf("%s was moved", name)
				}
				if got := g.read(filepath.Join(to, "f")) + g.read(g.path("f")) + g.read(g.path("d/f")); got != "theirsminemine" {
					t.Errorf("%s: %q", name, got)
				}
			}
		})
	}
	g := newGround(t)
	g.write(g.path("d/f"), "text")
	if _, err := New([]Access{{Path: g.path("d"), Delete: true}, {Path: g.path("d/sub"), Write: true}}); err == nil {
		t.Error("a directory would be moved into itself")
	}
}

// If a new file cannot be made, the directories that were made for it are removed.
func TestNothingIsLeftOfAFailure(t *testing.T) {
	g := newGround(t)
	ctx, cancel := context.WithCancel(t.Context())
	p, err := New([]Access{{Path: g.path("a/b/f"), Write: true}})
	if err := errors.Join(err, g.stage.Prepare(p), g.stage.Lay(ctx, p)); err != nil {
		t.Fatal(err)
	}
	g.write(g.on("a/b/f"), "text")
	cancel()
	if err := g.stage.Commit(ctx); err == nil {
		t.Error("it went on after it was cancelled")
	}
	if left, err := os.ReadDir(g.dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// Files and directories are moved, between file systems, too.
func TestMoves(t *testing.T) {
	away, err := os.MkdirTemp("/dev/shm", "stage")
	if err != nil {
		t.Fatal(err)
	}
	before := pseudo
	pseudo = nil // /dev/shm is the one file system that is sure to be another one
	t.Cleanup(func() {
		pseudo = before
		_ = os.RemoveAll(away)
	})
	for name, dest := range map[string]string{"here": "", "another file system": away} {
		t.Run(name, func(t *testing.T) {
			g := newGround(t)
			g.write(g.path("pipe/f"), "file")
			if err := syscall.Mkfifo(g.path("pipe/p"), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := New([]Access{{Path: g.path("pipe"), Delete: true}, {Path: filepath.Join(cmp.Or(dest, g.dir), "there"), Write: true}})
			if here := dest == ""; (err == nil) != here {
				t.Errorf("a directory with a pipe: %v", err)
			}
			if dest == "" {
				dest = g.path("there")
				if err := os.Mkdir(dest, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			g.write(g.path("f"), "file")
			g.write(g.path("d/a/b"), "deep")
			for _, name := range []string{"f", "d"} {
				to := filepath.Join(dest, name)
				err := g.run(func() error { return os.Rename(g.on(name), filepath.Join(g.at, to)) },
					Access{Path: g.path(name), Read: true, Delete: true}, Access{Path: to, Write: true})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := os.Lstat(g.path(name)); err == nil {
					t.Errorf("%s is still there", name)
				}
			}
			if got := g.read(filepath.Join(dest, "f")) + g.read(filepath.Join(dest, "d/a/b")); got != "filedeep" {
				t.Errorf("got %q", got)
			}
		})
	}
}
