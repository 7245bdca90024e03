package mirror

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/gitrun"
)

// A private repository is fetched with the person's login, which is not stored. Later only what is
// new is fetched.
func TestHTTPS(t *testing.T) {
	w := newWorld(t)
	url := w.serve(t, private(w.git(t)))
	remote := url + "/team/repo.git"
	w.refused(t, remote, "", "git has no login for 127.0.0.1", "git ls-remote")
	w.store(t, url, "wr0ng")
	w.refused(t, remote, "", "127.0.0.1 refused the login")
	w.store(t, url, token)
	w.refused(t, remote, "nowhere", "it has no branch nowhere", "git ls-remote --heads "+remote)
	w.refused(t, url+"/team/none.git", "", "clone "+url+"/team/none.git", "not found")
	first := w.commit(t, "second")
	m, err := w.fetched(t, remote, "")
	if err != nil || m.Branch != "main" || m.Commit != first || m.Dir != w.cache.Path(address(t, remote)) {
		t.Fatalf("%+v, %v", m, err)
	}
	w.commit(t, "third")
	run(t, "git", "-C", w.seed, "push", "-q", w.bare, "HEAD:refs/tags/v1")
	run(t, "git", "-C", w.bare, "update-ref", "-d", "refs/heads/main")
	if m, err = w.fetched(t, remote, "side/b"); err != nil || m.Branch != "side/b" || m.Commit == first {
		t.Fatalf("%+v, %v", m, err)
	}
	packs, _ := filepath.Glob(m.Dir + "/objects/pack/*.pack")
	if refs := run(t, "git", "--git-dir", m.Dir, "for-each-ref", "--format=%(refname)"); len(packs) != 2 || refs != "refs/remotes/origin/side/b\nrefs/tags/v1\n" {
		t.Errorf("%d packs, references %q", len(packs), refs)
	}
	err = filepath.WalkDir(w.cache.Dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if data, err := os.ReadFile(path); err != nil || strings.Contains(string(data), token) {
			t.Errorf("%s: %v, or it holds the login", path, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A repository is fetched over the person's ssh, only from a known host and without prompts.
func TestSSH(t *testing.T) {
	w := newWorld(t)
	remote, port := w.sshd(t)
	w.refused(t, remote, "", "the host 127.0.0.1 is not in your known_hosts")
	w.know(t, port, filepath.Join(w.home, ".ssh", "id_ed25519.pub"))
	w.refused(t, remote, "", "shows another key than the one in your known_hosts")
	w.know(t, port, filepath.Join(w.top, "sshd", "host.pub"))
	w.refused(t, "ssh://127.0.0.1:1/x", "", "Connection refused")
	w.refused(t, remote+"x", "", "does not appear to be a git repository")
	if m, err := w.fetched(t, remote, "main"); err != nil || m.Commit == "" {
		t.Fatalf("%+v, %v", m, err)
	}
	if err := os.RemoveAll(w.cache.Dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(w.home, ".ssh", "id_ed25519")); err != nil {
		t.Fatal(err)
	}
	w.refused(t, remote, "main", "127.0.0.1 refused the login")
}

// A login is sent only to the host that the person has named, whatever that redirects to.
func TestRedirects(t *testing.T) {
	w := newWorld(t)
	var sent atomic.Int32
	count := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "" {
				sent.Add(1)
			}
			next.ServeHTTP(rw, r)
		})
	}
	open, closed := w.serve(t, count(w.git(t))), w.serve(t, count(private(w.git(t))))
	to := &atomic.Value{}
	redirect := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		http.Redirect(rw, r, to.Load().(string)+r.URL.RequestURI(), http.StatusFound)
	})
	from, behindLogin := w.serve(t, redirect), w.serve(t, private(redirect))
	for _, url := range []string{from, behindLogin, closed} {
		w.store(t, url, token)
	}
	to.Store(closed)
	w.refused(t, from+"/team/repo.git", "", "it leads to another host, which wants a login")
	w.refused(t, behindLogin+"/team/repo.git", "", "or leads to another host that wants one")
	for _, scheme := range []string{"file://" + w.bare + "?", "http" + strings.TrimPrefix(open, "https")} {
		to.Store(scheme)
		w.refused(t, from+"/team/repo.git", "", "clone "+from)
	}
	to.Store(open)
	if _, err := w.fetched(t, from+"/team/repo.git", ""); err != nil {
		t.Error(err, fault.Hint(err))
	}
	if n := sent.Load(); n != 0 {
		t.Errorf("%d requests carried a login to another host", n)
	}
}

