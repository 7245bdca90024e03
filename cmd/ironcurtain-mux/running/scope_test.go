package running

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/tui/client"
)

// machine is the root of a file system with systemd's files, and programs on the PATH.
type machine struct {
	*testing.T
	root string
}

func (m machine) write(path, text string, mode os.FileMode) string {
	m.Helper()
	path = filepath.Join(m.root, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		m.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		m.Fatal(err)
	}
	return path
}

// told returns what a program has written to a file, and removes the file.
func (m machine) told(path string) string {
	text, _ := os.ReadFile(filepath.Join(m.root, path))
	_ = os.Remove(filepath.Join(m.root, path))
	return string(text)
}

// Where a logout would kill the daemon, and the user's systemd lingers, the daemon is started in a
// scope of that, else as it is. systemd is played here: its systemd-run notes its arguments and
// becomes the program, as the real one does.
func TestTheDaemonIsStartedInAScope(t *testing.T) {
	m := machine{t, t.TempDir()}
	who, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Join(m.root, "bin")+":"+os.Getenv("PATH"))
	argv := []string{m.write("bin/daemon", "#!/bin/sh\necho $$ >"+m.root+"/began\necho '{}' >&3\n", 0o700)}
	run := "#!/bin/sh\necho $$ \"$@\" >" + m.root + "/scoped\nwhile [ $1 != -- ]; do shift; done\nshift\nexec \"$@\"\n"
	m.write("bin/systemd-run", run, 0o700)
	groups := m.write("cgroup", "0::/user.slice/user-1000.slice/session-3.scope\n", 0o600)
	begin := func(step string, scope bool) {
		t.Helper()
		started, err := start(t.Context(), client.Options{Socket: filepath.Join(m.root, "s", "daemon.sock")}, m.root, groups, argv)
		began, in := m.told("began"), m.told("scoped")
		if !started || err != nil || began == "" {
			t.Errorf("%s: started %v, %v", step, started, err)
		}
		if pid, args, found := strings.Cut(in, " "); found != scope || scope && (pid+"\n" != began || !strings.HasPrefix(args, "--user --scope ")) {
			t.Errorf("%s: it began as %q, systemd-run was told %q", step, began, in)
		}
	}
	// The user may be root, whom a logout kills only if the configuration leaves no exception.
	const kill = "[Login]\nKillUserProcesses=yes\nKillExcludeUsers=\n"
	begin("without systemd", false)
	m.write("run/systemd/system/x", "", 0o600)
	m.write("etc/systemd/logind.conf", kill, 0o600)
	begin("without linger", false)
	m.write("var/lib/systemd/linger/"+who.Username, "", 0o600)
	begin("with both", true)
	m.write("bin/systemd-run", "#!/bin/sh\nexit 1\n", 0o700)
	begin("where systemd cannot be reached", false)
	m.write("bin/systemd-run", run, 0o700)
	m.write("etc/systemd/logind.conf", "", 0o600)
	begin("where a logout kills nothing", false)
	m.write("etc/systemd/logind.conf", kill, 0o600)
	m.write("cgroup", "0::/user.slice/user-1000.slice/user@1000.service/app.slice/x.scope\n", 0o600)
	begin("in the user's systemd", false)

	m.write("cgroup", "0::/user.slice/user-1000.slice/session-3.scope\n", 0o600)
	m.write("bin/daemon", "#!/bin/sh\necho x >>"+m.root+"/began\necho '{\"op\":\"start daemon\",\"reason\":\"no\"}' >&3\n", 0o700)
	var refused *client.StartError
	if _, err := start(t.Context(), client.Options{Socket: filepath.Join(m.root, "s", "daemon.sock")}, m.root, groups, argv); !errors.As(err, &refused) || m.told("began") != "x\n" {
		t.Errorf("a daemon that does not serve is not started again: %v", err)
	}
}
