package mcpproxy

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// ownMounts runs the test once more in a mount namespace of its own and reports
// whether this is that run. Without root it takes a user namespace too.
func ownMounts(t *testing.T) bool {
	t.Helper()
	const mark = "MCPPROXY_OWN_MOUNTS"
	if os.Getenv(mark) == t.Name() {
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			t.Fatal(err)
		}
		return true
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), mark+"="+t.Name())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}
	}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("in a mount namespace: %v\n%s", err, out)
	}
	return false
}

// mounted is a small file system, and an audit log on it.
func mounted(t *testing.T) (dir, path string, log *audit.Log) {
	t.Helper()
	dir = t.TempDir()
	mount(t, dir, 0)
	path = filepath.Join(dir, "audit.jsonl")
	log, err := audit.Open(path, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return dir, path, log
}

func mount(t *testing.T, dir string, flags uintptr) {
	t.Helper()
	if err := unix.Mount("tmpfs", dir, "tmpfs", flags, "size=64k,mode=0700"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) }) // one that the test took away is gone already
}

// refused makes calls that must go nowhere, and be told so in one line.
func refused(t *testing.T, r *harness, a *agent, cause error) {
	t.Helper()
	before := len(r.forwarded())
	for range 3 {
		m := a.call("9", "filesystem__read_text_file", `{"path":"a"}`)
		if text := m.text(); !m.isError() || !strings.Contains(text, "could not be recorded (rule "+ruleAudit+")") ||
			!strings.Contains(text, cause.Error()) || strings.Contains(text, "\n") {
			t.Fatalf("answer %s", m.Result)
		}
	}
	if got := len(r.forwarded()); got != before {
		t.Fatalf("%d calls were forwarded without a record", got-before)
	}
}

// TestAuditDirectoryReadOnly takes the directory of the log away from a running
// proxy. The kernel refuses to make a file system read-only of which a file is
// open for writing; what it allows is to mount one that is read-only over it.
func TestAuditDirectoryReadOnly(t *testing.T) {
	if !ownMounts(t) {
		return
	}
	dir, path, log := mounted(t)
	r := newHarness(t, func(c *Config) { c.Audit = log })
	a := r.agent()
	works := func() {
		t.Helper()
		if m := a.call("1", "filesystem__read_text_file", `{"path":"a"}`); m.isError() {
			t.Fatalf("answer %s", m.Result)
		}
	}
	works()
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); !errors.Is(err, unix.EBUSY) {
		t.Fatalf("made read-only below an open log: %v", err)
	}
	works()
	mount(t, dir, unix.MS_RDONLY)
	refused(t, r, a, unix.ENOENT)
	if err := unix.Unmount(dir, 0); err != nil {
		t.Fatal(err)
	}
	works()
	r.close()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if report, err := audit.Verify(path); err != nil || !report.Closed || report.Unfinished != 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := audit.Open(path, audit.Options{}); !errors.Is(err, unix.EROFS) || fault.Hint(err) == "" {
		t.Fatalf("opened on a read-only file system: %v", err)
	}
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT, ""); err != nil {
		t.Fatal(err)
	}
	if log, err := audit.Open(path, audit.Options{}); err != nil {
		t.Fatal(err)
	} else if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestAuditDiskFull fills the log's file system to the last byte while calls are
// made, and empties it again.
func TestAuditDiskFull(t *testing.T) {
	if !ownMounts(t) {
		return
	}
	dir, path, log := mounted(t)
	r := newHarness(t, func(c *Config) { c.Audit = log })
	a := r.agent()
	ballast, err := os.Create(filepath.Join(dir, "ballast"))
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = ballast.Write(make([]byte, 512))
	}
	if err := ballast.Close(); err != nil {
		t.Fatal(err)
	}
	made := 0 // until the last page of the log is full
	for ; made < 40; made++ {
		if m := a.call("1", "filesystem__read_text_file", `{"path":"a"}`); m.isError() {
			break
		}
	}
	refused(t, r, a, unix.ENOSPC)
	if len(r.forwarded()) != made {
		t.Fatalf("%d forwarded, %d answered", len(r.forwarded()), made)
	}
	if err := os.Remove(ballast.Name()); err != nil {
		t.Fatal(err)
	}
	if m := a.call("1", "filesystem__read_text_file", `{"path":"a"}`); m.isError() {
		t.Fatalf("there is room again: %s", m.Result)
	}
	r.close()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if report, err := audit.Verify(path); err != nil || !report.Closed || report.Unfinished != 0 {
		t.Fatalf("%+v, %v", report, err)
	}
}
