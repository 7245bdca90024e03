package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker/fakeengine"
)

// elsewhere configures an agent with tools on an engine that does not see this machine's files.
func elsewhere(t *testing.T, home string, more map[string]any) {
	t.Helper()
	config := map[string]any{"engine": map[string]string{"files": "copied"}}
	for name, value := range more {
		config[name] = value
	}
	toolAgent(t, home, config)
}

// A path means the same file to the agent and to its tools, and a person's directory changes only
// when they say so.
func TestCopiedWorkspace(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	elsewhere(t, home, nil)
	work := workspaceOf(t, home)
	writeFile(t, filepath.Join(work, "old"), "from before\n")
	d := drive(t, home, 130, 40, "demo", "--agent", "mine", "--workspace", work)
	d.see(patience, "mine$", "files copied")
	id := d.onlySession().ID
	d.send("clear; cat old; id -u; echo by the a''gent >made; " + callTools(
		`filesystem__read_text_file {"path":"/workspace/made"}`,
		`filesystem__write_file {"path":"/workspace/written","content":"by the tool"}`,
	) + " >/dev/null; cat written; echo; echo over-$((1))\r")
	d.see(patience, "from before", "1000", "by the tool", "over-1")
	if answers := d.inside(id, "cat /tmp/tmp.*.out"); !strings.Contains(answers, "by the agent") {
		t.Errorf("the tool has not read what the agent wrote: %s", answers)
	}
	d.send("clear; rm old; echo more >>made; echo last-$((1))\r")
	d.see(patience, "last-1")
	if entries, err := os.ReadDir(work); err != nil || len(entries) != 1 {
		t.Errorf("the person's directory has changed: %v, %v", entries, err)
	}
	if out, errs, _ := d.command("doctor"); !regexp.MustCompile(`files +copied: .*; volumes [0-9.]+ (bytes|KB|MB) `).MatchString(out) {
		t.Errorf("doctor does not say how much the volumes hold: %s%s", out, errs)
	}
	d.landsFromOutside(id, work)
	d.send("clear; echo >>written; exec sh -c 'trap \"echo saved >at-end; exit\" HUP; echo hangs-$((1)); while :; do sleep 0.1; done'\r")
	d.see(patience, "hangs-1")
	d.quit()
	if !d.says("sessions land " + string(id[:8])) {
		t.Errorf("the end says nothing of what was not landed:\n%s", d.text())
	}

	writeFile(t, filepath.Join(work, "written"), "the person's own\n")
	out, errs, code := d.command("sessions", "land", string(id[:8]), "--yes")
	if !strings.Contains(out+errs, "written") {
		t.Errorf("sessions land ends with %d, and says nothing of what both sides have changed: %s%s", code, out, errs)
	}
	if made, err := os.ReadFile(filepath.Join(work, "made")); err != nil || string(made) != "by the agent\nmore\n" {
		t.Errorf("made: %q, %v", made, err)
	}
	if saved, err := os.ReadFile(filepath.Join(work, "at-end")); err != nil || string(saved) != "saved\n" {
		t.Errorf("what the agent saves at its end: %q, %v", saved, err)
	}
	if _, err := os.Lstat(filepath.Join(work, "old")); err == nil {
		t.Error("what the agent has removed is still there")
	}
	if own, err := os.ReadFile(filepath.Join(work, "written")); err != nil || string(own) != "the person's own\n" {
		t.Errorf("what the person has written meanwhile: %q, %v", own, err)
	}
	d.traceless()

	d = drive(t, home, 110, 30, "demo", "--resume", string(id[:8]))
	d.see(patience, "mine$")
	d.send("clear; cat made; ls old; echo again-$((1))\r")
	d.see(patience, "more", "No such file", "again-1")
	d.quit()
}

// landsFromOutside lands, by another process, what the agent of a running session has just written.
func (d *driver) landsFromOutside(id broker.SessionID, work string) {
	d.t.Helper()
	out, errs, code := d.command("sessions", "land", string(id[:8]))
	if code != 0 || !strings.Contains(out, "deleted  old\n") || !strings.Contains(out, "added    made (18 bytes)\n") || strings.Contains(errs, "are missing here") {
		d.t.Errorf("sessions land of a running session ends with %d, and has not asked it: %s%s", code, out, errs)
	}
	d.send("clear; echo late >since; echo late-$((1))\r")
	d.see(patience, "late-1")
	if out, errs, code = d.command("sessions", "land", string(id[:8]), "--yes", "--json"); code != 0 || !strings.Contains(out, `"path":"since"`) {
		d.t.Errorf("it lands with code %d: %s%s", code, out, errs)
	}
	if late, err := os.ReadFile(filepath.Join(work, "since")); err != nil || string(late) != "late\n" {
		d.t.Errorf("what was landed: %q, %v", late, err)
	}
	if out, errs, code = d.command("audit", "show", string(id[:8]), "--jsonl"); !strings.Contains(out, "the person lands ") {
		d.t.Errorf("the audit does not say so (%d): %s%s", code, out, errs)
	}
}