// Fetching from servers that send nothing, or too much, fails.
func TestLimits(t *testing.T) {
	askBefore, fetchBefore := askLimit, fetching
	t.Cleanup(func() { askLimit, fetching = askBefore, fetchBefore })
	w := newWorld(t)
	wait, endless := make(chan struct{}), atomic.Bool{}
	hang := w.serve(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if endless.Load() {
			rw.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
			_, err := rw.Write([]byte("001e# service=git-upload-pack\n0000"))
			for err == nil {
				_, err = rw.Write([]byte("003d" + strings.Repeat("a", 40) + " refs/heads/endless\n"))
			}
			return
		}
		select {
		case <-wait:
		case <-r.Context().Done():
		}
	}))
	askLimit = 2 * time.Second
	w.refused(t, hang+"/team/repo.git", "", "127.0.0.1 gave no answer in 2s")
	close(wait)
	endless.Store(true)
	w.refused(t, hang+"/team/repo.git", "", "127.0.0.1")
	askLimit = askBefore

	fetching = gitrun.Distant(1<<20, time.Minute, 1)
	write(t, filepath.Join(w.seed, "large"), random(t, 3<<20), 0o600)
	run(t, "git", "-C", w.seed, "add", "large")
	w.commit(t, "large")
	good := w.serve(t, w.git(t))
	w.refused(t, good+"/team/repo.git", "", "larger than a clone may be", "--workspace DIR --worktree")
	fetching = gitrun.Distant(1<<20, time.Nanosecond, 1)
	w.refused(t, good+"/team/repo.git", "", "git needs more than 1ns")
}

