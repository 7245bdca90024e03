package docker

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func TestLease(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.lock")
	l, err := AcquireLease(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := AcquireLease(path); !errors.Is(err, ErrLeaseHeld) {
		t.Errorf("a second owner: %v", err)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
	again, err := AcquireLease(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Release(); err != nil {
		t.Fatal(err)
	}
	if _, err := AcquireLease("relative"); err == nil {
		t.Error("a relative path is accepted")
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := AcquireLease(link); err == nil {
		t.Error("a symbolic link is followed")
	}
}

// A slow call of LeaseHeld is not mistaken for an owner of the lease.
func TestLookingIsNotOwning(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.lock")
	looker, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(looker.Fd()), syscall.LOCK_SH); err != nil {
		t.Fatal(err)
	}
	done := time.AfterFunc(100*time.Millisecond, func() { _ = looker.Close() })
	defer done.Stop()
	l, err := AcquireLease(path)
	if err != nil {
		t.Fatal(err)
	}
	if !LeaseHeld(path) {
		t.Error("the owner is not seen")
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
}

// After its owner's process was killed, a container is an orphan. It can be taken back,
// and Reap removes it if nobody does.
func TestReapAfterKill(t *testing.T) {
	c := startPrivate(t).connect() // on the shared engine, others would reap it
	ctx := deadline(t, patience)
	path := filepath.Join(shortDir(t), "s.lock")
	owner := roleCommand(t, "lease", false, path)
	out, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("the owner says %q, %v", line, err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	ct := start(t, c, func(s *Spec) {
		s.Labels[LabelLease], s.Labels[LabelHost] = path, host
	}, "sleep", "1000")

	look := func(o ReapOptions) Reaped {
		t.Helper()
		all, err := c.Reap(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range all {
			if r.ID == ct.ID() {
				return r
			}
		}
		t.Fatal("the container is not looked at")
		return Reaped{}
	}
	if r := look(ReapOptions{DryRun: true, Force: true}); r.Removed {
		t.Errorf("with a living owner: %+v", r)
	}
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait()
	if r := look(ReapOptions{DryRun: true}); !r.Removed {
		t.Errorf("after its owner was killed: %+v", r)
	}
	mine, err := AcquireLease(path)
	if err != nil {
		t.Fatalf("taking the session back: %v", err)
	}
	if r := look(ReapOptions{DryRun: true}); r.Removed {
		t.Errorf("after it was taken back: %+v", r)
	}
	if err := mine.file.Close(); err != nil {
		t.Fatal(err)
	}
	if r := look(ReapOptions{DryRun: true}); !r.Removed {
		t.Errorf("after it was abandoned: %+v", r)
	}
}

func TestJudgeOwner(t *testing.T) {
	gone := filepath.Join(t.TempDir(), "gone.lock")
	held := filepath.Join(t.TempDir(), "held.lock")
	l, err := AcquireLease(held)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Release() }()
	tests := []struct {
		name          string
		lease, host   string
		state         string
		plain, forced bool // removed without and with force
	}{
		{"its owner lives", held, "me", "running", false, false},
		{"its owner ended", gone, "me", "running", true, true},
		{"on another machine", gone, "you", "running", false, true},
		{"without a lease, running", "", "", "running", false, true},
		{"without a lease, just created", "", "", "created", false, true},
		{"without a lease, ended", "", "", "exited", true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := Summary{State: tt.state, Labels: map[string]string{LabelLease: tt.lease, LabelHost: tt.host}}
			for _, force := range []bool{false, true} {
				release, reason, orphan := judgeOwner(s, "me", force)
				release(false)
				if want := map[bool]bool{false: tt.plain, true: tt.forced}[force]; orphan != want || reason == "" {
					t.Errorf("force %v: %v (%s), want %v", force, orphan, reason, want)
				}
			}
		})
	}
}

// A container of another machine with this one's name, whose session is not here, is not removed.
func TestReapLeavesAMachineOfTheSameName(t *testing.T) {
	s := Summary{Labels: map[string]string{LabelLease: "/nonesuch/lock", LabelHost: "laptop/0a1b"}}
	for this, want := range map[string]bool{"laptop/0a1b": true, "laptop/2c3d": false} {
		t.Run(this, func(t *testing.T) {
			if _, reason, orphan := judgeOwner(s, this, false); orphan != want {
				t.Errorf("an orphan: %v, %s", orphan, reason)
			}
		})
	}
}