// When a container ends with files that are nowhere else, the end says where they are, and nothing else is
// left. They come when the session is resumed.
func TestCopiesOfAKilledContainer(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	elsewhere(t, home, nil)
	d := drive(t, home, 180, 40, "demo", "--agent", "mine")
	d.see(patience, "mine$")
	id := d.onlySession().ID
	d.send("clear; echo last >last; echo written-$((1))\r")
	d.see(patience, "written-1")
	list := containersOf(t, id)
	if len(list) != 1 {
		t.Fatalf("containers: %+v", list)
	}
	if out, err := exec.Command("docker", "kill", list[0].ID).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	d.see(patience, "ended by signal 9", "some files that the agent has written were not copied to this machine")
	told := d.text()
	d.quit()
	told += d.text()
	if !d.says("leaves files of its agent in volumes of the engine at unix:///", "this machine does not have them yet") || strings.Contains(told, "is not gone") || strings.Contains(told, `\n`) {
		t.Errorf("the end says:\n%s", told)
	}
	d = drive(t, home, 130, 40, "demo", "--resume", string(id[:8]))
	d.see(patience, "mine$")
	d.send("clear; cat last; echo again-$((1))\r")
	d.see(patience, "last", "again-1")
	d.quit()
	if d.says("leaves files") {
		t.Errorf("they came, and the end says:\n%s", d.text())
	}
	d.traceless()
}

