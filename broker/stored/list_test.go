package stored

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

func noEngine(context.Context) (*docker.Client, error) {
	return nil, errors.New("the engine was asked for")
}

func TestStoredTellsWhoOwnsWhat(t *testing.T) {
	home := shortTemp(t)
	closed := storeSession(t, home, "claude-code", 2*time.Hour)
	owned := storeSession(t, home, "shell", time.Hour)
	killed := storeSession(t, home, "shell", time.Minute)
	lease, err := docker.AcquireLease(owned.Lock())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lease.Release() }()
	if err := os.MkdirAll(killed.Sockets(), 0o700); err != nil {
		t.Fatal(err)
	}
	conversation := filepath.Join(closed.Home(), ".claude/projects/-workspace", filepath.Base(closed.Dir)+".jsonl")
	if err := os.MkdirAll(filepath.Dir(conversation), 0o700); err != nil {
		t.Fatal(err)
	}
	lines := `{"type":"user","message":{"role":"user","content":"first"}}
{"type":"assistant","message":{"content":[{"type":"text","text":"yes"}]}}
{"type":"user","message":{"role":"user","content":"fix the\nparser \u001b[31m"}}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result"}]}}
`
	if err := os.WriteFile(conversation, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(home, "sessions", "not-a-session"), 0o700); err != nil {
		t.Fatal(err)
	}

	all, err := List(home, agent.Builtin())
	if err != nil || len(all) != 3 {
		t.Fatalf("%d sessions, %v", len(all), err)
	}
	byDir := map[string]Entry{}
	for _, s := range all {
		byDir[s.ID] = s
	}
	if s := all[0]; s.ID != ID(filepath.Base(killed.Dir)) || !s.Detached || s.Owned || s.State != StateClosed {
		t.Errorf("the killed one: %+v", s)
	}
	if s := all[1]; !s.Owned || s.Detached || s.State != StateIdle {
		t.Errorf("the owned one: %+v", s)
	}
	s := all[2]
	if s.Owned || s.Detached || !s.Begun || !strings.HasPrefix(s.LastPrompt, "fix the parser") {
		t.Errorf("the closed one: %+v", s)
	}
	for _, prefix := range []string{string(s.ID[:8]), s.ID} {
		if found, err := Find(home, prefix); err != nil || found.ID != s.ID {
			t.Errorf("%s: %v, %v", prefix, found.ID, err)
		}
	}
	running := all[1]
	all[1].Tab = 17
	words := []string{"#17"}
	if !slices.ContainsFunc(all, func(s Entry) bool { return strings.HasPrefix(s.ID, "17") }) { // else it could be that one
		words = append(words, "17")
	}
	for _, word := range words {
		if found, err := Among(all, word); err != nil || found.ID != running.ID {
			t.Errorf("tab %s: %v, %v", word, found.ID, err)
		}
	}
	for _, prefix := range []string{"", "zzz", "#7777"} {
		if _, err := Find(home, prefix); err == nil {
			t.Errorf("%q was found", prefix)
		}
	}
}

func TestRemoveStored(t *testing.T) {
	home := shortTemp(t)
	l := storeSession(t, home, "shell", time.Hour)
	id := ID(filepath.Base(l.Dir))
	// A module cache has directories that are closed to their owner.
	closed := filepath.Join(l.Home(), "go/pkg/mod")
	if err := os.MkdirAll(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(closed, "x"), nil, 0o400); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(closed, 0o500); err != nil {
		t.Fatal(err)
	}
	lease, err := docker.AcquireLease(l.Lock())
	if err != nil {
		t.Fatal(err)
	}
	if err := Remove(t.Context(), home, id, false, noEngine); err == nil || !strings.Contains(err.Error(), "open in a multiplexer") {
		t.Errorf("of an owned session: %v", err)
	}
	if err := lease.Release(); err != nil {
		t.Fatal(err)
	}
	if err := Remove(t.Context(), home, id, false, noEngine); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(filepath.Join(home, "sessions")); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	for _, bad := range []ID{id, "..", "../../etc", ""} {
		if err := Remove(t.Context(), home, bad, false, noEngine); err == nil {
			t.Errorf("%q was removed", bad)
		}
	}
}

