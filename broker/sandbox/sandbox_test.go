package sandbox

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// installed is the real sandbox runtime from the cache.
func installed(t *testing.T) []string {
	t.Helper()
	dir, err := servers.Install(t.Context(), cacheDir(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	argv, err := dir.Argv("srt")
	if err != nil {
		t.Fatal(err)
	}
	return argv
}

func cacheDir(t *testing.T) string {
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

// ground is a home with secrets and a session's directory inside the state.
type ground struct{ home, state, session, outside string }

func lay(t *testing.T) ground {
	t.Helper()
	home := t.TempDir()
	g := ground{home: home, state: filepath.Join(home, ".ironcurtain")}
	g.session = filepath.Join(g.state, "sessions", "s1", "sandbox")
	g.outside = filepath.Join(g.state, "demo", "outside")
	for _, dir := range []string{g.session, g.outside, filepath.Join(home, ".ssh")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range map[string]string{
		filepath.Join(home, ".ssh", "id"): "private", filepath.Join(g.state, "config.json"): "config",
		filepath.Join(g.outside, "notes.txt"): "notes", filepath.Join(g.session, "hello"): "hello",
		filepath.Join(home, "plain"): "plain", filepath.Join(home, ".netrc"): "login",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

// shell runs a script as a server and returns what it prints.
func shell(t *testing.T, h *Host, s servers.Sandbox, script string, env map[string]string) (string, *Process) {
	t.Helper()
	p, err := h.Start(t.Context(), Spec{Name: "probe", Argv: []string{"/bin/bash", "-c", script}, Env: env, Sandbox: s})
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(p.Stdout())
	if err != nil {
		t.Fatal(err)
	}
	p.Stop()
	return string(out), p
}

func host(t *testing.T, g ground, o Options) *Host {
	t.Helper()
	o.Dir, o.UserHome, o.StateHome = g.session, g.home, g.state
	h, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

func TestConfinement(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-not-for-servers")
	g := lay(t)
	h := host(t, g, Options{Runtime: installed(t)})
	script := fmt.Sprintf(`
r() { if cat "$2" >/dev/null 2>&1; then echo "$1=yes"; else echo "$1=no"; fi; }
w() { if (: > "$2") 2>/dev/null; then echo "$1=yes"; else echo "$1=no"; fi; }
r read-session '%[1]s/hello'; w write-session '%[1]s/new'
r read-outside '%[2]s/notes.txt'; w write-outside '%[2]s/new'
r read-ssh '%[3]s/.ssh/id'; r read-config '%[4]s/config.json'; r read-home '%[3]s/plain'; [ -s '%[3]s/.netrc' ] && echo read-login=yes || echo read-login=no
w write-home '%[3]s/new'; w write-state '%[4]s/new'; w write-cwd ./new; w write-tmpdir "$TMPDIR/new"
[ -e "/proc/%[5]d/environ" ] && echo host-process=yes || echo host-process=no
env | grep -c -E 'ANTHROPIC|sk-not' | sed 's/^/leaks=/'; echo "own=$OWN"; echo "home=$HOME"`,
		g.session, g.outside, g.home, g.state, os.Getpid())
	out, p := shell(t, h, servers.Sandbox{Filesystem: servers.Filesystem{AllowWrite: []string{g.outside}}}, script, map[string]string{"OWN": "mine"})
	want := []string{
		"read-session=yes", "write-session=yes", "read-outside=yes", "write-outside=yes",
		"read-ssh=no", "read-config=no", "read-home=yes", "read-login=no", "write-home=no",
		"write-cwd=yes", "write-tmpdir=yes", "leaks=0", "own=mine", "home=" + g.home,
	}
	for _, line := range want {
		t.Run(line, func(t *testing.T) {
			if !strings.Contains(out, line+"\n") {
				t.Errorf("%s does not hold", line)
			}
		})
	}
	if _, err := os.Lstat(filepath.Join(g.state, "new")); err == nil {
		t.Error("the program's state was written to")
	}
	if t.Failed() {
		t.Logf("output:\n%s\nerrors:\n%s", out, p.Stderr())
	}
	if !p.Sandboxed() || len(p.Probes()) != 2 {
		t.Errorf("sandboxed %v, probes %v", p.Sandboxed(), p.Probes())
	}
	for _, probe := range p.Probes() {
		if !probe.Blocked {
			t.Errorf("probe %q got through", probe.Name)
		}
	}
}

func TestDefaultsHideWhatIsNotListed(t *testing.T) {
	g := lay(t)
	h := host(t, g, Options{Runtime: installed(t)})
	out, _ := shell(t, h, servers.Sandbox{}, fmt.Sprintf(
		`cat '%[1]s/notes.txt' 2>/dev/null && echo leaked; (: > '%[1]s/x') 2>/dev/null; echo end`, g.outside), nil)
	if out != "end\n" {
		t.Errorf("output %q", out)
	}
	if _, err := os.Lstat(filepath.Join(g.outside, "x")); err == nil {
		t.Error("a directory that is not listed was written to")
	}
}

func TestOptOutRunsPlain(t *testing.T) {
	g := lay(t)
	h := host(t, g, Options{Runtime: installed(t)})
	out, p := shell(t, h, servers.Sandbox{Off: true}, "cat "+quote([]string{filepath.Join(g.home, ".ssh", "id")}), nil)
	if out != "private" || p.Sandboxed() {
		t.Errorf("output %q, sandboxed %v", out, p.Sandboxed())
	}
}

func TestWithoutARuntime(t *testing.T) {
	g := lay(t)
	if _, err := New(t.Context(), Options{Dir: g.session, Policy: Enforce}); err == nil {
		t.Fatal("enforce accepted a machine without a sandbox")
	} else if !strings.Contains(err.Error(), `sandboxPolicy is "enforce", but sandboxing is unavailable`) {
		t.Errorf("the refusal says %q", err)
	}
	var warning string
	h := host(t, g, Options{Policy: Warn, Warn: func(s string) { warning = s }})
	out, p := shell(t, h, servers.Sandbox{}, "echo ran", nil)
	if out != "ran\n" || p.Sandboxed() || !strings.Contains(warning, "[sandbox] WARNING") || !strings.Contains(warning, "run without OS containment") {
		t.Errorf("output %q, sandboxed %v, warning %q", out, p.Sandboxed(), warning)
	}
}

func TestASandboxThatDoesNotHoldIsRefused(t *testing.T) {
	g := lay(t)
	leaky := filepath.Join(t.TempDir(), "srt")
	// A runtime that confines nothing.
	if err := os.WriteFile(leaky, []byte("#!/bin/bash\nexec bash -c \"$4\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	spec := Spec{Name: "leaky", Argv: []string{"/bin/cat"}}
	h := host(t, g, Options{Runtime: []string{leaky}})
	if p, err := h.Start(t.Context(), spec); err == nil {
		p.Stop()
		t.Fatal("it was started")
	} else if !strings.Contains(err.Error(), "failed its test") {
		t.Fatal(err)
	}
	h = host(t, g, Options{Runtime: []string{leaky}, Policy: Warn})
	p, err := h.Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	for _, probe := range p.Probes() {
		if probe.Blocked {
			t.Errorf("probe %q is said to be blocked", probe.Name)
		}
	}
}

// A sandbox that could not be made by accident is made again; one that cannot be
// made at all is an error, and its server has not run.
func TestAccidentsAreTriedAgain(t *testing.T) {
	g := lay(t)
	for _, tt := range []struct {
		accidents int
		runs      bool
	}{{startTries - 1, true}, {startTries, false}} {
		t.Run(fmt.Sprint(tt.accidents), func(t *testing.T) {
			dir := t.TempDir()
			write := func(name, text string) string {
				path := filepath.Join(dir, name)
				if err := os.WriteFile(path, []byte("#!/bin/bash\n"+text+"\n"), 0o700); err != nil {
					t.Fatal(err)
				}
				return path
			}
			accident := fmt.Sprintf(`for n in {1..%d}; do if mkdir "$0.$n" 2>/dev/null; then echo 'a mount is gone' >&2; exit 1; fi; done`, tt.accidents)
			bwrap, err := exec.LookPath("bwrap")
			if err != nil {
				t.Fatal(err)
			}
			write("bwrap", accident+"\nexec "+bwrap+` "$@"`)
			srt := write("srt", accident+"\nexec bash -c \"$4\"")
			path := os.Getenv("PATH")
			t.Setenv("PATH", dir+":"+path)
			namespaces.Store(false)
			if err := available(t.Context(), []string{srt}); (err == nil) != tt.runs {
				t.Errorf("after %d accidents of bubblewrap: %v", tt.accidents, err)
			}
			t.Setenv("PATH", path)
			h := host(t, g, Options{Runtime: []string{srt}, Policy: Warn})
			p, err := h.Start(t.Context(), Spec{Name: "cat", Argv: []string{"/bin/cat"}})
			if err == nil {
				p.Stop()
			}
			if (err == nil) != tt.runs || err != nil && !strings.Contains(err.Error(), "before the server began: a mount is gone") {
				t.Errorf("after %d accidents of the runtime: %v", tt.accidents, err)
			}
		})
	}
}

func TestStopLeavesNothingBehind(t *testing.T) {
	g := lay(t)
	h := host(t, g, Options{Runtime: installed(t)})
	p, err := h.Start(t.Context(), Spec{Name: "stubborn", Argv: []string{"/bin/bash", "-c", `trap '' TERM; sleep 1000 & echo up; while :; do sleep 1000; done`}})
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(p.Stdout()).ReadString('\n'); err != nil || line != "up\n" {
		t.Fatal(line, err)
	}
	began := time.Now()
	p.Stop()
	if took := time.Since(began); took > time.Minute {
		t.Errorf("stopping took %v", took)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		left := processesNaming(t, h.scratch)
		if len(left) == 0 {
			tick.Stop()
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("left behind: %v", left)
		case <-tick.C:
		}
	}
}

// srt leaves sockets and directories among its temporary files when it is killed, as Stop does on a busy
// machine. They are in a directory that goes with it, which has a short path also if TMPDIR has not.
func TestAKilledSandboxLeavesNothing(t *testing.T) {
	for name, temp := range map[string]string{"short": os.TempDir(), "long": filepath.Join(t.TempDir(), strings.Repeat("long", 20))} {
		t.Run(name, func(t *testing.T) {
			if err := os.MkdirAll(temp, 0o700); err != nil {
				t.Fatal(err)
			}
			t.Setenv("TMPDIR", temp)
			h := host(t, lay(t), Options{Runtime: installed(t)})
			files := func(pattern string) []string {
				found, err := filepath.Glob(filepath.Join(h.scratch, pattern))
				if err != nil {
					t.Fatal(err)
				}
				return found
			}
			p, err := h.Start(t.Context(), Spec{Name: "killed", Argv: []string{"/bin/cat"}})
			if err != nil {
				t.Fatal(err)
			}
			if len(files("t*/srt-mux-*")) == 0 || runtime.GOOS == "linux" && len(files("t*/claude-*")) == 0 {
				t.Errorf("the sandbox has its temporary files elsewhere: %v", files("*/*"))
			}
			if err := syscall.Kill(p.Pid(), syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			p.Stop()
			if left := files("t*"); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// processesNaming lists processes whose command line names a directory.
func processesNaming(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && strings.Contains(string(b), dir) {
			found = append(found, f)
		}
	}
	return found
}

func TestAnnotate(t *testing.T) {
	if got := Annotate("EROFS: read-only file system", true); !strings.HasPrefix(got, "[SANDBOX BLOCKED] ") {
		t.Error(got)
	}
	for _, c := range []struct {
		text string
		in   bool
	}{{"EPERM", false}, {"no such file", true}} {
		t.Run(c.text, func(t *testing.T) {
			if got := Annotate(c.text, c.in); got != c.text {
				t.Error(got)
			}
		})
	}
}
