package wire

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestSocketIsPrivateFromTheFirst(t *testing.T) {
	dir, err := os.MkdirTemp("", "ic")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	old := syscall.Umask(0)
	t.Cleanup(func() { syscall.Umask(old) })
	for name, config := range map[string]net.ListenConfig{"narrow": {Control: narrow}, "wide": {}} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, name)
			l, err := config.Listen(t.Context(), "unix", path)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if private := info.Mode().Perm()&0o077 == 0; private != (name == "narrow") {
				t.Errorf("%s: the socket has mode %v before it is changed", name, info.Mode())
			}
		})
	}
}
