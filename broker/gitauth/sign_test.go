package gitauth

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// agentsRepository is one with a commit that has a parent, made by an agent's git. Its own
// configuration must have no part in what the host does.
func agentsRepository(t *testing.T, w world, format string) (dir string, commit []byte) {
	t.Helper()
	dir = filepath.Join(w.workspace, "repo-"+format)
	run(t, "git", "init", "-q", "--object-format="+format, dir)
	run(t, "git", "-C", dir, "config", "gpg.program", "/bin/false")
	run(t, "git", "-C", dir, "-c", "commit.gpgSign=false", "commit", "-q", "--allow-empty", "-m", "first")
	write(t, filepath.Join(dir, "file"), "text\n", 0o600)
	run(t, "git", "-C", dir, "add", "file")
	run(t, "git", "-C", dir, "-c", "user.name=Agent Ü. (x)", "-c", "commit.gpgSign=false", "commit", "-q", "--date=@1700000000 +0130", "-m", "second\n\nwith a body that ends\n  somehow   ")
	return dir, []byte(run(t, "git", "-C", dir, "cat-file", "commit", "HEAD"))
}

// adopt stores a signed commit as the sandbox would and moves the branch to it.
func adopt(t *testing.T, dir string, signed []byte, id string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", "-C", dir, "hash-object", "-w", "-t", "commit", "--stdin")
	cmd.Stdin = strings.NewReader(string(signed))
	out, err := cmd.Output()
	if err != nil || strings.TrimSpace(string(out)) != id {
		t.Fatalf("%v: %s, want %s", err, out, id)
	}
	run(t, "git", "-C", dir, "update-ref", "HEAD", id)
}

// A commit gets a signature that git verifies, and stays what it was.
func TestSign(t *testing.T) {
	for _, kind := range []string{"ssh", "openpgp"} {
		for _, format := range []string{"sha1", "sha256"} {
			t.Run(kind+" "+format, func(t *testing.T) {
				w := newWorld(t)
				run(t, "git", "config", "--global", "commit.gpgSign", "true")
				if kind == "ssh" {
					key := filepath.Join(w.home, ".ssh", "sign")
					run(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
					public := run(t, "cat", key+".pub")
					run(t, "git", "config", "--global", "gpg.format", "ssh")
					run(t, "git", "config", "--global", "user.signingKey", key)
					run(t, "git", "config", "--global", "gpg.ssh.allowedSignersFile", write(t, filepath.Join(w.home, "signers"), "a@example.com "+public, 0o600))
				} else {
					t.Setenv("GNUPGHOME", filepath.Join(w.home, ".gnupg"))
					run(t, "mkdir", "-m", "700", filepath.Join(w.home, ".gnupg"))
					run(t, "gpg", "--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", "", "--quick-gen-key", "A <a@example.com>", "ed25519", "sign", "never")
					t.Cleanup(func() {
						if err := exec.Command("gpgconf", "--kill", "all").Run(); err != nil {
							t.Error(err)
						}
					})
					run(t, "git", "config", "--global", "user.signingKey", "a@example.com")
				}
				dir, commit := agentsRepository(t, w, format)
				t.Chdir(dir)
				s, wanted, err := FindSigner(t.Context())
				if err != nil || !wanted || !strings.HasPrefix(s.String(), kind+" key ") {
					t.Fatalf("%v, %v, %v", s, wanted, err)
				}
				before := run(t, "git", "log", "-1", "--format=%T %P %an %ae %at %ai %cn %ce %ct %ci %B")
				signed, id, err := s.Sign(t.Context(), commit)
				if err != nil {
					t.Fatal(err)
				}
				adopt(t, dir, signed, id)
				if out, err := exec.CommandContext(t.Context(), "git", "-c", "gpg.program=gpg", "verify-commit", "HEAD").CombinedOutput(); err != nil {
					t.Errorf("%v: %s", err, out)
				}
				if after := run(t, "git", "log", "-1", "--format=%T %P %an %ae %at %ai %cn %ce %ct %ci %B"); after != before {
					t.Errorf("got  %q\nwant %q", after, before)
				}
				run(t, "git", "fsck", "--strict")
			})
		}
	}
}

// Nobody is signed for who did not ask for it, and a key that is not there is an error.
func TestSignOnlyWhereAsked(t *testing.T) {
	w := newWorld(t)
	dir, commit := agentsRepository(t, w, "sha1")
	run(t, "git", "-C", dir, "config", "commit.gpgSign", "true")
	t.Chdir(dir)
	if _, wanted, err := FindSigner(t.Context()); wanted || err != nil {
		t.Errorf("the repository's configuration counts: %v, %v", wanted, err)
	}
	run(t, "git", "config", "--global", "commit.gpgSign", "yes")
	run(t, "git", "config", "--global", "gpg.format", "ssh")
	run(t, "git", "config", "--global", "user.signingKey", filepath.Join(w.home, "none"))
	s, wanted, err := FindSigner(t.Context())
	if !wanted || err != nil {
		t.Fatal(wanted, err)
	}
	if _, _, err := s.Sign(t.Context(), commit); err == nil || !strings.Contains(err.Error(), "none\"") {
		t.Errorf("%v", err)
	}
}

// What git would not make again byte by byte is not signed.
func TestWhatIsNotSigned(t *testing.T) {
	w := newWorld(t)
	key := filepath.Join(w.home, ".ssh", "sign")
	run(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
	run(t, "git", "config", "--global", "gpg.format", "ssh")
	run(t, "git", "config", "--global", "user.signingKey", key)
	id := strings.Repeat("ab", 20)
	const who = "A <a@example.com> 1700000000 +0000"
	good := fmt.Sprintf("tree %s\nparent %s\nauthor %s\ncommitter %s\n\ntext", id, strings.Repeat("cd", 20), who, who)
	if signed, _, err := (Signer{}).Sign(t.Context(), []byte(good)); err != nil || !strings.Contains(string(signed), "gpgsig ") {
		t.Errorf("%q, %v", signed, err)
	}
	for name, text := range map[string]string{
		"empty": "", "no message": strings.TrimSuffix(good, "\n\ntext"), "signed": strings.Replace(good, "\n\n", "\ngpgsig x\n\n", 1),
		"encoding": strings.Replace(good, "\n\n", "\nencoding latin1\n\n", 1), "two trees": "tree " + id + "\n" + good, "an option": strings.Replace(good, id, "--help", 1),
		"NUL": good + "\x00", "long": good + strings.Repeat("x", maxCommit), "no date": strings.ReplaceAll(good, " 1700000000 +0000", ""),
		"odd name": strings.ReplaceAll(good, "A <", "  A.  <"), "odd date": strings.ReplaceAll(good, "+0000", "+9x00"), "upper case": strings.Replace(good, id, strings.ToUpper(id), 1),
	} {
		if signed, _, err := (Signer{}).Sign(t.Context(), []byte(text)); err == nil {
			t.Errorf("%s: %q", name, signed)
		}
	}
}
