package mcpproxy

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/sandbox"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
)

// onStages puts the real filesystem server, in the real sandbox, behind the proxy. It
// serves the workspace alone, and everything else on stages.
func onStages(t testing.TB) func(*Config) {
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

func mustArgv(t testing.TB, d servers.Dir, name string) []string {
	t.Helper()
	argv, err := d.Argv(name)
	if err != nil {
		t.Fatal(err)
	}
	return argv
}

// approve decides the one waiting call for it.
func (r *harness) approve(number int) { r.t.Helper(); r.decide(number, true) }

// decide decides the one waiting call.
func (r *harness) decide(number int, approve bool) {
	r.t.Helper()
	item := r.pending(number)[number-1]
	if _, won, err := r.queue.Answer(item.ID, item.Digest, approval.Answer{Approve: approve, By: "tui", Effect: item.Fingerprint()}); !won || err != nil {
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

// gitOnStages is onStages for the real git server.
func gitOnStages(t *testing.T) func(*Config) {
	t.Helper()
	files := onStages(t)
	installed, err := servers.Install(t.Context(), cacheDir(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	return func(c *Config) {
		files(c)
		work := c.Servers[0].Staging.Open[0]
		c.Servers = append(c.Servers, sandbox.Spec{
			Name: "git", Argv: mustArgv(t, installed, "git"),
			Env:     map[string]string{"MCP_TRANSPORT_TYPE": "stdio", "MCP_LOG_LEVEL": "error", "GIT_BASE_DIR": work, "GIT_SIGN_COMMITS": "false"},
			Staging: &sandbox.Staging{Open: []string{work}, Whole: true, Base: "GIT_BASE_DIR"},
		})
	}
}

// gitBackend is git's own server of the repositories of a directory.
func gitBackend(t *testing.T, dir string) http.Handler {
	t.Helper()
	out, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	return &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(out)), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=somebody"},
	}
}

// gitHost serves the repositories of a directory over HTTP, for pushes, too.
func gitHost(t *testing.T, dir string) *url.URL {
	t.Helper()
	server := httptest.NewUnstartedServer(gitBackend(t, dir))
	var err error
	if server.Listener, err = net.Listen("tcp", "127.0.0.2:0"); err != nil { // 127.0.0.1 is the sandbox's own
		t.Fatal(err)
	}
	server.Start()
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=A", "-c", "user.email=a@example.invalid", "-c", "init.defaultBranch=main"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// An approved git call reaches the host that it names, and works in the repository that it
// names, though neither is open to the git server.
func TestAnApprovedGitCallTakesEffect(t *testing.T) {
	r := newHarness(t, gitOnStages(t))
	remotes := t.TempDir()
	git(t, remotes, "init", "-q", "--bare", "one.git")
	git(t, remotes, "-C", "one.git", "config", "http.receivepack", "true")
	host := gitHost(t, remotes)
	git(t, r.work, "init", "-q")
	git(t, r.work, "commit", "-q", "--allow-empty", "-m", "first")
	git(t, r.work, "remote", "add", "origin", host.String()+"/one.git")
	a := r.agent()
	n := 0
	approved := func(tool, arguments string) {
		t.Helper()
		n++
		a.send(callLine(fmt.Sprint(n), "git__"+tool, arguments))
		r.approve(1)
		if m := a.answerTo(fmt.Sprint(n)); m.isError() {
			t.Fatalf("%s: %s", tool, m.Result)
		}
	}
	approved("git_push", `{"path":"/workspace","remote":"origin","branch":"main"}`)
	if here, there := git(t, r.work, "rev-parse", "HEAD"), git(t, remotes, "-C", "one.git", "rev-parse", "main"); here != there {
		t.Errorf("%s was pushed and %s arrived", here, there)
	}
	if here := git(t, r.work, "rev-parse", "origin/main"); here != git(t, r.work, "rev-parse", "HEAD") {
		t.Errorf("the repository remembers %s", here)
	}
	clone := filepath.Join(r.outside, "clone")
	approved("git_clone", fmt.Sprintf(`{"url":%q,"path":%q}`, host.String()+"/one.git", clone))
	if got := git(t, clone, "log", "--format=%s"); got != "first" {
		t.Errorf("cloned %q", got)
	}
	if err := os.WriteFile(filepath.Join(clone, "new"), []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	approved("git_add", fmt.Sprintf(`{"path":%q,"paths":["new"]}`, clone))
	if got := git(t, clone, "status", "--short"); got != "A  new" {
		t.Errorf("added: %q", got)
	}
}

// Calls of several places that are approved, denied and taken back in any order each get
// their own end, and leave neither a process nor a stage.
func TestCallsOutsideInAnyOrder(t *testing.T) {
	var stages string
	staged := onStages(t)
	r := newHarness(t, func(c *Config) {
		staged(c)
		stages = c.StageDir
	})
	const calls = 12
	ends := make(chan string, calls) // must-deliver, one for each call
	for i := range calls {
		dir := filepath.Join(r.outside, fmt.Sprint("d", i%3))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, fmt.Sprint("f", i))
		a := r.agent()
		a.send(callLine("1", "filesystem__write_file", fmt.Sprintf(`{"path":%q,"content":"x"}`, path)))
		item := r.pending(1)[0]
		switch i % 4 {
		case 0:
			_ = a.conn.Close()
			r.pending(0)
			ends <- "taken back"
			continue
		case 1:
			if _, _, err := r.queue.Decide(item.ID, item.Digest, false, "tui", ""); err != nil {
				t.Fatal(err)
			}
		default:
			r.approve(1)
		}
		go func() {
			m := a.answerTo("1")
			if m.isError() == reads(path, "x") {
				ends <- fmt.Sprintf("call %d: %s", i, m.Result)
				return
			}
			ends <- ""
		}()
	}
	for range calls {
		if end := <-ends; end != "" && end != "taken back" {
			t.Error(end)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := r.proxy.Close(ctx); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(stages); err != nil || len(left) > 0 {
		t.Errorf("left in the directory of stages: %v, %v", left, err)
	}
}
