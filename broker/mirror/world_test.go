package mirror

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/gitserver"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/gitx"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const token = "tok-5ecretZ7wq91"

// world is a person's home, a bare repository to be served, and a cache.
type world struct {
	top, home, bare, seed string
	cache                 Cache
}

// newWorld makes a world and sets the test's environment to it.
func newWorld(t *testing.T) world {
	t.Helper()
	top := t.TempDir()
	w := world{top: top, home: filepath.Join(top, "home"), bare: filepath.Join(top, "srv", "team", "repo.git"), seed: filepath.Join(top, "seed"), cache: Cache{filepath.Join(top, "cache")}}
	gitserver.Person(t, w.home)
	run(t, "git", "init", "-q", "--bare", w.bare)
	run(t, "git", "-C", w.bare, "config", "http.receivepack", "true")
	run(t, "git", "init", "-q", w.seed)
	w.commit(t, "first")
	return w
}

// commit adds a commit to the remote's branch main.
func (w world) commit(t *testing.T, text string) string {
	t.Helper()
	write(t, filepath.Join(w.seed, "file"), text+"\n", 0o600)
	run(t, "git", "-C", w.seed, "add", "file")
	run(t, "git", "-C", w.seed, "commit", "-q", "-m", text)
	run(t, "git", "-C", w.seed, "push", "-q", w.bare, "HEAD:main", "HEAD:refs/heads/side/b")
	return strings.TrimSpace(run(t, "git", "-C", w.seed, "rev-parse", "HEAD"))
}

// run runs a program of the host, which must succeed.
func run(t *testing.T, argv ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v: %s", argv, err, out)
	}
	return string(out)
}

// write makes a file, with the directories above it.
func write(t *testing.T, path, text string, perm os.FileMode) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), perm); err != nil {
		t.Fatal(err)
	}
	return path
}

func address(t *testing.T, text string) gitx.Address {
	t.Helper()
	a, err := Address(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// serve starts a real HTTPS server that the person's git trusts.
func (w world) serve(t *testing.T, handler http.Handler) string {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	ca := write(t, filepath.Join(w.home, "ca-"+filepath.Base(server.URL)+".pem"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})), 0o600)
	run(t, "git", "config", "--global", "http."+server.URL+".sslCAInfo", ca)
	return server.URL
}

// git returns a real git server over HTTP.
func (w world) git(t *testing.T) http.Handler {
	t.Helper()
	return gitserver.HTTP(t, filepath.Join(w.top, "srv"))
}

// private lets through only requests with the token.
func private(next http.Handler) http.Handler { return gitserver.Private(next, token, nil) }

// store lets the person's git have a login for a host.
func (w world) store(t *testing.T, url, secret string) {
	t.Helper()
	run(t, "git", "config", "--global", "credential.helper", "store")
	file := filepath.Join(w.home, ".git-credentials")
	before, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	write(t, file, strings.Replace(url, "://", "://me:"+secret+"@", 1)+"\n"+string(before), 0o600) // the first one counts
}

// sshd starts a real sshd with a new host key, at which the person can log in, and returns
// the URL of the repository there. The person's ssh reads the configuration in their home.
func (w world) sshd(t *testing.T) (url string, port int) {
	t.Helper()
	dir := filepath.Join(w.top, "sshd")
	for _, key := range []string{filepath.Join(dir, "host"), filepath.Join(w.home, ".ssh", "id_ed25519")} {
		if err := os.MkdirAll(filepath.Dir(key), 0o700); err != nil {
			t.Fatal(err)
		}
		run(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
	}
	program, err := exec.LookPath("ssh")
	if err != nil {
		t.Fatal(err)
	}
	config := write(t, filepath.Join(w.home, ".ssh", "config"), fmt.Sprintf("UserKnownHostsFile %[1]s/.ssh/known_hosts\nGlobalKnownHostsFile /dev/null\nIdentityFile %[1]s/.ssh/id_ed25519\n", w.home), 0o600)
	bin := filepath.Dir(write(t, filepath.Join(w.top, "bin", "ssh"), "#!/bin/sh\nexec "+program+" -F "+config+" \"$@\"\n", 0o700))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	key, err := os.ReadFile(filepath.Join(w.home, ".ssh", "id_ed25519.pub"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "authorized_keys"), string(key), 0o600)
	port = gitserver.StartSSHD(t, filepath.Join(dir, "host"), filepath.Join(dir, "authorized_keys"), "AcceptEnv GIT_PROTOCOL\nSetEnv HOME="+t.TempDir()+"\n")
	me := strings.TrimSpace(run(t, "id", "-un"))
	return fmt.Sprintf("ssh://%s@127.0.0.1:%d%s", me, port, w.bare), port
}

// know adds the host's key to the person's known hosts.
func (w world) know(t *testing.T, port int, key string) {
	t.Helper()
	public, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(w.home, ".ssh", "known_hosts"), fmt.Sprintf("[127.0.0.1]:%d %s", port, public), 0o600)
}

// fetched fetches, and releases the mirror.
func (w world) fetched(t *testing.T, url, branch string) (*Mirror, error) {
	t.Helper()
	m, err := w.cache.Fetch(t.Context(), address(t, url), branch, func(line string, _ bool) { t.Log(line) })
	if err == nil {
		err = m.Release()
	}
	return m, err
}

// refused checks that fetching fails with one line and a hint, without the token, and leaves nothing.
func (w world) refused(t *testing.T, url, branch string, want ...string) {
	t.Helper()
	_, err := w.fetched(t, url, branch)
	if err == nil {
		t.Fatalf("%s was fetched", url)
	}
	said := err.Error() + " / " + fault.Hint(err)
	for _, part := range want {
		if !strings.Contains(said, part) {
			t.Errorf("%s: no %q", said, part)
		}
	}
	if strings.Contains(said, token) || strings.Contains(said, "\n") || fault.Hint(err) == "" {
		t.Errorf("%q", said)
	}
	if left := w.left(t); len(left) > 0 {
		t.Errorf("%s leaves %v", said, left)
	}
}

// left lists the cache without locks.
func (w world) left(t *testing.T) (left []string) {
	t.Helper()
	entries, err := os.ReadDir(w.cache.Dir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".lock" {
			left = append(left, e.Name())
		}
	}
	return left
}
