package gitauth

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/gitserver"
)

// sshServer is a real sshd with a git repository, a key of the person's that may log in, and
// the person's configuration of ssh. The sshd runs as this user.
type sshServer struct {
	world
	port      int
	bare, key string
	url       string
}

func newSSHServer(t *testing.T) sshServer {
	t.Helper()
	s := sshServer{world: newWorld(t)}
	top := filepath.Dir(s.home)
	s.bare, s.key = filepath.Join(top, "srv", "repo.git"), filepath.Join(s.home, ".ssh", "id_ed25519")
	seed := t.TempDir()
	run(t, "git", "init", "-q", "--bare", s.bare)
	run(t, "git", "init", "-q", seed)
	run(t, "git", "-C", seed, "commit", "-q", "--allow-empty", "-m", "first")
	run(t, "git", "-C", seed, "push", "-q", s.bare, "main")
	run(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", s.key, "-C", "person")
	s.port = s.start(t, "host")
	s.url = fmt.Sprintf("ssh://%s@127.0.0.1:%d%s", me(t), s.port, s.bare)
	s.know(t, "host", s.port)
	configFile = write(t, filepath.Join(s.home, ".ssh", "config"), fmt.Sprintf(
		"UserKnownHostsFile %[1]s/.ssh/known_hosts %[1]s/.ssh/known_hosts2\nGlobalKnownHostsFile /dev/null\nIdentityFile %[1]s/.ssh/id_ed25519\n", s.home), 0o600)
	t.Cleanup(func() { configFile = "" })
	return s
}

func me(t *testing.T) string { t.Helper(); return strings.TrimSpace(run(t, "id", "-un")) }

// start starts an sshd with a host key of that name and returns its port.
func (s sshServer) start(t *testing.T, name string) int {
	t.Helper()
	dir := filepath.Join(filepath.Dir(s.home), "sshd")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(dir, name)
	run(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
	keys, err := os.ReadFile(s.key + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "authorized_keys"), string(keys), 0o600)
	return gitserver.StartSSHD(t, key, filepath.Join(dir, "authorized_keys"), "AcceptEnv GIT_PROTOCOL\nSetEnv HOME="+t.TempDir()+"\n")
}

// know adds the key of a server to the person's known hosts, for a port.
func (s sshServer) know(t *testing.T, name string, port int) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(s.home, ".ssh", "known_hosts"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fmt.Fprintf(f, "[127.0.0.1]:%d %s", port, s.hostKey(t, name))
}

// hostKey is the public key of a server.
func (s sshServer) hostKey(t *testing.T, name string) string {
	t.Helper()
	key, err := os.ReadFile(filepath.Join(filepath.Dir(s.home), "sshd", name+".pub"))
	if err != nil {
		t.Fatal(err)
	}
	return string(key)
}

// agentWith starts a real ssh-agent that holds a key.
func (s sshServer) agentWith(t *testing.T, key string) {
	t.Helper()
	socket := filepath.Join(s.home, "agent.sock")
	cmd := exec.CommandContext(t.Context(), "ssh-agent", "-D", "-a", socket)
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSH_AUTH_SOCK", socket)
	run(t, "ssh-add", "-q", key)
}

func (s sshServer) open(t *testing.T, push bool) (*Gate, string) {
	t.Helper()
	remote := address(t, s.url)
	login, err := FindSSH(t.Context(), remote)
	if err != nil {
		t.Fatal(err, fault.Hint(err))
	}
	dir := s.callDir(t)
	g, err := OpenSSH(t.Context(), dir, Call{Remote: remote, Push: push}, login)
	if err != nil {
		t.Fatal(err)
	}
	return g, dir
}

// A real git in a real sandbox clones and pushes over a real sshd, with the person's agent
// outside, and can do nothing else there.
func TestSSHInTheSandbox(t *testing.T) {
	s := newSSHServer(t)
	s.agentWith(t, s.key)
	if login, err := FindSSH(t.Context(), address(t, s.url)); err != nil || !strings.Contains(login.String(), "from the SSH agent (1 key); host key") {
		t.Errorf("%v, %v", login, err)
	}
	if err := os.Remove(s.key); err != nil { // only the agent has it
		t.Fatal(err)
	}
	g, _ := s.open(t, false)
	out, err := s.sandboxed(t, g, "git clone -q "+s.url+" c && git -C c log --format=%s && git -C c fetch -q")
	if err != nil || !strings.Contains(out, "first") {
		t.Fatalf("clone: %v: %s (%v)", err, out, g.Refusal())
	}
	if out, err := s.sandboxed(t, g, "cd c && git commit -q --allow-empty -m second && timeout 20 git push -q origin main"); err == nil {
		t.Errorf("a push over a gate for fetching: %s", out)
	}
	g.Close()
	g, dir := s.open(t, true)
	defer g.Close()
	if out, err := s.sandboxed(t, g, "cd c && head -c 3000000 /dev/urandom >big && git add big && git commit -q -m third && git push origin main && git push origin main"); err != nil {
		t.Fatalf("push: %v: %s (%v)", err, out, g.Refusal())
	}
	if log := run(t, "git", "-C", s.bare, "log", "--format=%s", "main"); !strings.HasPrefix(log, "third\n") {
		t.Errorf("the remote has %q", log)
	}
	// Neither another command nor the agent itself.
	if out, _ := s.sandboxed(t, g, `timeout 10 sh -c "$GIT_SSH_COMMAND \"\$@\"" x host 'id; echo in-a-shell' </dev/null; SSH_AUTH_SOCK=`+dir+`/agent.sock ssh-add -l; SSH_AUTH_SOCK=`+os.Getenv("SSH_AUTH_SOCK")+` ssh-add -l`); strings.Contains(out, "in-a-shell") || strings.Contains(out, "ED25519") {
		t.Errorf("the sandbox can do more: %s", out)
	}
}

// A host that proves to hold another key than the known one gets no login, and git says why.
func TestAnotherHostAnswers(t *testing.T) {
	s := newSSHServer(t)
	impostor := s.start(t, "impostor")
	known := filepath.Join(s.home, ".ssh", "known_hosts")
	write(t, known, fmt.Sprintf("[127.0.0.1]:%d %s", impostor, s.hostKey(t, "host")), 0o600)
	s.url = strings.Replace(s.url, fmt.Sprint(s.port), fmt.Sprint(impostor), 1)
	g, _ := s.open(t, false)
	defer g.Close()
	out, err := s.sandboxed(t, g, "git clone -q "+s.url+" c")
	if err == nil || !strings.Contains(out, "Host key verification failed") && !strings.Contains(out, "no matching host key") {
		t.Errorf("%v: %s", err, out)
	}
	if g.Refusal() == nil {
		t.Error("the person is not told")
	}
}

// What the remote says when it refuses reaches git and the person.
func TestARemoteThatRefuses(t *testing.T) {
	s := newSSHServer(t)
	s.url += "-that-is-not-there"
	g, _ := s.open(t, false)
	defer g.Close()
	out, err := s.sandboxed(t, g, "git clone -q "+s.url+" c")
	if err == nil || !strings.Contains(out, "does not appear to be a git repository") && !strings.Contains(out, "Could not read") {
		t.Errorf("%v: %s", err, out)
	}
	if r := g.Refusal(); r == nil || !strings.HasPrefix(r.Error(), "ssh to 127.0.0.1: ") {
		t.Errorf("refusal %v", r)
	}
}

// Where the connection ends, or there is none, git ends too.
func TestAConnectionThatIsNot(t *testing.T) {
	s := newSSHServer(t)
	g, _ := s.open(t, false)
	defer g.Close()
	out, err := s.sandboxed(t, g, "export HTTP_PROXY=http://a:b@localhost:1; timeout 60 git clone -q "+s.url+" c; echo status $?")
	if err != nil || !strings.Contains(out, "status 128") {
		t.Errorf("%v: %s", err, out)
	}
}

// The person's key is used only for the approved user, whatever program is at the socket.
func TestTheAgentsSocket(t *testing.T) {
	s := newSSHServer(t)
	s.agentWith(t, s.key)
	try := func(dir string) (string, error) {
		out, err := exec.CommandContext(t.Context(), "ssh", "-F", "/dev/null", "-o", "IdentityAgent="+filepath.Join(dir, "agent.sock"), "-o", "IdentityFile=none", "-o", "BatchMode=yes",
			"-o", "UserKnownHostsFile="+filepath.Join(dir, "known_hosts"), "-o", "HostKeyAlias="+hostAlias, "-p", fmt.Sprint(s.port), "127.0.0.1", "echo in").CombinedOutput()
		return string(out), err
	}
	g, dir := s.open(t, false)
	defer g.Close()
	socket := filepath.Join(dir, "agent.sock")
	if out, err := try(dir); err != nil || out != "in\n" {
		t.Errorf("the approved user: %v: %s", err, out)
	}
	s.url = strings.Replace(s.url, me(t)+"@", "somebody@", 1)
	other, dir := s.open(t, false)
	defer other.Close()
	if out, err := try(dir); err == nil || !strings.Contains(fmt.Sprint(other.Refusal()), `"`+me(t)+`"`) {
		t.Errorf("another user: %v: %s, %v", err, out, other.Refusal())
	}
	for _, argv := range [][]string{{"ssh-add", "-D"}, {"ssh-add", s.key}, {"ssh-add", "-x"}, {"ssh-keygen", "-Y", "sign", "-n", "git", "-f", s.key + ".pub", s.key + ".pub"}} {
		cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
		cmd.Env = append(os.Environ(), "SSH_AUTH_SOCK="+socket, "SSH_ASKPASS=/bin/true", "SSH_ASKPASS_REQUIRE=force")
		if out, err := cmd.CombinedOutput(); err == nil {
			t.Errorf("%q: %s", argv, out)
		}
	}
	if out := run(t, "ssh-add", "-l"); !strings.Contains(out, "person") {
		t.Errorf("the person's agent has %q", out)
	}
}

// Without an agent the person's own key files are used, unless they are encrypted.
func TestKeyFiles(t *testing.T) {
	s := newSSHServer(t)
	login, err := FindSSH(t.Context(), address(t, s.url))
	if err != nil || !strings.Contains(login.String(), "from the key files id_ed25519; host key SHA256:") {
		t.Fatalf("%v, %v", login, err)
	}
	if out := fmt.Sprintf("%v %+v %#v", login, login, login); strings.Contains(out, "PRIVATE") || strings.Contains(out, "ed25519.PrivateKey") {
		t.Error(out)
	}
	g, _ := s.open(t, false)
	if out, err := s.sandboxed(t, g, "git clone -q "+s.url+" c"); err != nil {
		t.Errorf("%v: %s (%v)", err, out, g.Refusal())
	}
	g.Close()
	run(t, "ssh-keygen", "-q", "-p", "-N", "a long passphrase", "-f", s.key)
	if _, err := FindSSH(t.Context(), address(t, s.url)); err == nil || !strings.Contains(err.Error(), "is encrypted") || !strings.Contains(fault.Hint(err), "ssh-add "+s.key) {
		t.Errorf("an encrypted key: %v", err)
	}
	if err := os.Remove(s.key); err != nil {
		t.Fatal(err)
	}
	if _, err := FindSSH(t.Context(), address(t, s.url)); err == nil || !strings.Contains(err.Error(), "there is no SSH key") {
		t.Errorf("no key: %v", err)
	}
	t.Setenv("SSH_AUTH_SOCK", filepath.Join(s.home, "nobody.sock"))
	if _, err := FindSSH(t.Context(), address(t, s.url)); err == nil || !strings.Contains(err.Error(), "ask your SSH agent") {
		t.Errorf("an agent that is gone: %v", err)
	}
}

func TestSSHPaths(t *testing.T) {
	for text, want := range map[string]string{
		"git@example.com:team/repo.git": "team/repo.git", "git@example.com:/srv/repo.git": "/srv/repo.git", "ssh://git@example.com/srv/repo.git": "/srv/repo.git",
		"ssh://git@example.com/~me/repo": "~me/repo", "ssh://git@[2001:db8::1]:22/r": "/r", "git@[2001:db8::1]:r": "r", "example.com:it's": "it's",
		"ssh://git@example.com/a%20b/r": "/a b/r", "git@example.com:a%20b": "a%20b",
	} {
		if got := sshPath(Call{Remote: address(t, text)}); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if got := quoteWord("it's!"); got != `'it'\''s'\!''` && got != `'it'\''s\!'` {
		t.Error(got)
	}
}
