package preview

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/gitrun"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/gitx"
)

// repository is a git repository that a test fills.
type repository struct {
	t   *testing.T
	dir string
}

func newRepository(t *testing.T) *repository {
	t.Helper()
	r := &repository{t, realDir(t)}
	r.git("init", "-q", "-b", "main")
	r.git("remote", "add", "origin", "https://github.com/me/project.git")
	return r
}

func (r *repository) git(args ...string) string {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "git", args...)
	cmd.Dir = r.dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + r.dir, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.org", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.org",
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit writes files and commits them.
func (r *repository) commit(subject string, files ...string) string {
	r.t.Helper()
	for _, name := range files {
		path := filepath.Join(r.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(subject+"\n"), 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", subject)
	return r.git("rev-parse", "HEAD")
}

// seen notes where the remote's main was.
func (r *repository) seen(id string) { r.git("update-ref", "refs/remotes/origin/main", id) }

func (r *repository) push(args map[string]any) *Effect {
	r.t.Helper()
	args["path"] = r.dir
	if args["remote"] == nil {
		args["remote"] = "origin"
	}
	return effectOf(r.t, "git", "git_push", args)
}

func wantLines(t *testing.T, e *Effect, parts ...string) {
	t.Helper()
	all := e.Summary + "\n" + text(e)
	for _, p := range parts {
		if !strings.Contains(all, p) {
			t.Errorf("%q is missing in\n%s", p, all)
		}
	}
}

func TestPushShowsCommitsFilesAndTarget(t *testing.T) {
	r := newRepository(t)
	r.seen(r.commit("first", "a"))
	r.commit("second", "b", "dir/c")
	r.commit("third", "b")
	for _, remote := range []string{"origin", "https://github.com/me/project.git"} {
		t.Run(remote, func(t *testing.T) {
			e := r.push(map[string]any{"remote": remote})
			wantLines(t, e, "pushes 2 commits of refs/heads/main", "https://github.com/me/project.git",
				"third  (Ann <ann@example.org>)", "second  (Ann", "A b", "A dir/c", "M b", "host: github.com")
			if strings.Contains(text(e), "first") {
				t.Errorf("a commit that the remote has is listed:\n%s", text(e))
			}
			if w := e.Warnings(); len(w) != 0 {
				t.Errorf("warnings: %q", w)
			}
		})
	}
}

func TestPushToABranchOfAnotherName(t *testing.T) {
	r := newRepository(t)
	r.seen(r.commit("first", "a"))
	wantLines(t, r.push(map[string]any{"branch": "main", "remoteBranch": "release"}), "release is new at the remote", "to release at")
	wantLines(t, r.push(map[string]any{"branch": "nothing"}), "no such branch or tag")
	r.git("tag", "main")
	wantLines(t, r.push(map[string]any{"branch": "main"}), "both refs/tags/main and refs/heads/main")
}

func TestForcedPushShowsWhatIsLost(t *testing.T) {
	r := newRepository(t)
	base := r.commit("first", "a")
	r.seen(r.commit("of a colleague", "b"))
	r.git("reset", "-q", "--hard", base)
	r.commit("mine", "c")
	wantLines(t, r.push(map[string]any{"force": true}), "! force:", "the remote would lose 1 commit", "of a colleague", "pushes 1 commit ")
	wantLines(t, r.push(map[string]any{"forceWithLease": true}), "! force with lease", "the remote would lose 1 commit")
}

func TestTagsDeletionAndDryRun(t *testing.T) {
	r := newRepository(t)
	r.seen(r.commit("first", "a"))
	r.git("tag", "v1.0")
	wantLines(t, r.push(map[string]any{"tags": true}), "! all tags", "* tag v1.0")
	wantLines(t, r.push(map[string]any{"delete": true, "branch": "old"}), "deletes old at https://github.com")
	wantLines(t, r.push(map[string]any{"dryRun": true}), "nothing is sent")
}

// Settings of the repository that make a push more than it says are told.
func TestSettingsThatSendMore(t *testing.T) {
	for setting, value := range map[string]string{
		"push.default": "matching", "Push.Default": "upstream", "push.followTags": "true", "remote.origin.push": "HEAD:refs/for/main",
		"push.recurseSubmodules": "on-demand",
	} {
		t.Run(setting, func(t *testing.T) {
			r := newRepository(t)
			r.seen(r.commit("first", "a"))
			r.git("config", setting, value)
			wantLines(t, r.push(map[string]any{}), "send more than the call names", value)
		})
	}
	for setting, value := range map[string]string{
		"remote.origin.mirror": "true", "remote.origin.push": "refs/heads/*:refs/heads/*",
	} {
		t.Run(setting, func(t *testing.T) {
			r := newRepository(t)
			r.seen(r.commit("first", "a"))
			r.git("config", setting, value)
			wantLines(t, r.push(map[string]any{}), "makes a push to the remote send more than the named branch")
		})
	}

	r := newRepository(t)
	r.seen(r.commit("first", "a"))
	r.git("remote", "set-url", "--add", "--push", "origin", "https://github.com/me/project.git")
	r.git("remote", "set-url", "--add", "--push", "origin", "https://elsewhere.example/x.git")
	wantLines(t, r.push(map[string]any{}), "2 addresses", "elsewhere.example")
}

// Nothing that a repository brings along is run or obeyed.
func TestARepositoryRunsNothing(t *testing.T) {
	r := newRepository(t)
	r.seen(r.commit("first", "a"))
	r.commit("second", "b")
	mark := filepath.Join(realDir(t), "ran")
	script := filepath.Join(r.dir, "run.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\ntouch "+mark+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for setting, value := range map[string]string{
		"core.fsmonitor": script, "core.pager": script, "core.sshCommand": script, "diff.external": script, "core.hooksPath": r.dir,
		"diff.x.textconv": script, "filter.x.smudge": script, "credential.helper": "!" + script, "alias.rev-list": "!" + script,
		"core.gitProxy": script, "pager.log": script, "extensions.partialClone": "origin", "remote.origin.promisor": "true",
	} {
		r.git("config", setting, value)
	}
	for name, body := range map[string]string{".gitattributes": "* diff=x filter=x\n", ".git/info/attributes": "* diff=x\n"} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(filepath.Join(r.dir, name), []byte(body), 0o600); err != nil {
				t.Fatal(err)
			}
		})
	}
	wantLines(t, r.push(map[string]any{}), "second")
	if _, err := os.Stat(mark); err == nil {
		t.Error("a program of the repository was run")
	}
}

