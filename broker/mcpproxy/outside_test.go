package mcpproxy

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/sandbox"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
)

// onStages puts the real filesystem server, in the real sandbox, behind the proxy. It
// serves the workspace alone, and everything else on stages.
func onStages(t *testing.T) func(*Config) {
	t.Helper()
	installed, err := servers.Install(t.Context(), cacheDir(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	return func(c *Config) {
		base := filepath.Dir(c.Servers[0].Env[stubVar])
		work, state := filepath.Join(base, "work"), filepath.Join(base, "closed")
		host, err := sandbox.New(t.Context(), sandbox.Options{
			Dir: work, Runtime: mustArgv(t, installed, "srt"), UserHome: base, StateHome: state, Programs: []string{installed.Path()},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = host.Close() })
		c.Sandbox, c.StageDir = host, filepath.Join(state, "stages")
		c.Servers = []sandbox.Spec{{Name: "filesystem", Argv: mustArgv(t, installed, "filesystem"), Roots: []string{work}, RootArgs: true, Staging: &sandbox.Staging{Open: []string{work}}}}
	}
}

func mustArgv(t *testing.T, d servers.Dir, name string) []string {
	t.Helper()
	argv, err := d.Argv(name)
	if err != nil {
		t.Fatal(err)
	}
	return argv
}

// approve decides the one waiting call for it.
func (r *harness) approve(number int) {
	r.t.Helper()
	item := r.pending(number)[number-1]
	if _, won, err := r.queue.Decide(item.ID, item.Digest, true, "tui", ""); !won || err != nil {
		r.t.Fatal(won, err)
	}
}

// An approved call outside the workspace takes effect, and only there.
func TestAnApprovedCallOutsideTakesEffect(t *testing.T) {
	r := newHarness(t, onStages(t))
	put := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(r.outside, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	old, script := put("old.txt", "one\ntwo\n", 0o640), put("script.sh", "#!/bin/sh\n", 0o755)
	secret := put(".ssh/config", "Host x\n", 0o600)
	put("tree/a/b.txt", "deep", 0o644)
	inside := filepath.Join(r.work, "mine.txt")
	if err := os.WriteFile(inside, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := r.agent()
	in := func(name string) string { return filepath.Join(r.outside, name) }
	for i, c := range []struct {
		tool, arguments, says string
		holds                 func() bool
	}{
		{"write_file", fmt.Sprintf(`{"path":%q,"content":"new"}`, in("new.txt")), "Successfully", func() bool { return reads(in("new.txt"), "new") }},
		{"write_file", fmt.Sprintf(`{"path":%q,"content":"exit"}`, script), "Successfully", func() bool {
			info, err := os.Stat(script)
			return err == nil && info.Mode().Perm() == 0o755 && reads(script, "exit")
		}},
		{"edit_file", fmt.Sprintf(`{"path":%q,"edits":[{"oldText":"two","newText":"three"}]}`, old), "+three", func() bool { return reads(old, "one\nthree\n") }},
		{"read_text_file", fmt.Sprintf(`{"path":%q}`, secret), "Host x", nil},
		{"create_directory", fmt.Sprintf(`{"path":%q}`, in("x/y/z")), "Successfully", func() bool {
			info, err := os.Stat(in("x/y/z"))
			return err == nil && info.IsDir()
		}},
		{"directory_tree", fmt.Sprintf(`{"path":%q}`, in("tree")), "b.txt", nil},
		{"move_file", fmt.Sprintf(`{"source":%q,"destination":%q}`, inside, in("moved.txt")), "Successfully", func() bool {
			_, err := os.Lstat(inside)
			return err != nil && reads(in("moved.txt"), "mine")
		}},
		{"move_file", fmt.Sprintf(`{"source":%q,"destination":%q}`, in("tree"), filepath.Join(r.work, "tree")), "Successfully", func() bool {
			return reads(filepath.Join(r.work, "tree/a/b.txt"), "deep")
		}},
		{"read_multiple_files", fmt.Sprintf(`{"paths":[%q,%q]}`, old, script), "three", nil},
	} {
		id := fmt.Sprint(i + 1)
		a.send(callLine(id, "filesystem__"+c.tool, c.arguments))
		r.approve(1)
		if m := a.answerTo(id); m.isError() || !strings.Contains(m.text(), c.says) {
			t.Errorf("%s: %s", c.tool, m.Result)
		} else if c.holds != nil && !c.holds() {
			t.Errorf("%s %s has no effect", c.tool, c.arguments)
		}
	}
	if left, err := filepath.Glob(filepath.Join(r.outside, ".ironcurtain-*")); err != nil || left != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func reads(path, want string) bool {
	data, err := os.ReadFile(path)
	return err == nil && string(data) == want
}
