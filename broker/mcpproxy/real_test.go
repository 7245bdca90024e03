package mcpproxy

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/sandbox"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
)

// cacheDir is where the real servers are kept between runs.
func cacheDir(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("IRONCURTAIN_CACHE"); dir != "" {
		return dir
	}
	base, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(base, "ironcurtain-mux")
}

// realServers puts the servers of the product, in the real sandbox, behind
// the proxy.
func realServers(t *testing.T) func(*Config) {
	t.Helper()
	installed, err := servers.Install(t.Context(), cacheDir(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	argv := func(name string, more ...string) []string {
		a, err := installed.Argv(name)
		if err != nil {
			t.Fatal(err)
		}
		return append(a, more...)
	}
	return func(c *Config) {
		stub := c.Servers[0].Env[stubVar]
		base := filepath.Dir(stub)
		work, outside := filepath.Join(base, "work"), filepath.Join(base, "outside")
		host, err := sandbox.New(t.Context(), sandbox.Options{
			Dir: work, Runtime: argv("srt"), UserHome: base, StateHome: filepath.Join(base, "closed"), Readable: []string{installed.Path()},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = host.Close() })
		c.Sandbox = host
		c.Servers = []sandbox.Spec{
			{
				Name: "filesystem", Argv: argv("filesystem", work, outside, "/etc"),
				Sandbox: servers.Sandbox{Filesystem: servers.Filesystem{AllowWrite: []string{outside}}},
			},
			{Name: "git", Argv: argv("git"), Env: map[string]string{"MCP_TRANSPORT_TYPE": "stdio", "MCP_LOG_LEVEL": "error"}},
			{Name: "everything", Argv: argv("everything")},
		}
	}
}

func TestRealServersInRealSandboxes(t *testing.T) {
	r := newHarness(t, realServers(t))
	if out, err := exec.Command("git", "init", "-q", r.work).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	a := r.agent()
	if m := a.call("1", "filesystem__write_file", `{"path":"/workspace/hello.txt","content":"hello"}`); m.isError() || !strings.Contains(m.text(), "/workspace/hello.txt") {
		t.Fatalf("write: %s", m.Result)
	}
	if data, err := os.ReadFile(filepath.Join(r.work, "hello.txt")); err != nil || string(data) != "hello" {
		t.Fatalf("on disk: %q, %v", data, err)
	}
	if m := a.call("2", "git__git_status", `{"path":"/workspace"}`); m.isError() || !strings.Contains(m.text(), "hello.txt") {
		t.Fatalf("git: %s", m.Result)
	}
	// Outside, a person decides, unless the sandbox would not let it happen.
	path := filepath.Join(r.outside, "new.txt")
	a.send(callLine("3", "filesystem__write_file", fmt.Sprintf(`{"path":%q,"content":"x"}`, path)))
	r.approve(1)
	if m := a.answerTo("3"); m.isError() || !reads(path, "x") {
		t.Errorf("outside: %s", m.Result)
	}
	beyond := filepath.Join(r.dir, "beyond.txt")
	if m := a.call("5", "filesystem__write_file", fmt.Sprintf(`{"path":%q,"content":"x"}`, beyond)); !m.isError() || !strings.Contains(m.text(), ruleFutile) || reads(beyond, "x") {
		t.Errorf("beyond the sandbox: %s", m.Result)
	}
	// Tools without annotations are not offered, whatever the server does.
	if m := a.call("4", "everything__echo", `{"message":"x"}`); !m.isError() {
		t.Errorf("everything: %s", m.Result)
	}
	for _, d := range r.decisions() {
		if (d.Decision == audit.Allow || d.Decision == audit.EscalatedApproved) && !d.Sandboxed {
			t.Errorf("not sandboxed: %s", d.Raw)
		}
	}
}
