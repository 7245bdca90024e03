package gitauth

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// helper makes a program that the person's git asks for logins.
func helper(t *testing.T, w world, name, script string) {
	t.Helper()
	path := write(t, filepath.Join(w.home, "bin", name), "#!/bin/sh\n[ \"$1\" = get ] || exit 0\n"+script+"\n", 0o700)
	run(t, "git", "config", "--global", "--add", "credential.helper", path)
}

func TestFill(t *testing.T) {
	w := newWorld(t)
	remote := address(t, "https://example.com/team/repo.git")
	// The configuration of a repository around this process has no part in it.
	repository := filepath.Join(w.workspace, "evil")
	run(t, "git", "init", "-q", repository)
	run(t, "git", "-C", repository, "config", "credential.helper", "!echo username=evil; echo password=evil; touch "+w.home+"/ran; :")
	t.Chdir(repository)
	t.Setenv("GIT_DIR", filepath.Join(repository, ".git"))
	if _, err := Fill(t.Context(), remote); err == nil || !strings.Contains(err.Error(), "no credential helper is configured") {
		t.Errorf("without a helper: %v", err)
	}
	helper(t, w, "first-helper", "exit 0")
	if _, err := Fill(t.Context(), remote); err == nil || !strings.Contains(err.Error(), "`first-helper` has none") || !strings.Contains(fault.Hint(err), "git ls-remote https://example.com/team/repo.git") {
		t.Errorf("a helper without the login: %v, %s", err, fault.Hint(err))
	}
	store(t, w, "https://example.com", token)
	c, err := Fill(t.Context(), remote)
	if err != nil || c.User != "me" || c.reveal() != token {
		t.Fatalf("%v, %v", c, err)
	}
	holder := struct{ kept Credential }{c}
	if s := fmt.Sprintf("%v %+v %#v %s %v %+v %#v", c, c, c, &c, holder, holder, holder); strings.Contains(s, token) || !strings.Contains(s, "user \"me\" at example.com, from the credential helper `store`") {
		t.Error(s)
	}
	if _, err := os.Lstat(w.home + "/ran"); err == nil {
		t.Error("the repository's helper ran")
	}
	if _, err := Fill(t.Context(), address(t, "https://example.org/team/repo.git")); err == nil {
		t.Error("another host has the login")
	}
	if _, err := Fill(t.Context(), address(t, "http://example.com/team/repo.git")); err == nil {
		t.Error("the login is sent in the clear")
	}
}

// The path is told to helpers exactly where the person's configuration says so.
func TestUseHTTPPath(t *testing.T) {
	w := newWorld(t)
	helper(t, w, "paths", `path=none; while read -r l && [ -n "$l" ]; do case $l in path=*) path=${l#path=};; esac; done; echo username=u; echo "password=$path"`)
	remote := address(t, "https://example.com/team/repo.git")
	if c, err := Fill(t.Context(), remote); err != nil || c.reveal() != "none" {
		t.Errorf("%q, %v", c.reveal(), err)
	}
	run(t, "git", "config", "--global", "credential.https://example.com.useHttpPath", "true")
	if c, err := Fill(t.Context(), remote); err != nil || c.reveal() != "team/repo.git" {
		t.Errorf("%q, %v", c.reveal(), err)
	}
	if c, err := Fill(t.Context(), address(t, "https://example.com/a%20b/repo/")); err != nil || c.reveal() != "a b/repo" {
		t.Errorf("%q, %v", c.reveal(), err)
	}
	if c, err := Fill(t.Context(), address(t, "https://example.com/a%0Ahost=example.org/repo")); err == nil {
		t.Errorf("a line in the path: %q", c.reveal())
	}
}