// A daemon that is told to end while it takes an agent back brings what the agent has written first.
func TestCopiesOfAnAgentThatIsTakenBack(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	elsewhere(t, home, nil)
	serve := func() *driver {
		d := driveArgv(t, home, 130, 40, "ironcurtain-mux", "serve")
		d.until("the daemon", patience, func(string) bool { return d.daemon() != 0 })
		return d
	}
	d := serve()
	drive(t, home, 130, 40, "demo", "--agent", "mine").see(patience, "mine$")
	id := d.onlySession().ID
	d.inside(id, "echo last >/workspace/last")
	if err := syscall.Kill(d.daemon(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	d.exit(patience)
	next := serve()
	out, errs, code := d.command("stop", "--now")
	next.exit(patience)
	got, err := os.ReadFile(filepath.Join(stored.LayoutOf(filepath.Join(home, "state"), id).Sandbox(), "last"))
	if code != 0 || string(got) != "last\n" {
		t.Errorf("here is %q, %v; the end said (%d): %s%s", got, err, code, out, errs)
	}
}

// Commits of a worktree on such an engine come to the person's repository, and its history is sent
// once.
func TestCopiedWorktree(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	repo := filepath.Join(home, "repo")
	newRepository(t, repo)
	elsewhere(t, home, map[string]any{"worktree": true})
	d := drive(t, home, 130, 40, "demo", "--agent", "mine", "--workspace", repo)
	d.see(patience, "mine$")
	branch := "ironcurtain/" + string(d.onlySession().ID[:8])
	d.send("clear; git config --global user.name m; git config --global user.email m@m; echo two >>a; git commit -qam second; git log --format=%s; git fsck --connectivity-only\r")
	d.see(patience, "second", "first")
	d.send("clear; echo three >b; " + callTools(
		`git__git_status {"path":"/workspace"}`,
		`git__git_add {"path":"/workspace","paths":["b"]}`,
	) + " >/dev/null; git status -s; git commit -qm third; echo done-$((1))\r")
	d.see(patience, "A  b", "done-1")
	d.send("clear; git config core.fsmonitor /tmp/evil; echo evil >.git/hooks/pre-commit; echo planted-$((1))\r")
	d.see(patience, "planted-1")
	d.quit()
	if got := gitIn(t, repo, "log", "--format=%s", branch); got != "third\nsecond\nfirst" {
		t.Errorf("the person's branch has %q", got)
	}
	if got := d.text(); strings.Contains(got, "fsmonitor") {
		t.Errorf("what the agent has planted has come here:\n%s", got)
	}
	d.traceless()
}

// On a machine that only ssh leads to, and on one with an authority of its own, everything is as here: tools,
// the person's decisions, commits. The tab says where its container is.
func TestEnginesElsewhere(t *testing.T) {
	t.Parallel()
	slow := fakeengine.Faults{Delay: 40 * time.Millisecond}
	for name, c := range map[string]struct {
		engine func(*testing.T) *fakeengine.Engine
		env    func(*fakeengine.Engine) []string
	}{
		"ssh": {
			func(t *testing.T) *fakeengine.Engine {
				t.Helper()
				return fakeengine.StartSSH(t, realEngine(t), slow, fakeengine.SSH{})
			},
			func(e *fakeengine.Engine) []string {
				return []string{"PATH=" + e.Commands() + ":" + os.Getenv("PATH")}
			},
		},
		"tls": {
			func(t *testing.T) *fakeengine.Engine {
				t.Helper()
				return fakeengine.StartTLS(t, realEngine(t), slow)
			},
			func(e *fakeengine.Engine) []string {
				return []string{"DOCKER_TLS_VERIFY=1", "DOCKER_CERT_PATH=" + e.CertDir()}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, e := newHome(t), c.engine(t)
			repo := filepath.Join(home, "repo")
			newRepository(t, repo)
			writeFile(t, filepath.Join(repo, "large"), strings.Repeat("x", 2<<20))
			gitIn(t, repo, "add", "large")
			gitIn(t, repo, "commit", "-q", "--amend", "--no-edit")
			toolAgent(t, home, map[string]any{"worktree": true, "engine": map[string]string{"use": e.Address(), "files": "copied"}})
			argv := append(append([]string{"env"}, c.env(e)...), "ironcurtain-mux", "demo", "--agent", "mine", "--workspace", repo)
			d := driveArgv(t, home, 130, 40, argv...)
			d.see(patience, "mine$", "files copied")
			branch := "ironcurtain/" + string(d.onlySession().ID[:8])
			d.send("clear; echo three >b; git add b; git config --global user.name m; git config --global user.email m@m; git commit -qm second; " + callTools(
				`filesystem__read_text_file {"path":"/workspace/b"}`,
				`filesystem__write_file {"path":"`+filepath.Join(home, "outside")+`","content":"approved"}`,
			) + " | tail -n 1; echo over-$((1))\r")
			d.until("the call to wait for a person", patience, func(string) bool { return len(d.pending()) == 1 })
			d.send("\x01")
			d.decide("/approve", func() bool { return len(d.pending()) == 0 })
			d.see(patience, "over-1")
			d.quit()
			if got, err := os.ReadFile(filepath.Join(home, "outside")); err != nil || string(got) != "approved" {
				t.Errorf("what was approved: %q, %v", got, err)
			}
			if got := gitIn(t, repo, "log", "--format=%s", branch); got != "second\nfirst" {
				t.Errorf("the person's branch has %q", got)
			}
			d.traceless()
			doctor := exec.CommandContext(t.Context(), "ironcurtain-mux", "doctor")
			doctor.Env = append(environment(home, cacheDirectory(t)), c.env(e)...)
			if out, _ := doctor.CombinedOutput(); !regexp.MustCompile(`way +stream: .*; [0-9]+ ms, [0-9.]+ [KM]B/s `).Match(out) {
				t.Errorf("doctor does not say how far away the engine is, and how fast: %s", out)
			}
		})
	}
}

// An engine in another kernel that mounts empty directories in place of a person's gets copies.
func TestFilesThatAreNotShared(t *testing.T) {
	t.Parallel()
	home, e := withEngine(t, fakeengine.Faults{})
	e.Set(fakeengine.Faults{DeadSockets: true, EmptyBinds: true, Unshared: func(source string) bool { return strings.HasPrefix(source, filepath.Join(home, "workspace")) }})
	configure(t, home, fmt.Sprintf(`{"engine":{"use":%q}}`, e.Address()))
	work := workspaceOf(t, home)
	writeFile(t, filepath.Join(work, "here"), "seen\n")
	out, errs, code := (&driver{t: t, home: home}).command("start", "--agent", "shell", "--workspace", work, "cat here; echo new >there")
	if code != 0 || !strings.Contains(out, "seen") {
		t.Errorf("it ends with %d: %s%s", code, out, errs)
	}
	if found, err := os.ReadFile(filepath.Join(home, "state", "engines.json")); err != nil || !strings.Contains(string(found), `"copied"`) {
		t.Errorf("what was found out is not kept: %s, %v", found, err)
	}
	if _, err := os.Lstat(filepath.Join(work, "there")); err == nil {
		t.Error("the person's directory has changed")
	}
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
