package stored

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// Both sides work in a shared workspace: what one makes the other can change.
func TestSharedWorkspaceIsOpenToBothSides(t *testing.T) {
	if os.Geteuid() != 0 {
		// An ordinary caller is one user on both sides: nothing may change.
		dir := t.TempDir()
		if err := ContainerUser().ShareTree(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
		return
	}
	agent := User{1000, 1000}
	base := shortTemp(t)
	if err := os.Chmod(base, 0o755); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(base, "workspace")
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "old"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/hostname", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := agent.ShareTree(t.Context(), dir); err != nil {
		t.Fatal(err)
	}

	asAgent := func(script string) {
		t.Helper()
		run(t, dir, script, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 1000, Gid: 1000}})
	}
	// The tool servers' side: root in a namespace in which nobody else exists.
	asServer := func(script string) {
		t.Helper()
		run(t, dir, script, &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1}},
		})
	}
	asAgent("cat old && echo agent >>old && mkdir deep && echo one >deep/agent")
	asServer("cat old && echo server >>old && echo two >>deep/agent && echo one >deep/server && echo x >sub/server")
	asAgent("echo two >>deep/server && echo y >>sub/server && rm deep/server")

	if info, err := os.Stat("/etc/hostname"); err != nil || info.Sys().(*syscall.Stat_t).Uid != 0 {
		t.Errorf("a link was followed: %v", err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm()&7 != 0 {
		t.Errorf("others may enter: %v %v", info.Mode(), err)
	}
}

func run(t *testing.T, dir, script string, attr *syscall.SysProcAttr) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-ec", script)
	cmd.Dir, cmd.SysProcAttr = dir, attr
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", script, err, out)
	}
}
