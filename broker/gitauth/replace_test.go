package gitauth

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// sshSigner makes the person sign with an SSH key.
func sshSigner(t *testing.T, w world) Signer {
	t.Helper()
	key := filepath.Join(w.home, ".ssh", "sign")
	run(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
	run(t, "git", "config", "--global", "gpg.format", "ssh")
	run(t, "git", "config", "--global", "user.signingKey", key)
	run(t, "git", "config", "--global", "gpg.ssh.allowedSignersFile", write(t, filepath.Join(w.home, "signers"), "a@example.com "+run(t, "cat", key+".pub"), 0o600))
	return signer(t)
}

// signer is the person's, who signs from now on.
func signer(t *testing.T) Signer {
	t.Helper()
	run(t, "git", "config", "--global", "commit.gpgSign", "true")
	s, wanted, err := FindSigner(t.Context())
	if err != nil || !wanted {
		t.Fatal(wanted, err)
	}
	return s
}

// replace runs a call between the two parts of a Replacer.
func replace(t *testing.T, dir string, s Signer, approved ApprovedCommit, call func()) (signed string, err error) {
	t.Helper()
	r := replacer(t, dir)
	call()
	all, err := r.Replace(t.Context(), s, approved)
	if len(all) == 1 {
		signed = all[0].Signed
	}
	return signed, err
}

// replacer returns a Replacer for a repository until the test ends.
func replacer(t *testing.T, dir string) *Replacer {
	t.Helper()
	argv := RepositoryArgv(dir)
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	r, err := NewReplacer(in, bufio.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// made is a commit by an agent's git, which does not sign.
func made(t *testing.T, dir, message string, more ...string) {
	t.Helper()
	run(t, append([]string{"git", "-C", dir, "-c", "commit.gpgSign=false", "commit", "-q", "--allow-empty", "-m", message}, more...)...)
}

// What was approved is signed; anything else stays as it is.
func TestReplace(t *testing.T) {
	w := newWorld(t)
	s := sshSigner(t, w)
	dir := filepath.Join(w.workspace, "repo")
	run(t, "git", "init", "-q", dir)
	head := func() string { return strings.TrimSpace(run(t, "git", "-C", dir, "rev-parse", "HEAD")) }
	for _, amend := range []bool{false, false, true} {
		signed, err := replace(t, dir, s, ApprovedCommit{Message: "m\n\n", Amend: amend}, func() {
			made(t, dir, "m", map[bool][]string{true: {"--amend"}}[amend]...)
		})
		if err != nil || signed != head() {
			t.Fatalf("%s, %v; HEAD is %s", signed, err, head())
		}
		run(t, "git", "-C", dir, "verify-commit", "HEAD")
	}
	other := strings.TrimSpace(run(t, "git", "-C", dir, "commit-tree", "-m", "m", "HEAD^{tree}"))
	for name, c := range map[string]struct {
		approved ApprovedCommit
		call     func()
		says     string
	}{
		"nothing":         {ApprovedCommit{Message: "m"}, func() {}, "same commit"},
		"another message": {ApprovedCommit{Message: "m"}, func() { made(t, dir, "n") }, "message is different"},
		"two commits":     {ApprovedCommit{Message: "m"}, func() { made(t, dir, "m"); made(t, dir, "m") }, "one new commit"},
		"another branch":  {ApprovedCommit{Message: "m"}, func() { run(t, "git", "-C", dir, "checkout", "-q", "--detach", other) }, "one new commit"},
		"other files":     {ApprovedCommit{Message: "m", Tree: other}, func() { made(t, dir, "m") }, "the files are not those"},
		"another HEAD":    {ApprovedCommit{Message: "m", Head: other}, func() { made(t, dir, "m") }, "moved"},
		"another author":  {ApprovedCommit{Message: "m"}, func() { made(t, dir, "m", "--author=B <b@example.com>") }, "author"},
		"not this author": {ApprovedCommit{Message: "m", Author: "B <b@example.com>"}, func() { made(t, dir, "m") }, "author"},
		"not amended":     {ApprovedCommit{Message: "m", Amend: true}, func() { made(t, dir, "m") }, "one new commit"},
		"another committer": {ApprovedCommit{Message: "m"}, func() {
			run(t, "git", "-C", dir, "-c", "commit.gpgSign=false", "-c", "user.email=b@example.com", "commit", "-q", "--allow-empty", "-m", "m", "--author=A <a@example.com>")
		}, "committer"},
		"gone": {ApprovedCommit{Message: "m"}, func() { run(t, "git", "-C", dir, "symbolic-ref", "HEAD", "refs/heads/none") }, "not"},
	} {
		run(t, "git", "-C", dir, "checkout", "-q", "-f", "main")
		var after string
		_, err := replace(t, dir, s, c.approved, func() {
			c.call()
			if name != "gone" {
				after = head()
			}
		})
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		if name != "gone" && head() != after {
			t.Errorf("%s: HEAD has moved", name)
		}
	}
}

// A HEAD that moves while the host signs stays where it is.
func TestHeadMovesMeanwhile(t *testing.T) {
	w := newWorld(t)
	s := sshSigner(t, w)
	dir := filepath.Join(w.workspace, "repo")
	run(t, "git", "init", "-q", dir)
	made(t, dir, "first")
	program := "#!/bin/sh\n(unset GIT_DIR; git -C '" + dir + "' -c commit.gpgSign=false commit -q --allow-empty -m meanwhile) && exec ssh-keygen \"$@\"\n"
	run(t, "git", "config", "--global", "gpg.ssh.program", write(t, filepath.Join(w.home, "slow"), program, 0o700))
	if _, err := replace(t, dir, s, ApprovedCommit{Message: "m"}, func() { made(t, dir, "m") }); err == nil || !strings.Contains(err.Error(), "moved") {
		t.Errorf("%v", err)
	}
	if subjects := run(t, "git", "-C", dir, "log", "--format=%s"); subjects != "meanwhile\nm\nfirst\n" {
		t.Errorf("the commits are %q", subjects)
	}
}

// A program that hangs, prints rubbish, or would have to ask for a passphrase gives no
// signature, and an error that says what to do.
func TestSignersThatGiveNone(t *testing.T) {
	w := newWorld(t)
	dir, commit := agentsRepository(t, w, "sha1")
	t.Chdir(dir)
	fails := func(name string) string {
		t.Helper()
		signed, _, err := signer(t).Sign(t.Context(), commit)
		if err == nil {
			t.Fatalf("%s: %q", name, signed)
		}
		return err.Error()
	}
	t.Setenv("GNUPGHOME", filepath.Join(w.home, ".gnupg"))
	run(t, "mkdir", "-m", "700", filepath.Join(w.home, ".gnupg"))
	asked := filepath.Join(w.home, "asked")
	pinentry := write(t, filepath.Join(w.home, "pinentry"), "#!/bin/sh\ntouch '"+asked+"'\n", 0o700)
	write(t, filepath.Join(w.home, ".gnupg", "gpg-agent.conf"), "s2k-count 65536\npinentry-program "+pinentry+"\n", 0o600)
	run(t, "gpg", "--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", "secret", "--quick-gen-key", "A <a@example.com>", "ed25519", "sign", "never")
	stop := func() {
		if err := exec.Command("gpgconf", "--kill", "all").Run(); err != nil {
			t.Error(err)
		}
	}
	stop() // it forgets the passphrase
	t.Cleanup(stop)
	if says := fails("locked"); !strings.Contains(says, "openpgp key of A") {
		t.Errorf("locked: %s", says)
	}
	if _, err := os.Stat(asked); err == nil {
		t.Error("somebody was asked for the passphrase")
	}
	run(t, "git", "config", "--global", "gpg.program", write(t, filepath.Join(w.home, "rubbish"), "#!/bin/sh\ncat >/dev/null\necho '[GNUPG:] SIG_CREATED ' >&2\necho rubbish\n", 0o700))
	if says := fails("rubbish"); !strings.Contains(says, "is not a signature") {
		t.Errorf("rubbish: %s", says)
	}
	signLimit = 300 * time.Millisecond
	defer func() { signLimit = 10 * time.Second }()
	run(t, "git", "config", "--global", "gpg.program", write(t, filepath.Join(w.home, "hangs"), "#!/bin/sh\nexec sleep 1000\n", 0o700))
	if says := fails("hangs"); !strings.Contains(says, "no answer in time") {
		t.Errorf("hangs: %s", says)
	}
	run(t, "git", "config", "--global", "gpg.format", "x509")
	if _, wanted, err := FindSigner(t.Context()); !wanted || err == nil || !strings.Contains(err.Error(), "x509") {
		t.Errorf("x509: %v, %v", wanted, err)
	}
}

// The panel names an SSH key however it is configured.
func TestSSHKeyNames(t *testing.T) {
	w := newWorld(t)
	sshSigner(t, w)
	public := strings.TrimSpace(run(t, "cat", filepath.Join(w.home, ".ssh", "sign.pub")))
	for _, value := range []string{"~/.ssh/sign", "~/.ssh/sign.pub", "key::" + public, public} {
		run(t, "git", "config", "--global", "user.signingKey", value)
		if s := signer(t).String(); !strings.HasPrefix(s, "ssh key SHA256:") || !strings.Contains(s, "@") {
			t.Errorf("%s: %s", value, s)
		}
	}
	run(t, "git", "config", "--global", "user.signingKey", "/none")
	if s := signer(t).String(); s != `ssh key "/none"` {
		t.Error(s)
	}
}
