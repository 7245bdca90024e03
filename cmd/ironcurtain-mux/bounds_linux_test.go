package main

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/worktree"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
)

// mostMemory is what the program and all that it starts may take more than when nothing
// happens, and mostTime what SIGTERM may take. On a busy machine that is mostSlower times
// what it takes when the agent did nothing. Other work on the machine comes and goes, so
// SIGTERM has mostTries tries: what waits for something of the agent's takes long each time.
const (
	mostMemory = 300 << 20
	mostTime   = 2 * time.Second
	mostSlower = 4
	mostTries  = 3
)

// bombs makes, of a few objects, trees that stand for a million and for a billion files.
const bombs = `cd /workspace; git config --global user.name m; git config --global user.email m@m
id=$(echo x | git hash-object -w --stdin); tree=$(for i in $(seq 1000); do printf '100644 blob %s\tf%d\n' $id $i; done | git mktree)
for n in 1 2 3 4 5 6; do tree=$(for i in 0 1 2 3 4 5 6 7 8 9; do printf '040000 tree %s\t%d\n' $tree $i; done | git mktree); [ $n != 3 ] || million=$tree; done
git branch bomb $(git commit-tree -p HEAD -m bomb $tree)
`

// history makes commits of which each takes git long to read, below a small one.
const history = `cd /workspace; tree=$(git rev-parse HEAD^{tree}); at=$(git rev-parse HEAD)
for i in $(seq 15); do at=$( (printf 'tree %s\nparent %s\nauthor m <m@m> 1 +0000\ncommitter m <m@m> 1 +0000\n\n' $tree $at
  head -c 80000000 /dev/zero | tr '\0' x) | git -c core.compression=1 hash-object -t commit -w --stdin); done
git update-ref HEAD $at; git -c user.name=m -c user.email=m@m commit -q --allow-empty -m small
`

// nests makes nested directories by the thousand.
const nests = `for at in ~ /workspace /workspace/.git/refs/heads; do (cd $at; perl -e 'for (1..5000) { mkdir "directory" and chdir "directory" or die $! }'); done
`

// flooding defines a function that makes so many calls over each of eight connections and
// reads no answer. In the parameters MANY stands for three million bytes. Of git, a session
// works on one call at a time.
const flooding = `flood() {
  for c in 1 2 3 4 5 6 7 8; do
    perl -e '$| = 1; my ($n, $params) = @ARGV; $params =~ s/MANY/"x" x 3000000/e;
      print qq({"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}\n);
      print qq({"jsonrpc":"2.0","method":"notifications/initialized"}\n);
      for (1..$n) { print qq({"jsonrpc":"2.0","id":$_,"method":"tools/call","params":$params}\n) or die } sleep 1000' "$1" "$2" | ironcurtain-mux-bridge mcp | sleep 1000 &
  done
}
exec >/tmp/flood 2>&1
`

// floodOf floods with calls of a tool.
func floodOf(calls int, tool, arguments string) string {
	return fmt.Sprintf("flood %d '{\"name\":%q,\"arguments\":%s}'\n", calls, tool, arguments)
}

// TestBounds has an agent make and send, from its container, what takes much memory of the
// host. Whatever it is, the memory of the program and all that it starts is bounded, SIGTERM
// ends it soon, and leaves the agent to the next one; that ends the agent, and the session can be
// removed.
func TestBounds(t *testing.T) {
	program := plainProgram(t)
	limit := max(mostTime, mostSlower*holdsBounds(t, program, ""))
	for name, script := range map[string]string{
		"index bomb": bombs + "git read-tree $million\n" + floodOf(1, "git__git_status", `{"path":"/workspace"}`) +
			floodOf(1, "git__git_diff", `{"path":"/workspace"}`),
		"tree bomb": bombs + floodOf(1, "git__git_checkout", `{"path":"/workspace","target":"bomb"}`) +
			floodOf(1, "git__git_diff", `{"path":"/workspace","target":"bomb"}`) + floodOf(1, "git__git_merge", `{"path":"/workspace","branch":"bomb"}`),
		"directories":       nests + floodOf(3, "filesystem__directory_tree", `{"path":"/workspace"}`),
		"bomb brought home": bombs + "git reset -q --soft bomb\n[ $(git rev-parse HEAD^{tree}) = $tree ]\n",
		"history":           history,
		"calls that wait":   floodOf(32, "filesystem__write_file", `{"path":"/srv/a","content":"MANY"}`),
		"mixed": bombs + "head -c 9000000 /dev/zero | tr '\\0' '\"' >a\n" + floodOf(32, "filesystem__write_file", `{"path":"/srv/a","content":"MANY"}`) +
			floodOf(3, "filesystem__write_file", `{"path":"/workspace/b","content":"MANY"}`) +
			floodOf(3, "filesystem__read_multiple_files", `{"paths":["/workspace/a","/workspace/a"]}`) +
			floodOf(1, "git__git_diff", `{"path":"/workspace","target":"bomb"}`),
		"git calls": bombs + "git read-tree $million\n" + floodOf(16, "git__git_log", `{"path":"/workspace"}`) +
			floodOf(16, "git__git_commit", `{"path":"/workspace","message":"x"}`),
	} {
		t.Run(name, func(t *testing.T) {
			for tries := 1; ; tries++ {
				took := holdsBounds(t, program, script)
				if took <= limit {
					return
				}
				if tries == mostTries {
					t.Fatalf("SIGTERM took %v, and more than %v each time before", took, limit)
				}
			}
		})
	}
}

