package mcpproxy

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/preview"
)

// privateHost serves the repositories of a directory over HTTPS to one login only. The
// person's git knows the login and the authority of the host.
func privateHost(t *testing.T, home, dir string) string {
	t.Helper()
	const secret = "s3cret-of-the-person"
	backend := gitBackend(t, dir)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "me" || password != secret {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		backend.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	authority := filepath.Join(home, "authority.pem")
	for path, text := range map[string]string{
		authority:                               string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})),
		filepath.Join(home, ".git-credentials"): strings.Replace(server.URL, "://", "://me:"+secret+"@", 1) + "\n",
		filepath.Join(home, ".gitconfig"):       "[credential]\n\thelper = store\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GIT_SSL_CAINFO", authority)
	return server.URL
}

// An approved push to a private host logs in as the person, and the panel says so. Without
// an approval the login is not used, and the secret is nowhere.
func TestAnApprovedPushLogsIn(t *testing.T) {
	staged := gitOnStages(t)
	r := newHarness(t, func(c *Config) {
		staged(c)
		c.Preview = &preview.Previewer{UserHome: filepath.Dir(c.Servers[0].Staging.Open[0]), Command: func(_, tool string) string { return strings.TrimPrefix(tool, "git_") }}
	})
	t.Setenv("HOME", r.dir)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(r.dir, ".config"))
	remotes := t.TempDir()
	git(t, remotes, "init", "-q", "--bare", "one.git")
	git(t, remotes, "-C", "one.git", "config", "http.receivepack", "true")
	host := privateHost(t, r.dir, remotes)
	git(t, r.work, "init", "-q")
	git(t, r.work, "commit", "-q", "--allow-empty", "-m", "first")
	git(t, r.work, "remote", "add", "origin", host+"/one.git")
	a := r.agent()
	a.send(callLine("1", "git__git_push", `{"path":"/workspace","remote":"origin","branch":"main"}`))
	item := r.pending(1)[0]
	if item.Effect == nil || len(item.Effect.Lines) == 0 || !strings.Contains(item.Effect.Lines[0].Text, `logs in as user "me" at`) {
		t.Errorf("the panel shows %+v", item.Effect)
	}
	r.approve(1)
	if m := a.answerTo("1"); m.isError() {
		t.Fatalf("push: %s", m.Result)
	}
	if here, there := git(t, r.work, "rev-parse", "HEAD"), git(t, remotes, "-C", "one.git", "rev-parse", "main"); here != there {
		t.Errorf("%s was pushed and %s arrived", here, there)
	}
	for _, d := range r.decisions() {
		if strings.Contains(string(d.Raw), "s3cret") {
			t.Errorf("the audit has the secret: %s", d.Raw)
		}
	}
	// A login that the host does not take any more is told to the person.
	if err := os.WriteFile(filepath.Join(r.dir, ".git-credentials"), []byte(strings.Replace(host, "://", "://me:wrong@", 1)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, r.work, "commit", "-q", "--allow-empty", "-m", "second")
	_, changes := r.queue.Subscribe(t.Context())
	a.send(callLine("2", "git__git_push", `{"path":"/workspace","remote":"origin","branch":"main"}`))
	r.approve(1)
	if m := a.answerTo("2"); !m.isError() || strings.Contains(m.text(), "wrong") {
		t.Errorf("push with a login that is not taken: %s", m.Result)
	}
	if end := r.ended(changes); !strings.Contains(end.Reason, "login") {
		t.Errorf("the person is told %q", end.Reason)
	}
}
