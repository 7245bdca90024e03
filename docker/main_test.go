package docker

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// roleVariable makes the test binary play another process; see TestMain.
const roleVariable = "IRONCURTAIN_DOCKER_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "connect": // as somebody else: print what Connect says
		_, err := Connect(context.Background(), Endpoint{Address: os.Args[1], Source: "test"})
		fmt.Print(err)
		fmt.Print(" | ", fault.Hint(err))
		os.Exit(0)
	case "lease": // hold a lease until killed
		if _, err := AcquireLease(os.Args[1]); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("held")
		select {}
	}
	goleak.VerifyTestMain(m)
}

// patience is how long tests wait for the engine. Only a failing test takes so long.
const patience = 2 * time.Minute

// connect returns a client of the machine's real engine.
func connect(t testing.TB) *Client {
	t.Helper()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	e, err := Choice{}.Resolve(os.Getenv, home)
	if err != nil {
		t.Fatal(err)
	}
	ctx := deadline(t, patience)
	c, err := Connect(ctx, e)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// testRecipe is that of a new config.json, so that the tests share the agents' images.
var testRecipe = Recipe{Toolchains: []string{"build", "node", "python"}}

var ensureOnce sync.Map

// image returns the tag of a real image, built now when it is not there.
func image(t testing.TB, c *Client, name string) string {
	t.Helper()
	if tag, ok := ensureOnce.Load(name); ok {
		return tag.(string)
	}
	home, _ := os.UserHomeDir()
	tag, err := c.EnsureImage(context.Background(), name, BuildOptions{
		CacheDir:   DefaultCacheDir(os.Getenv, home),
		Recipe:     testRecipe,
		OnProgress: func(p Progress) { t.Log(p) },
	})
	if err != nil {
		t.Fatal(err)
	}
	ensureOnce.Store(name, tag)
	return tag
}

// deadline returns a context that ends with the test or after d.
func deadline(t testing.TB, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

var labelCount atomic.Int64

// testLabel returns a label that only this test uses, and checks at the end that no
// container with it is left. It also returns the labels of a lease, because other tests
// remove ended containers without an owner.
func testLabel(t testing.TB, c *Client) map[string]string {
	t.Helper()
	lease, err := AcquireLease(filepath.Join(shortDir(t), "test.lock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lease.Release() })
	labels := lease.Labels()
	labels["ironcurtain.test"] = fmt.Sprintf("%s-%d-%d", strings.ReplaceAll(t.Name(), "/", "-"), os.Getpid(), labelCount.Add(1))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		c.cleanups.Wait()
		left, err := c.List(ctx, labels)
		if err != nil {
			t.Error(err)
		}
		for _, l := range left {
			t.Errorf("container %s (%s) is left behind", l.Name, l.State)
		}
		if err := c.RemoveLabeled(ctx, labels); err != nil {
			t.Error(err)
		}
	})
	return labels
}

// start runs a command in a hardened container, removed at the end.
func start(t testing.TB, c *Client, change func(*Spec), cmd ...string) *Container {
	t.Helper()
	s := Spec{
		Image: image(t, c, "shell"), Cmd: cmd, User: "1000:1000", WorkingDir: "/workspace",
		Labels: testLabel(t, c), MemoryMB: 512, CPUs: 1, Pids: 256, Cols: 120, Rows: 40,
		Env: []string{"TERM=xterm-256color"},
	}
	if change != nil {
		change(&s)
	}
	ct, err := c.Start(deadline(t, patience), s)
	if err != nil {
		t.Fatal(err)
	}
	// A test that waits for output that never comes fails, it does not hang.
	guard := time.AfterFunc(2*patience, func() { ct.Close() })
	t.Cleanup(func() {
		guard.Stop()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := ct.Remove(ctx); err != nil {
			t.Error(err)
		}
	})
	return ct
}

// eventually polls until ok returns true.
func eventually(t testing.TB, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	end := time.After(limit)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("%s: not within %s", what, limit)
		}
	}
}

// shortDir returns a directory with a path short enough for sockets.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ic")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	dir, err = filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
