package gitauth

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/gitserver"
)

// gitServer is a real HTTPS git server that wants a token, with one repository. It counts
// requests that came without the token.
func gitServer(t *testing.T, w world) (url string, bare string, without *atomic.Int32) {
	t.Helper()
	root := filepath.Join(filepath.Dir(w.home), "srv")
	bare = filepath.Join(root, "team", "repo.git")
	for _, repo := range []string{bare, filepath.Join(root, "team", "other.git")} {
		run(t, "git", "init", "-q", "--bare", repo)
		run(t, "git", "-C", repo, "config", "http.receivepack", "true")
	}
	seed := t.TempDir()
	run(t, "git", "init", "-q", seed)
	run(t, "git", "-C", seed, "commit", "-q", "--allow-empty", "-m", "first")
	run(t, "git", "-C", seed, "push", "-q", bare, "main")
	without = new(atomic.Int32)
	server := httptest.NewTLSServer(gitserver.Private(gitserver.HTTP(t, root), token, func() { without.Add(1) }))
	t.Cleanup(server.Close)
	ca := write(t, filepath.Join(w.home, "corporate.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})), 0o600)
	run(t, "git", "config", "--global", "http."+server.URL+".sslCAInfo", ca)
	return server.URL, bare, without
}

// A real git in a real sandbox clones, commits and pushes with the person's login, which is
// nowhere in the sandbox, and can do nothing else with it.
func TestHTTPSInTheSandbox(t *testing.T) {
	w := newWorld(t)
	url, bare, without := gitServer(t, w)
	store(t, w, url, token)
	remote := address(t, url+"/team/repo.git")
	credential, err := Fill(t.Context(), remote)
	if err != nil {
		t.Fatal(err)
	}
	dir := w.callDir(t)
	fetch, err := OpenHTTPS(t.Context(), dir, Call{Remote: remote}, credential)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := w.sandboxed(t, fetch, "git clone -q "+remote.String()+" c && git -C c log --format=%s"); err != nil || !strings.Contains(out, "first") {
		t.Fatalf("clone: %v: %s (%v)", err, out, fetch.Refusal())
	}
	// Nothing but the approved repository, in the approved direction.
	for what, script := range map[string]string{
		"push":  "cd c && git commit -q --allow-empty -m second && git push -q origin main",
		"other": "git clone -q " + url + "/team/other.git other",
		"api":   "curl -sSf --cacert $GIT_SSL_CAINFO " + url + "/api/user",
	} {
		if out, err := w.sandboxed(t, fetch, script); err == nil || fetch.Refusal() == nil || !strings.Contains(fetch.Refusal().Error(), "not approved") {
			t.Errorf("%s: %v: %s (%v)", what, err, out, fetch.Refusal())
		}
	}
	// Nothing in the sandbox holds the login. The person's own file of logins is hidden by
	// the sandbox's settings, not here.
	if out, err := w.sandboxed(t, fetch, "env; cat "+dir+"/* $GIT_SSL_CAINFO /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n'; true"); err != nil || strings.Contains(out, token) || !strings.Contains(out, "BEGIN CERTIFICATE") {
		t.Errorf("%v: %s", err, out)
	}
	fetch.Close()

	dir = w.callDir(t)
	push, err := OpenHTTPS(t.Context(), dir, Call{Remote: remote, Push: true}, credential)
	if err != nil {
		t.Fatal(err)
	}
	defer push.Close()
	// A hook of the repository runs beside git, and finds nothing either.
	write(t, filepath.Join(w.workspace, "c", ".git", "hooks", "pre-push"), `#!/bin/bash
exec >../found 2>&1
env; cat $GIT_SSL_CAINFO; tr '\0' '\n' </proc/$PPID/environ
printf 'protocol=https\nhost=`+strings.TrimPrefix(url, "https://")+`\n\n' | git credential fill
curl -sS --cacert $GIT_SSL_CAINFO `+url+`/team/other.git/info/refs?service=git-upload-pack
true
`, 0o700)
	if out, err := w.sandboxed(t, push, "cd c && head -c 3000000 /dev/urandom >big && git add big && git commit -q -m third && git push -q origin main"); err != nil {
		t.Fatalf("push: %v: %s (%v)", err, out, push.Refusal())
	}
	if log := run(t, "git", "-C", bare, "log", "--format=%s", "main"); !strings.HasPrefix(log, "third\n") {
		t.Errorf("the remote has %q", log)
	}
	found, err := os.ReadFile(filepath.Join(w.workspace, "found"))
	if text := string(found); err != nil || strings.Contains(text, token) || !strings.Contains(text, "BEGIN CERTIFICATE") || !strings.Contains(text, "not approved") || strings.Contains(text, "password") {
		t.Errorf("the hook found %v: %s", err, text)
	}
	if n := without.Load(); n != 0 {
		t.Errorf("%d requests came without the login", n)
	}
}

// A login that the host refuses is named to the person, and git in the sandbox just fails.
func TestARefusedLogin(t *testing.T) {
	w := newWorld(t)
	url, _, without := gitServer(t, w)
	store(t, w, url, "wr0ngS3cret")
	remote := address(t, url+"/team/repo.git")
	credential, err := Fill(t.Context(), remote)
	if err != nil {
		t.Fatal(err)
	}
	dir := w.callDir(t)
	g, err := OpenHTTPS(t.Context(), dir, Call{Remote: remote}, credential)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	out, err := w.sandboxed(t, g, "git clone -q "+remote.String()+" c")
	if err == nil || !strings.Contains(out, "403") || without.Load() == 0 {
		t.Errorf("%v: %s", err, out)
	}
	if r := g.Refusal(); r == nil || !strings.Contains(r.Error(), `refused the login (user "me" at 127.0.0.1`) || strings.Contains(r.Error()+out, "wr0ngS3cret") {
		t.Errorf("refusal %v", r)
	}
}

// The gate goes the way that the person's git would go.
func TestThePersonsProxy(t *testing.T) {
	w := newWorld(t)
	url, _, _ := gitServer(t, w)
	store(t, w, url, token)
	var asked atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		rw.WriteHeader(http.StatusForbidden)
	}))
	defer proxy.Close()
	remote := address(t, url+"/team/repo.git")
	credential, err := Fill(t.Context(), remote)
	if err != nil {
		t.Fatal(err)
	}
	run(t, "git", "config", "--global", "http.proxy", strings.TrimPrefix(proxy.URL, "http://"))
	g, err := OpenHTTPS(t.Context(), w.callDir(t), Call{Remote: remote}, credential)
	if err != nil {
		t.Fatal(err)
	}
	out, err := w.sandboxed(t, g, "git clone -q "+remote.String()+" c")
	g.Close()
	if err == nil || asked.Load() == 0 || !strings.Contains(out, "502") {
		t.Errorf("%v: %s; the proxy was asked %d times", err, out, asked.Load())
	}
	if r := g.Refusal(); r == nil || !strings.Contains(r.Error(), "reach 127.0.0.1") {
		t.Errorf("refusal %v", r)
	}
	run(t, "git", "config", "--global", "http."+url+".proxy", "")
	if way, err := personsProxy(t.Context(), remote.String()); err != nil || way != nil {
		t.Errorf("without a proxy for this host: %v", err)
	}
	run(t, "git", "config", "--global", "http."+url+".proxy", "http://me:"+token+"@:x y")
	if _, err := personsProxy(t.Context(), remote.String()); err == nil || strings.Contains(err.Error(), token) {
		t.Errorf("%v", err)
	}
}