// holdsBounds has an agent do that, and returns how long SIGTERM took meanwhile.
func holdsBounds(t *testing.T, program, script string) (took time.Duration) {
	t.Helper()
	home := newHome(t)
	repo := filepath.Join(home, "repo")
	newRepository(t, repo)
	if err := os.Chmod(home, 0o755); err != nil {
		t.Fatal(err)
	}
	toolAgent(t, home, map[string]any{"worktree": true})
	d, _ := driveServed(t, home, program, "demo", "--agent", "mine", "--workspace", repo)
	id := d.onlySession().ID
	d.toolCall(id, "git__git_status", `{"path":"/workspace"}`)
	d.toolCall(id, "filesystem__list_directory", `{"path":"/workspace"}`)
	pid, err := strconv.Atoi(d.note("pid"))
	if err != nil {
		t.Fatal(err)
	}
	idle, _ := resident(pid)
	before := len(d.recorded(id))
	peak := watchResident(t, pid)
	d.inside(id, flooding+script+"disown -a")
	for tool := range tools(script) {
		if !eventually(2*time.Minute, func() bool {
			return d.worked(id, before, tool) || tool == "write_file" && d.keepsCalls(id)
		}) {
			t.Errorf("no call of %s was worked on or waits", tool)
		}
	}
	peak.risen(t, 3*time.Second)
	began := time.Now()
	d.kill(syscall.SIGTERM)
	d.exit(2 * time.Minute)
	took = time.Since(began)
	most, whose := peak.stop()
	t.Logf("%d MB idle, %d MB more at most, ended in %v\n%s", idle>>20, (most-idle)>>20, took.Round(time.Millisecond), whose)
	if most-idle > mostMemory {
		t.Errorf("%d MB more than the %d MB when nothing happens", (most-idle)>>20, idle>>20)
	}
	if list := containersOf(t, id); len(list) != 1 || !list[0].Running {
		t.Errorf("containers after SIGTERM: %+v", list)
	}
	next := driveArgv(t, home, 130, 40, program, "serve")
	next.until("the daemon", patience, func(string) bool { return next.daemon() != 0 })
	_, text, code := d.command("stop", "--now")
	if code != cli.ExitOK {
		t.Errorf("stop --now exits %d: %s", code, text)
	}
	next.exit(2 * time.Minute)
	// Copies of an agent that is ended while it is taken back stay in its volumes until it is resumed.
	stays := copied() && strings.Contains(text, "leaves files of its agent in volumes of the engine at ")
	if strings.Contains(script, "reset") && !stays && !strings.Contains(text, "a commit has more than 500000 files") {
		t.Errorf("the bomb was not refused:\n%s", text)
	}
	if script == history && !strings.Contains(text, "stays as it is") && !strings.Contains(text, " commits on branch ") {
		t.Errorf("nothing is said of the commits:\n%s", text)
	}
	if _, errs, code := d.command("sessions", "rm", "--force", string(id)); code != cli.ExitOK {
		t.Errorf("remove: code %d, %s", code, errs)
	}
	d.traceless()
	return took
}

// driveServed starts a daemon that is framed, and a client that shows the prompt of a tab of it.
func driveServed(t *testing.T, home, program string, args ...string) (daemon, view *driver) {
	t.Helper()
	daemon = driveFramed(t, home, 130, 40, program, "serve")
	daemon.until("the daemon", patience, func(string) bool { return daemon.daemon() != 0 })
	view = driveArgv(t, home, 130, 40, append([]string{program}, args...)...)
	view.see(patience, "mine$")
	return daemon, view
}

// A signal is obeyed soon also by a program that is ending already, and takes its time for
// what an agent has left.
func TestSignalDuringTheEnd(t *testing.T) {
	home := newHome(t)
	repo := filepath.Join(home, "repo")
	newRepository(t, repo)
	if err := os.Chmod(home, 0o755); err != nil {
		t.Fatal(err)
	}
	toolAgent(t, home, map[string]any{"worktree": true})
	program := plainProgram(t)
	d, view := driveServed(t, home, program, "demo", "--agent", "mine", "--workspace", repo)
	id := d.onlySession().ID
	d.inside(id, history)
	view.send("\x01/quit!\r")
	if !eventually(patience, func() bool { return len(gitAtWork(d.home)) > 0 }) {
		t.Fatal("git is not at work at the end")
	}
	began := time.Now()
	d.kill(syscall.SIGTERM)
	d.exit(2 * time.Minute)
	if took := time.Since(began); took > mostSlower*mostTime || !strings.Contains(d.note("stderr"), worktree.ErrLate.Error()) {
		t.Errorf("it took %v:\n%s", took, d.note("stderr"))
	}
	next := driveArgv(t, home, 130, 40, program, "demo", "--agent", "mine", "--workspace", repo)
	next.see(patience, "there was no time left to bring back the work of "+string(id[:8])) // it is said again
	next.quit()
	d.traceless()
}

