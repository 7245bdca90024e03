package stored

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// A directory that no agent may have is refused at a second place where it is mounted, too.
func TestResolveWorkspaceKnowsMounts(t *testing.T) {
	base := RealPath(t.TempDir())
	user := filepath.Join(base, "users", "me")
	state := filepath.Join(user, ".ironcurtain")
	cache := filepath.Join(user, ".cache", "ironcurtain-mux")
	for _, dir := range []string{filepath.Join(user, "project"), filepath.Join(state, "sessions"), filepath.Join(cache, "servers"), filepath.Join(base, "mounts")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	failed := make(chan error)
	go func() { // on a thread of its own, which ends with its mounts
		runtime.LockOSThread()
		failed <- func() error {
			if err := errors.Join(unix.Unshare(unix.CLONE_FS|unix.CLONE_NEWNS), unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")); err != nil {
				return err
			}
			for name, one := range map[string]struct {
				of  string
				may bool
			}{
				"project": {filepath.Join(user, "project"), true},
				"home":    {user, false},
				"users":   {filepath.Dir(user), false},
				"machine": {"/", false},
				"state":   {state, false},
				"cache":   {cache, false},
			} {
				at := filepath.Join(base, "mounts", name)
				if err := errors.Join(os.Mkdir(at, 0o700), unix.Mount(one.of, at, "", unix.MS_BIND, "")); err != nil {
					return err
				}
				if _, err := ResolveWorkspace(at, state, cache, user); (err == nil) != one.may {
					t.Errorf("%s: %v", name, err)
				}
			}
			return nil
		}()
	}()
	if err := <-failed; errors.Is(err, unix.EPERM) && os.Geteuid() != 0 {
		t.Skip("only root may mount") //nolint:forbidigo // no part is missing
	} else if err != nil {
		t.Fatal(err)
	}
}