func random(t *testing.T, n int) string {
	t.Helper()
	f, err := os.Open("/dev/urandom")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data := make([]byte, n)
	if _, err := f.Read(data); err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Cancelling ends git and all that it has started, and leaves nothing behind.
func TestCancelled(t *testing.T) {
	w := newWorld(t)
	git, arrived, gone := w.git(t), make(chan struct{}, 1), make(chan struct{}, 1)
	server := w.serve(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if strings.Contains(string(body), "command=fetch") {
			arrived <- struct{}{}
			<-r.Context().Done()
			gone <- struct{}{}
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		git.ServeHTTP(rw, r)
	}))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	failed := make(chan error, 1)
	go func() {
		_, err := w.cache.Fetch(ctx, address(t, server+"/team/repo.git"), "", nil)
		failed <- err
	}()
	<-arrived
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	<-gone // the program that was connected has ended
	if left := w.left(t); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// Several tabs that want the same repository wait for each other.
func TestTogether(t *testing.T) {
	w := newWorld(t)
	remote := w.serve(t, w.git(t)) + "/team/repo.git"
	var all sync.WaitGroup
	var held atomic.Int32
	for range 4 {
		all.Go(func() {
			m, err := w.cache.Fetch(t.Context(), address(t, remote), "", nil)
			if err != nil {
				t.Error(err)
				return
			}
			if held.Add(1) != 1 {
				t.Error("two hold the mirror")
			}
			held.Add(-1)
			if err := m.Release(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// What a killed git has left does not disturb the next one, and a damaged mirror is fetched again,
// into the objects directory that containers have mounted.
func TestDamage(t *testing.T) {
	w := newWorld(t)
	remote := w.serve(t, w.git(t)) + "/team/repo.git"
	m, err := w.fetched(t, remote, "")
	if err != nil {
		t.Fatal(err)
	}
	mounted, err := os.Stat(filepath.Join(m.Dir, "objects"))
	if err != nil {
		t.Fatal(err)
	}
	for what, damage := range map[string]func(){
		"left half done": func() {
			write(t, filepath.Join(m.Dir, "packed-refs.lock"), "", 0o600)
			write(t, filepath.Join(m.Dir, "refs/remotes/origin/main.lock"), "", 0o600)
			write(t, filepath.Join(m.Dir, "objects/pack/tmp_pack_x"), "half", 0o600)
			write(t, filepath.Join(m.Dir+".new", "HEAD"), "half", 0o600)
			w.commit(t, "more")
		},
		"no objects": func() {
			packs, _ := filepath.Glob(m.Dir + "/objects/pack/*")
			for _, p := range packs {
				if err := os.Remove(p); err != nil {
					t.Fatal(err)
				}
			}
		},
		"bad objects": func() {
			packs, _ := filepath.Glob(m.Dir + "/objects/pack/*.pack")
			for _, p := range packs {
				if err := errors.Join(os.Chmod(p, 0o600), os.Truncate(p, 40)); err != nil {
					t.Fatal(err)
				}
			}
		},
		"no configuration": func() {
			if err := os.Remove(filepath.Join(m.Dir, "HEAD")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			damage()
			m, err := w.cache.Fetch(t.Context(), address(t, remote), "", func(line string, _ bool) { t.Log(line) })
			if err != nil {
				t.Fatal(err, fault.Hint(err))
			}
			if _, err := m.Repair(t.Context()); err != nil {
				t.Error(err)
			}
			if fixed, err := m.Repair(t.Context()); fixed || err != nil {
				t.Errorf("damaged still: %v", err)
			}
			now, err := os.Stat(filepath.Join(m.Dir, "objects"))
			if err != nil || what != "no configuration" && !os.SameFile(now, mounted) {
				t.Errorf("another directory: %v", err)
			}
			mounted = now
			if want := strings.TrimSpace(run(t, "git", "-C", w.bare, "rev-parse", "main")); m.Commit != want {
				t.Errorf("got %s, want %s", m.Commit, want)
			}
			if err := m.Release(); err != nil {
				t.Error(err)
			}
			if left, _ := filepath.Glob(m.Dir + "/*/*/*.lock"); len(left) > 0 {
				t.Error(left)
			}
		})
	}
}

// Nothing from the repository is run or obeyed, and the person's own hooks and filters are not run
// either.
func TestNothingRuns(t *testing.T) {
	w := newWorld(t)
	flag := filepath.Join(w.top, "ran")
	hooks := filepath.Join(w.top, "hooks")
	for _, name := range []string{"reference-transaction", "post-checkout", "post-merge"} {
		write(t, filepath.Join(hooks, name), "#!/bin/sh\ntouch "+flag+"\n", 0o700)
	}
	write(t, filepath.Join(w.seed, ".gitmodules"), "[submodule \"x\"]\n\tpath = x\n\turl = "+w.bare+"\n", 0o600)
	write(t, filepath.Join(w.seed, ".gitattributes"), "* filter=evil\n", 0o600)
	run(t, "git", "-C", w.seed, "add", ".gitmodules", ".gitattributes")
	w.commit(t, "evil")
	remote := w.serve(t, w.git(t)) + "/team/repo.git"
	for name, value := range map[string]string{
		"core.hooksPath": hooks, "filter.evil.smudge": "touch " + flag, "core.fsmonitor": "touch " + flag, "core.askPass": "touch " + flag,
		"core.sshCommand": "touch " + flag, "submodule.recurse": "true", "fetch.recurseSubmodules": "true",
	} {
		run(t, "git", "config", "--global", name, value)
	}
	if _, err := w.fetched(t, remote, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(flag); err == nil {
		t.Error("something was run")
	}
}

// What is not the address of a remote repository is refused without showing it.
func TestAddresses(t *testing.T) {
	for _, bad := range []string{
		"https://me:" + token + "@example.com/x.git", "https://" + token + "@example.com/x", "ssh://me:" + token + "@example.com/x",
		"/srv/x.git", "./x", "~/x", "x.git", "file:///srv/x.git", "ext::sh -c touch% /tmp/x", "fd::3", "git://example.com/x.git",
		"--upload-pack=touch /tmp/x", "-oProxyCommand=x", "ssh://-oProxyCommand=x/y", "-oProxyCommand=x:y", "ssh://me@-x/y", "me@-x:y", "host:-x",
		"ftp://example.com/x", "http://example.com/x.git", "http://127.0.0.1.example.com/x", "https://example.com", "https://example.com/x?y=z", "", "https://exa mple.com/x", "https://example.com/x\n",
	} {
		_, err := Address(bad)
		if err == nil || strings.Contains(err.Error()+fault.Hint(err), token) || strings.Contains(err.Error(), "\n") || fault.Hint(err) == "" {
			t.Errorf("%q: %v (%s)", bad, err, fault.Hint(err))
		}
	}
	for _, good := range []string{"https://example.com/a/b.git", "ssh://git@example.com:2222/a/b", "git@example.com:a/b.git", "http://127.0.0.1:3000/a/b", "http://localhost/a", "https://[::1]:8443/x"} {
		if _, err := Address(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"", "-b", "--upload-pack=x", "a..b", "a b", "a\nb", "/a", "a/", "a//b", ".a", "a/.b", "a.lock", "a@{1}", "a~1", "a^", "a:b", "HEAD", "@", strings.Repeat("a", 300)} {
		if err := CheckBranch(bad); err == nil || fault.Hint(err) == "" {
			t.Errorf("branch %q: %v", bad, err)
		}
	}
	for _, good := range []string{"main", "feature/x-1", "v1.2", "ä"} {
		if err := CheckBranch(good); err != nil {
			t.Errorf("branch %q: %v", good, err)
		}
	}
	if u, err := url.Parse("https://x@y/z"); err != nil || password.ReplaceAllString(u.String(), "://") != "https://y/z" {
		t.Error(u, err)
	}
}

// An empty repository is refused.
func TestEmpty(t *testing.T) {
	w := newWorld(t)
	run(t, "git", "init", "-q", "--bare", filepath.Join(w.top, "srv", "team", "empty.git"))
	remote := w.serve(t, w.git(t)) + "/team/empty.git"
	w.refused(t, remote, "", "it has no commit yet")
	w.refused(t, remote, "main", "it has no branch main")
}
