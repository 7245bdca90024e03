package session

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/sandbox"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/alone"
)

// The real git server, with the environment that sessions give it, makes the
// commit of a merge: it has no key to sign with, and does not try.
func TestTheGitServerMergesWithoutAKey(t *testing.T) {
	dir := t.TempDir()
	shell(t, dir, `git init -q -b main . && git config user.name A && git config user.email a@example.org
echo a >a && git add a && git commit -qm first && git checkout -qb side && echo b >b && git add b && git commit -qm second
git checkout -q main && echo c >c && git add c && git commit -qm third`)
	callGitServer(t, gitServer(t, dir), fmt.Sprintf(`{"name":"git_merge","arguments":{"path":%q,"branch":"side","noFastForward":true,"message":"both"}}`, dir))
	shell(t, dir, `test "$(git log -1 --format=%s)" = both && git rev-parse -q --verify HEAD^2 >/dev/null && test -f b`)
}

// Reading a repository takes no lock, so a call that reads its state does not make a
// simultaneous call that changes it fail.
func TestTheGitServerLooksWithoutALock(t *testing.T) {
	dir := t.TempDir()
	shell(t, dir, `git init -q -b main . && echo a >a && git add a && touch -d yesterday a`) // the index is out of date now
	before, err := os.Stat(filepath.Join(dir, ".git", "index"))
	if err != nil {
		t.Fatal(err)
	}
	callGitServer(t, gitServer(t, dir), fmt.Sprintf(`{"name":"git_status","arguments":{"path":%q}}`, dir))
	after, err := os.Stat(filepath.Join(dir, ".git", "index"))
	if err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(before, after) {
		t.Error("the index has been locked and written anew")
	}
}

// gitServer starts the real git server on a workspace, in its sandbox.
func gitServer(t *testing.T, dir string) *sandbox.Process {
	t.Helper()
	cache := os.Getenv("IRONCURTAIN_CACHE")
	if cache == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(base, "ironcurtain-mux")
	}
	installed, err := servers.Install(t.Context(), cache, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &Session{deps: testDeps(t, Config{}), fixed: stored.Session{Workspace: dir}}
	specs, err := s.toolServers(installed)
	if err != nil {
		t.Fatal(err)
	}
	runtime, err := installed.Argv("srt")
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	host, err := sandbox.New(t.Context(), sandbox.Options{
		Dir: dir, Runtime: runtime, UserHome: home, StateHome: filepath.Join(home, "state"), Readable: []string{installed.Path()},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = host.Close() })
	for _, spec := range specs {
		if spec.Name != "git" {
			continue
		}
		p, err := host.Start(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Stop)
		return p
	}
	t.Fatal("there is no git server")
	return nil
}

// callGitServer is askGitServer for a call that must succeed.
func callGitServer(t *testing.T, p *sandbox.Process, params string) {
	t.Helper()
	if answer := askGitServer(t, p, params); strings.Contains(answer, `"isError":true`) || strings.Contains(answer, `"success":false`) || !strings.Contains(answer, `"result"`) {
		t.Fatalf("the call failed: %s", answer)
	}
}

// askGitServer shakes hands with a server, makes one call and returns the answer.
func askGitServer(t *testing.T, p *sandbox.Process, params string) string {
	t.Helper()
	lines := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"m","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":` + params + "}\n"
	if _, err := io.WriteString(p.Stdin(), lines); err != nil {
		t.Fatal(err)
	}
	for answers := json.NewDecoder(p.Stdout()); ; {
		var raw json.RawMessage
		if err := answers.Decode(&raw); err != nil {
			t.Fatalf("%v: %s", err, p.Stderr())
		}
		var m struct{ ID json.RawMessage }
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatal(err)
		}
		if string(m.ID) == "2" {
			return string(raw)
		}
	}
}

// A commit of a few objects can stand for a billion files. Whatever call is made on such
// a commit, the git server stays within its memory limit.
func TestTheGitServerIsBounded(t *testing.T) {
	if !alone.Run(t) {
		return
	}
	dir := t.TempDir()
	script := `git init -q -b main . && git config user.name A && git config user.email a@example.org && git commit -q --allow-empty -m first
id=$(echo x | git hash-object -w --stdin); tree=$(for i in $(seq 1000); do printf '100644 blob %s\tf%d\n' $id $i; done | git mktree)
`
	script += strings.Repeat("tree=$(for i in 0 1 2 3 4 5 6 7 8 9; do printf '040000 tree %s\\t%d\\n' $tree $i; done | git mktree)\n", 6)
	shell(t, dir, script+"git branch bomb $(git commit-tree -p HEAD -m bomb $tree)")
	p := gitServer(t, dir)
	if answer := askGitServer(t, p, fmt.Sprintf(`{"name":"git_merge","arguments":{"path":%q,"branch":"bomb"}}`, dir)); !strings.Contains(answer, "emory") {
		t.Errorf("got %.2000s", answer)
	}
	p.Stop()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &used); err != nil || used.Maxrss > 300<<10 {
		t.Errorf("a process took %d kB, %v", used.Maxrss, err)
	}
}
