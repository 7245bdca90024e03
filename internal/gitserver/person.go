package gitserver

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Person makes a directory the home of the test's person, by the test's environment. Their git has a
// name for commits, and uses no configuration, certificates, agent or proxy of this machine.
func Person(t *testing.T, home string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(home, ".ssh"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"GIT_SSL_CAINFO", "SSL_CERT_FILE", "SSL_CERT_DIR", "SSH_AUTH_SOCK", "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"} {
		t.Setenv(name, "")
		if err := os.Unsetenv(name); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	for name, value := range map[string]string{"user.name": "A", "user.email": "a@example.com", "init.defaultBranch": "main"} {
		if out, err := exec.CommandContext(t.Context(), "git", "config", "--global", name, value).CombinedOutput(); err != nil {
			t.Fatalf("git config %s: %v: %s", name, err, out)
		}
	}
}