// gitAtWork are the environments of the runs of git that count commits below a directory.
func gitAtWork(dir string) []string {
	var found []string
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range all {
		line, _ := os.ReadFile(path) // a process that has ended meanwhile has none
		env, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "environ"))
		if strings.Contains(string(line), "rev-list") && strings.Contains(string(env), "GIT_DIR="+dir+"/") {
			found = append(found, string(env))
		}
	}
	return found
}

// tools are those that a script calls.
func tools(script string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, part := range strings.Split(script, `"name":"`)[1:] {
			name, _, _ := strings.Cut(part, `"`)
			if _, tool, _ := strings.Cut(name, "__"); !yield(tool) {
				return
			}
		}
	}
}

// worked tells whether a call of a tool was worked on, by what the audit has
// beyond its first bytes. Git must have run to its end.
func (d *driver) worked(id broker.SessionID, from int, tool string) bool {
	for line := range strings.Lines(d.recorded(id)[from:]) {
		_, after, _ := strings.Cut(line, `"decision":"`)
		decision, _, _ := strings.Cut(after, `"`)
		begun := decision == "allow" && !strings.HasPrefix(tool, "git_")
		if strings.Contains(line, `"tool":"`+tool+`"`) && (begun || decision == "done" || decision == "error") {
			return true
		}
	}
	return false
}

// keepsCalls tells whether a call waits, by what is kept of it on disk: there can be too much of
// it to ask for again and again.
func (d *driver) keepsCalls(id broker.SessionID) bool {
	kept, _ := os.ReadDir(d.state("sessions", id, "waiting")) // made with the first
	return len(kept) > 0
}

func (d *driver) recorded(id broker.SessionID) string {
	text, err := os.ReadFile(d.state("sessions", id, "audit.jsonl"))
	if err != nil {
		d.t.Fatal(err)
	}
	return string(text)
}

// peak is the most memory that processes had.
type peak struct {
	mu    sync.Mutex
	most  int64
	whose string
	since time.Time // when it was seen
	done  chan struct{}
	once  sync.Once
	wait  sync.WaitGroup
}

// watchResident looks at the memory of a process and of all below it until it is stopped, or the
// test ends.
func watchResident(t *testing.T, pid int) *peak {
	t.Helper()
	p := &peak{done: make(chan struct{}), since: time.Now()}
	t.Cleanup(func() { p.stop() })
	p.wait.Go(func() {
		again := time.NewTicker(50 * time.Millisecond)
		defer again.Stop()
		for {
			sum, whose := resident(pid)
			p.mu.Lock()
			if sum > p.most {
				p.most, p.whose, p.since = sum, whose, time.Now()
			}
			p.mu.Unlock()
			select {
			case <-p.done:
				return
			case <-again.C:
			}
		}
	})
	return p
}

// risen waits until the memory has not been more than before for so long.
func (p *peak) risen(t *testing.T, quiet time.Duration) {
	t.Helper()
	began := time.Now()
	if !eventually(2*time.Minute, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return time.Since(began) > quiet && time.Since(p.since) > quiet/2
	}) {
		t.Error("the memory rises without end")
	}
}

func (p *peak) stop() (most int64, whose string) {
	p.once.Do(func() { close(p.done) })
	p.wait.Wait()
	return p.most, p.whose
}

// resident is the memory of a process and of all below it, in which pages that they share
// count once, and who has more than 5 MB of it.
func resident(root int) (sum int64, whose string) {
	parents := map[int]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, _ := os.ReadFile(path) // a process that has ended meanwhile has none
		_, rest, _ := strings.Cut(string(text), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			parents[pid], _ = strconv.Atoi(fields[1])
		}
	}
	for pid := range parents {
		above := pid
		for above > 1 && above != root {
			above = parents[above]
		}
		if above != root {
			continue
		}
		rollup, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		_, rest, _ := strings.Cut(string(rollup), "\nPss:")
		if fields := strings.Fields(rest); len(fields) > 0 {
			kb, _ := strconv.ParseInt(fields[0], 10, 64)
			sum += kb << 10
			if kb > 5<<10 {
				line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
				whose += fmt.Sprintf("%d MB %.200q\n", kb>>10, strings.ReplaceAll(string(line), "\x00", " "))
			}
		}
	}
	return sum, whose
}