// Replacements and indexes that tell other things than the objects are not
// believed: what is shown is what would be sent.
func TestReplacedCommitsAreShownAsTheyAre(t *testing.T) {
	r := newRepository(t)
	first := r.commit("first", "a")
	r.seen(first)
	r.commit("the evil one", "evil")
	evil := r.commit("on top", "b")
	tree := r.git("rev-parse", evil+"^{tree}")
	harmless := r.git("commit-tree", tree, "-p", first, "-m", "harmless")
	r.git("replace", evil, harmless)
	wantLines(t, r.push(map[string]any{}), "pushes 2 commits", "the evil one", "A evil")
	r.git("replace", "-d", evil)
	r.git("commit-graph", "write", "--reachable")
	graph := filepath.Join(r.dir, ".git/objects/info/commit-graph")
	if err := os.Chmod(graph, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(graph, []byte("CGPH nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.git("-c", "core.commitGraph=false", "-c", "core.multiPackIndex=false", "repack", "-q", "-ad")
	wantLines(t, r.push(map[string]any{}), "pushes 2 commits", "the evil one")
}

// What cannot be read is said, and nothing hangs.
func TestBrokenRepositories(t *testing.T) {
	for name, hurt := range map[string]func(r *repository){
		"a missing commit": func(r *repository) {
			r.git("update-ref", "refs/heads/main", r.commit("third", "c"))
			id := r.git("rev-parse", "HEAD~1")
			must(t, os.Remove(filepath.Join(r.dir, ".git/objects", id[:2], id[2:])))
		},
		"a malformed reference": func(r *repository) {
			must(t, os.WriteFile(filepath.Join(r.dir, ".git/refs/heads/main"), []byte("nonsense\n"), 0o600))
		},
		"references in circles": func(r *repository) {
			must(t, os.WriteFile(filepath.Join(r.dir, ".git/refs/heads/main"), []byte("ref: refs/heads/main\n"), 0o600))
		},
		"a reference elsewhere": func(r *repository) {
			must(t, os.WriteFile(filepath.Join(r.dir, ".git/refs/heads/main"), []byte("ref: refs/../../outside\n"), 0o600))
		},
		"no repository": func(r *repository) { must(t, os.RemoveAll(filepath.Join(r.dir, ".git"))) },
		"a remote that is a program": func(r *repository) {
			r.git("config", "remote.origin.url", "ext::sh -c true")
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepository(t)
			r.seen(r.commit("first", "a"))
			r.commit("second", "b")
			hurt(r)
			e := r.push(map[string]any{})
			if len(e.Warnings()) == 0 {
				t.Errorf("no warning: %s\n%s", e.Summary, text(e))
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Messages, authors and names of files are told byte for byte, and none is
// taken for another commit or file.
func TestHostileCommits(t *testing.T) {
	r := newRepository(t)
	r.seen(r.commit("first", "a"))
	names := []string{"new\nline", ":100644 100644 0 0 M", "\x1b[2Jclear", "-rf", "a\tb"}
	r.commit("\x1b]0;title\x07 \u202eevil", names...)
	e := r.push(map[string]any{})
	wantLines(t, e, "\x1b]0;title\x07 \u202eevil", "pushes 1 commit ")
	files := map[string]bool{}
	for _, l := range e.Lines {
		if l.Kind == File {
			files[l.Text] = true
		}
	}
	for _, n := range names {
		t.Run(n, func(t *testing.T) {
			if !files["A "+n] {
				t.Errorf("%q is missing in %v", n, files)
			}
		})
	}
	if len(files) != len(names) {
		t.Errorf("%d files instead of %d", len(files), len(names))
	}
}

func TestManyCommitsAreCounted(t *testing.T) {
	r := newRepository(t)
	var stream strings.Builder
	for i := range maxCommits + 50 {
		fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter A <a@b> %d +0000\ndata 2\nc\n", 1700000000+i)
	}
	cmd := exec.CommandContext(t.Context(), "git", "fast-import", "--quiet")
	cmd.Dir, cmd.Stdin = r.dir, strings.NewReader(stream.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	wantLines(t, r.push(map[string]any{}), fmt.Sprintf("more than %d commits", maxCommits), "! there are more commits")
}

// The fingerprint follows the branch and the address.
func TestPushFingerprint(t *testing.T) {
	r := newRepository(t)
	r.seen(r.commit("first", "a"))
	one := r.push(map[string]any{}).Fingerprint
	if r.push(map[string]any{}).Fingerprint != one {
		t.Error("the same push has two fingerprints")
	}
	r.commit("second", "b")
	two := r.push(map[string]any{}).Fingerprint
	r.git("remote", "set-url", "origin", "https://github.com/other/project.git")
	if three := r.push(map[string]any{}).Fingerprint; one == two || two == three {
		t.Error("different pushes have one fingerprint")
	}
}

func TestOtherWaysToARemote(t *testing.T) {
	r := newRepository(t)
	wantLines(t, effectOf(t, "git", "git_fetch", map[string]any{"path": r.dir, "remote": "origin"}), "git fetch https://github.com/me/project.git")
	wantLines(t, effectOf(t, "git", "git_clone", map[string]any{"path": r.dir + "/x", "url": "https://githud.com/a/b"}), "one letter away from github.com")
	wantLines(t, effectOf(t, "git", "git_remote", map[string]any{"path": r.dir, "mode": "add", "name": "x", "url": "http://10.0.0.1:99/a"}), "not encrypted", "unusual port", "this machine or network")
}

// The branch that a call leaves to the repository is part of what was judged, also where
// both branches are at the same commit.
func TestTheBranchIsPartOfTheFingerprint(t *testing.T) {
	r := newRepository(t)
	r.commit("first", "a")
	pull := func() string {
		return effectOf(t, "git", "git_pull", map[string]any{"path": r.dir, "remote": "origin"}).Fingerprint
	}
	push, pulled := r.push(map[string]any{}).Fingerprint, pull()
	r.git("config", "branch.main.merge", "refs/heads/other")
	if pulled == pull() {
		t.Error("the branch follows another one, and the pull has the same fingerprint")
	}
	r.git("checkout", "-q", "-b", "other")
	if push == r.push(map[string]any{}).Fingerprint {
		t.Error("another branch is checked out, and the push has the same fingerprint")
	}
}

// What a fetch would do beyond the call's arguments makes it odd.
func TestOddFetches(t *testing.T) {
	odd := func(r *repository) string {
		p := Previewer{UserHome: r.dir, SystemGit: r.dir + "/none", Command: command}
		return p.Git(policy.Call{Server: "git", Tool: "git_fetch", Arguments: fmt.Appendf(nil, `{"path":%q,"remote":"origin"}`, r.dir)}).Odd
	}
	if why := odd(newRepository(t)); why != "" {
		t.Errorf("a plain fetch is odd: %s", why)
	}
	for _, setting := range []string{"fetch.recurseSubmodules", "remote.origin.prune", "fetch.pruneTags", "fetch.all"} {
		t.Run(setting, func(t *testing.T) {
			r := newRepository(t)
			if r.git("config", setting, "true"); odd(r) == "" {
				t.Errorf("with %s it is not odd", setting)
			}
		})
	}
	r, inner := newRepository(t), newRepository(t)
	inner.commit("first", "a")
	r.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", inner.dir, "sub")
	if odd(r) == "" {
		t.Error("with a submodule it is not odd")
	}
}

// Runs of git of other sessions that take all of their time change nothing about what a
// person is shown: it waits for its turn.
func TestSlowNeighborsChangeNoEffect(t *testing.T) {
	r := newRepository(t)
	r.seen(r.commit("first", "a"))
	r.commit("second", "b")
	want := r.push(map[string]any{})
	in, out, err := os.Pipe()
	must(t, err)
	var others sync.WaitGroup
	defer func() { must(t, out.Close()); others.Wait(); must(t, in.Close()) }()
	for range 3 {
		others.Go(func() { // it waits for more input until its time is over
			_ = gitrun.Quick.Run(t.Context(), gitrun.Command{Args: []string{"hash-object", "--stdin"}, Env: []string{"GIT_DIR=" + r.dir + "/.git"}, In: in})
		})
	}
	_, err = out.Write(make([]byte, 1<<20)) // more than a pipe holds: one of them has begun, and the others have come
	must(t, err)
	if got := r.push(map[string]any{}); got.Fingerprint != want.Fingerprint || text(got) != text(want) {
		t.Errorf("beside them it is\n%s\n%s", got.Summary, text(got))
	}
}

// What the remote has is not taken for nothing when git could not say it.
func TestUnknownIsNotNothing(t *testing.T) {
	r := newRepository(t)
	id := r.commit("first", "a")
	repo, err := gitx.Open(r.dir, gitx.Home{})
	must(t, err)
	o, err := borrow(repo)
	must(t, err)
	defer func() { must(t, o.close()) }()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if have, err := o.known(over, []string{id}); err == nil {
		t.Errorf("got %q", have)
	}
	if have, err := o.known(t.Context(), []string{id}); err != nil || len(have) != 1 {
		t.Errorf("got %q, %v", have, err)
	}
}