// A helper that hangs is killed with all that it has started.
func TestAHelperThatHangs(t *testing.T) {
	w := newWorld(t)
	askLimit = time.Second
	t.Cleanup(func() { askLimit = 10 * time.Second })
	fifo := filepath.Join(w.home, "alive")
	run(t, "mkfifo", fifo)
	alive, err := os.OpenFile(fifo, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Close()
	helper(t, w, "hangs", "exec 3>"+fifo+"; echo up >&3; sleep 1000 & sleep 1000")
	_, err = Fill(t.Context(), address(t, "https://example.com/r"))
	if err == nil || !strings.Contains(err.Error(), "`hangs` gave no answer for example.com") {
		t.Fatal(err)
	}
	// Once nobody else holds the pipe for writing, a reader that was opened by itself sees its end.
	reader, err := os.Open(fifo)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	_ = alive.Close()
	if err := reader.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 16)
	for err = nil; err == nil; {
		_, err = reader.Read(buffer)
	}
	if os.IsTimeout(err) {
		t.Error("the helper is still there")
	}
}

// A helper has no terminal to ask on, and nothing asks in its place.
func TestAHelperHasNoTerminal(t *testing.T) {
	w := newWorld(t)
	t.Setenv("SSH_ASKPASS", write(t, filepath.Join(w.home, "bin", "askpass"), "#!/bin/sh\necho asked\n", 0o700))
	t.Setenv("GIT_ASKPASS", filepath.Join(w.home, "bin", "askpass"))
	helper(t, w, "asks", "(: </dev/tty) 2>/dev/null && echo username=u && echo password=typed")
	if c, err := Fill(t.Context(), address(t, "https://example.com/r")); err == nil || !strings.Contains(err.Error(), "would have to ask on a terminal") {
		t.Errorf("%v, %v", c, err)
	}
}

// A helper that says too much is no login, and neither is one that says something else.
func TestAHelperThatAnswersRubbish(t *testing.T) {
	for script, want := range map[string]string{
		"echo username=u; printf password=; head -c 100000 /dev/zero | tr '\\0' x; echo": "too large",
		"echo 'no, thanks'": "has none", "echo username=u": "has none", "echo quit=true": "has none", "printf 'username=u\\rv\\npassword=x\\n'": "has none",
	} {
		w := newWorld(t)
		helper(t, w, "odd", script)
		if c, err := Fill(t.Context(), address(t, "https://example.com/r")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, want %q", script, c, err, want)
		}
	}
}

func TestRubbish(t *testing.T) {
	for text, want := range map[string]string{
		"protocol=https\nhost=h\nusername=u\npassword=p\n":                     "",
		"protocol=https\nhost=h\nusername=u\npassword=a=b\nnew[]=1\nnew[]=2\n": "",
		"":                    "malformed",
		"protocol=https\nx\n": "malformed",
		"protocol=https\nhost=other\nusername=u\npassword=p\n":         "another host",
		"protocol=http\nhost=h\nusername=u\npassword=p\n":              "another host",
		"protocol=https\nhost=h\nusername=u\n":                         "no user name or no password",
		"protocol=https\nhost=h\npassword=p\n":                         "no user name or no password",
		"protocol=https\nhost=h\nusername=a\nusername=u\npassword=p\n": "twice",
		"protocol=https\nhost=h\nusername=a:b\npassword=p\n":           "colon",
		"protocol=https\nhost=h\nusername=u\npassword=p\r\n":           "malformed",
		"protocol=https\nhost=h\nusername=u\npassword=p\x00\n":         "malformed",
	} {
		_, err := parseCredential(text, "h")
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestHelperNames(t *testing.T) {
	for value, want := range map[string]string{
		"store --file x": "`store`", "/usr/bin/gcm get": "`gcm`", "!/usr/bin/gh auth git-credential": "`gh`",
		"!f() { echo password=secret; }; f": "a shell command", "!": "a shell command",
	} {
		if got := helperName(value); got != want {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
	remote := address(t, "https://git.example.com/team/repo.git")
	for scope, want := range map[string]bool{
		"https://git.example.com": true, "https://git.example.com:443": true, "https://*.example.com": true, "git.example.com": true,
		"https://git.example.com/team": true, "https://git.example.com/te": false, "https://example.com": false,
		"http://git.example.com": false, "https://git.example.com:8443": false, "https://git.example.org": false,
	} {
		if covers(scope, remote) != want {
			t.Errorf("%s: want %v", scope, want)
		}
	}
}
