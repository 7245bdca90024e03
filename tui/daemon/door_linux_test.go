package daemon

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Another user is refused before a byte of theirs is read, also where the modes of the socket and
// its directory would let them in.
func TestAnotherUserIsRefused(t *testing.T) {
	s := start(t, until)
	if os.Geteuid() != 0 {
		// Only root can be somebody else; for others package wire tries that users are compared.
		leave, wait := s.attach(terminal(t))
		<-s.shown
		leave()
		wait()
		return
	}
	for _, path := range []string{s.home, filepath.Dir(SocketPath(s.home)), SocketPath(s.home)} {
		if err := os.Chmod(path, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	got := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with its user
		got <- func() error {
			if _, _, failed := unix.RawSyscall(unix.SYS_SETRESUID, 65534, 65534, 65534); failed != 0 {
				return failed
			}
			fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			if err := unix.Connect(fd, &unix.SockaddrUnix{Name: SocketPath(s.home)}); err != nil {
				return err
			}
			n, err := unix.Read(fd, make([]byte, 1)) // it says nothing, and is refused
			if n > 0 {
				t.Error("the daemon answers")
			}
			return err
		}()
	}()
	if err := <-got; err != nil {
		t.Fatal(err)
	}
	s.stop()
	if !strings.Contains(s.log.String(), "belongs to another user: 65534") {
		t.Errorf("the log: %s", s.log)
	}
}
