package packages

import (
	"os"
	"os/signal"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A line that the disk had no room for is not in the ledger, and spoils none that comes when there
// is room again.
func TestLedgerOnAFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "packages.ledger")
	l, err := OpenLedger(path, false)
	if err != nil {
		t.Fatal(err)
	}
	see := func(name string) error {
		_, err := l.FirstSeen("https://npm.example/", name, "1.0.0")
		return err
	}
	if err := see("before"); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	full(t, uint64(info.Size())+40, func() {
		for range 2 {
			if see("a-name-that-is-longer-than-the-others") == nil {
				t.Error("a line was written to a full disk")
			}
		}
	})
	if l.Knows("https://npm.example/", "a-name-that-is-longer-than-the-others") {
		t.Error("what could not be written is known")
	}
	for _, name := range []string{"after", "later"} {
		if err := see(name); err != nil {
			t.Error(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if l, err = OpenLedger(path, true); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"before", "after", "later"} {
		if !l.Knows("https://npm.example/", name) {
			t.Errorf("%s is forgotten", name)
		}
	}
}

// full calls f while no file can be larger than so many bytes.
func full(t *testing.T, size uint64, f func()) {
	t.Helper()
	signal.Ignore(unix.SIGXFSZ)
	defer signal.Reset(unix.SIGXFSZ)
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: size, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
			t.Fatal(err)
		}
	}()
	f()
}
