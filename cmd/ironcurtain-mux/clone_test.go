package main

import (
	"encoding/pem"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/mirror"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/gitserver"
)

const cloneToken = "tok-5ecretZ7wq91"

// privateRemote serves a repository with the branches main and b over HTTPS to one login
// only, which the person's git in that home has. It returns the repository, its URL and where
// its mirror is going to be.
func privateRemote(t *testing.T, home string) (bare, url, mirrored string) {
	t.Helper()
	top := t.TempDir()
	seed := filepath.Join(top, "seed")
	bare = filepath.Join(top, "repo.git")
	newRepository(t, seed)
	gitIn(t, seed, "init", "--quiet", "--bare", bare)
	gitIn(t, bare, "config", "http.receivepack", "true")
	gitIn(t, bare, "symbolic-ref", "HEAD", "refs/heads/main")
	gitIn(t, seed, "push", "--quiet", bare, "HEAD:main", "HEAD:b")
	server := httptest.NewTLSServer(gitserver.Private(gitserver.HTTP(t, top), cloneToken, nil))
	t.Cleanup(server.Close)
	user := filepath.Join(home, "user")
	if err := os.MkdirAll(user, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"ca.pem":           string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})),
		".git-credentials": strings.Replace(server.URL, "://", "://me:"+cloneToken+"@", 1) + "\n",
		".gitconfig":       "[credential]\n\thelper = store\n[http]\n\tsslCAInfo = " + filepath.Join(user, "ca.pem") + "\n[user]\n\tname = P\n\temail = p@example.com\n",
	} {
		if err := os.WriteFile(filepath.Join(user, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	url = server.URL + "/repo.git"
	remote, err := mirror.Address(url)
	if err != nil {
		t.Fatal(err)
	}
	mirrored = mirror.Cache{Dir: filepath.Join(stored.RealPath(cacheDirectory(t)), "repositories")}.Path(remote)
	t.Cleanup(func() { _ = os.RemoveAll(mirrored); _ = os.Remove(mirrored + ".lock") })
	return bare, url, mirrored
}

// A tab on a repository elsewhere: the agent is at the branch, without a login, commits, and
// pushes after an approval. What was not pushed stays with the session, which can be resumed
// and is not removed by mistake. What cannot be fetched leaves nothing.
func TestClone(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	bare, url, mirrored := privateRemote(t, home)
	if err := os.Chmod(home, 0o755); err != nil {
		t.Fatal(err)
	}
	toolAgent(t, home, nil)
	d := drive(t, home, 150, 40, "demo", "--agent", "mine", "--repo", url, "--branch", "b")
	d.see(patience, "mine$")
	id := d.onlySession().ID
	d.send("clear; git status -sb; git remote -v | head -1; git log --format=%s-%an; cat a; git branch -r | tr -d '\\n'; git config user.name\r")
	d.see(patience, "## b...origin/b", url+" (fetch)", "first-t", "one", "origin/b  origin/main", "P")
	d.send("clear; cat .git/config; env; touch " + mirrored + "/objects/evil || echo hol''ds; rm -f " + mirrored + "/objects/pack/* || echo ke''pt\r")
	d.see(patience, "holds", "kept")
	if strings.Contains(d.text(), cloneToken) {
		t.Errorf("the agent sees the login:\n%s", d.text())
	}
	d.send("clear; echo two >>a; git commit -qam second && " + callTools(`git__git_push {"path":"/workspace","remote":"origin","branch":"b"}`) + " | grep -c '\"isError\":true'; echo ca''lled\r")
	if _, errs, code := d.command("approve", d.waits().ID); code != cli.ExitOK {
		t.Fatalf("approve: %s", errs)
	}
	d.see(patience, "called")
	if got := gitIn(t, bare, "log", "--format=%s", "b"); got != "second\nfirst" {
		t.Fatalf("the remote has %q:\n%s", got, d.text())
	}
	d.quit()
	if !d.says("1 commit that " + url + " has") {
		t.Errorf("the end does not say that the work was pushed:\n%s", d.text())
	}
	d.traceless()

	damage := func() {
		packs, err := filepath.Glob(mirrored + "/objects/pack/*.pack")
		for _, pack := range packs {
			err = errors.Join(err, os.Chmod(pack, 0o600), os.Truncate(pack, 40))
		}
		if err != nil || len(packs) == 0 {
			t.Fatal(packs, err)
		}
	}
	damage()
	d = drive(t, home, 150, 40, "demo", "--resume", string(id[:8]))
	d.see(patience, "mine$")
	damage()
	d.send("\x01/new mine --repo " + url + "\r")
	d.inTab(2, "mine$")
	d.send("clear; git status -sb; git log --format=%s; cat a\r")
	d.see(patience, "## main...origin/main", "first", "one")
	d.send("\x01/close\ry")
	d.until("the second tab to go", patience, func(screen string) bool { return !strings.Contains(screen, " 2 ") })
	d.send("clear; git log -1 --format=%s; echo three >>a; git commit -qam third; echo do''ne\r")
	d.see(patience, "second", "done")
	for _, try := range [][2]string{
		{url + " --branch nowhere", "it has no branch nowhere"},
		{strings.Replace(url, "://", "://me:"+cloneToken+"@", 1), "--repo: the remote"},
		{"file://" + bare, "neither https nor ssh"},
	} {
		d.send("\x01/new mine --repo " + try[0] + "\r")
		d.see(patience, try[1])
		d.send("\x15\x1b")
	}
	if !eventually(patience, func() bool {
		entries, err := os.ReadDir(d.state("sessions"))
		return err == nil && len(entries) == 2
	}) {
		t.Error("the session that could not be cloned has left something")
	}
	d.quit()
	if !d.says("alone, because they were not pushed (ironcurtain-mux sessions resume") {
		t.Errorf("the end says nothing of the work:\n%s", d.text())
	}
	if _, errs, code := d.command("sessions", "rm", string(id)); code == cli.ExitOK || !strings.Contains(errs, "they were not pushed") {
		t.Errorf("removed: %d, %s", code, errs)
	}
	if _, errs, code := d.command("sessions", "rm", "--force", string(id)); code != cli.ExitOK || len(d.allStored()) != 1 {
		t.Errorf("not removed: %s", errs)
	}
	if refs := gitIn(t, mirrored, "for-each-ref", "--format=%(refname)"); refs != "refs/remotes/origin/b\nrefs/remotes/origin/main" {
		t.Errorf("the mirror has %q", refs)
	}
	d.traceless()
}