// A session that was begun anew works in the sandbox of the former one, which stays
// for as long as that session does, whatever their age.
func TestTheSandboxOfAnotherSessionIsKept(t *testing.T) {
	home := shortTemp(t)
	first := storeSession(t, home, "shell", 73*time.Hour)
	again := storeSession(t, home, "shell", 72*time.Hour)
	rec, err := ReadRecord(again)
	if err != nil {
		t.Fatal(err)
	}
	rec.Workspace = RealPath(first.Sandbox())
	data, err := json.Marshal(rec)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(again.Record(), data, 0o600); err != nil { // it is used just now
		t.Fatal(err)
	}
	id, user := ID(filepath.Base(first.Dir)), filepath.Base(again.Dir)
	err = Remove(t.Context(), home, id, true, noEngine)
	if err == nil || !strings.Contains(err.Error(), user+" works in its directory") {
		t.Errorf("%v", err)
	}
	if removed, err := Retire(t.Context(), home, 48*time.Hour); err != nil || len(removed) != 0 {
		t.Errorf("retired %v, %v", removed, err)
	}
	if _, err := os.Stat(first.Sandbox()); err != nil {
		t.Error(err)
	}
	at := time.Now().Add(-72 * time.Hour)
	if err := os.Chtimes(again.Record(), at, at); err != nil {
		t.Fatal(err)
	}
	if removed, err := Retire(t.Context(), home, 48*time.Hour); err != nil || len(removed) != 2 {
		t.Errorf("retired %v, %v", removed, err)
	}
}

func TestRetireKeepsWhatIsUsed(t *testing.T) {
	home := shortTemp(t)
	old := storeSession(t, home, "shell", 72*time.Hour)
	recent := storeSession(t, home, "shell", time.Hour)
	killed := storeSession(t, home, "shell", 72*time.Hour)
	if err := os.MkdirAll(killed.Sockets(), 0o700); err != nil {
		t.Fatal(err)
	}
	if removed, err := Retire(t.Context(), home, 0); err != nil || len(removed) != 0 {
		t.Errorf("for ever: %v, %v", removed, err)
	}
	removed, err := Retire(t.Context(), home, 48*time.Hour)
	if err != nil || len(removed) != 1 || string(removed[0]) != filepath.Base(old.Dir) {
		t.Errorf("removed %v, %v", removed, err)
	}
	for _, l := range []Layout{recent, killed} {
		if _, err := os.Stat(l.Record()); err != nil {
			t.Error(err)
		}
	}
}

// An agent has made directories inside each other by the thousand, in its home and
// where a file of ours is replaced when the session begins: the session begins, ends and
// is removed all the same, with few descriptors, and stops when it is told to.
func TestDeepDirectoriesGo(t *testing.T) {
	home := shortTemp(t)
	l := storeSession(t, home, "shell", time.Hour)
	nest(t, l.Home())
	nest(t, filepath.Join(l.Home(), ".claude/settings.json.new"))
	if err := l.Write(t.Context(), []agent.File{{Path: ".claude/settings.json", Mode: 0o600}}, ContainerUser()); err != nil {
		t.Error(err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	id := ID(filepath.Base(l.Dir))
	if err := Remove(stopped, home, id, false, noEngine); !errors.Is(err, context.Canceled) {
		t.Errorf("it did not stop: %v", err)
	}
	if err := Remove(t.Context(), home, id, false, noEngine); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(l.Dir); !os.IsNotExist(err) {
		t.Errorf("left: %v", err)
	}
}

// nest makes directories inside each other below dir, whose path is longer than the
// system takes.
func nest(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	in, err := os.OpenRoot(dir)
	for range 3000 {
		var below *os.Root
		if err == nil {
			err = in.Mkdir("d", 0o700)
		}
		if err == nil {
			below, err = in.OpenRoot("d")
		}
		if err != nil {
			t.Fatal(err)
		}
		_ = in.Close()
		in = below
	}
	_ = in.Close()
}
