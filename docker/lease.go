package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/machine"
)

// Labels that say who owns a container.
const (
	LabelLease = "ironcurtain.lease" // path of the owner's lease
	LabelHost  = "ironcurtain.host"  // the machine the lease is on; see package machine
)

// ErrLeaseHeld means that another process, or another part of this one, owns
// the session.
var ErrLeaseHeld = errors.New("it belongs to another running process")

// Lease shows that a running process owns a session. It is a lock on a file, which the kernel
// releases however the process ends. A process ID would not do, because the system reuses it.
type Lease struct {
	path string
	file *os.File
	host string
}

// AcquireLease takes the lease at path, an absolute path in a directory that exists.
// It fails with ErrLeaseHeld when somebody else holds the lease.
func AcquireLease(path string) (*Lease, error) {
	const op = "lock the session"
	host, err := machine.Label()
	if err != nil {
		return nil, fault.Wrap(op, err, "")
	}
	if !filepath.IsAbs(path) {
		return nil, fault.Wrap(op, fmt.Errorf("%s is not an absolute path", path), "")
	}
	for range 100 {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, fault.Wrap(op, err, "")
		}
		err = lockLease(f, path)
		if err == nil {
			return &Lease{path: path, file: f, host: host}, nil
		}
		f.Close()
		if !errors.Is(err, errLeaseReplaced) {
			return nil, fault.Wrap(op, err, "")
		}
	}
	return nil, fault.Wrap(op, errLeaseReplaced, "")
}

// LeaseHeld reports whether a process holds the lease at path. The answer may be out of
// date at once; only AcquireLease is certain.
func LeaseHeld(path string) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// errLeaseReplaced means that the file was removed between opening and locking it, so
// the lock is on a file that no other process can open.
var errLeaseReplaced = errors.New("the lease was removed while it was being locked")

// LeaseHeld holds a shared lock for a moment. lockLease must not mistake that for an owner, so it
// retries every leaseRetry, for leaseRetryLimit at most: on a busy machine the moment may be long.
const (
	leaseRetry      = 2 * time.Millisecond
	leaseRetryLimit = 5 * time.Second
)

func lockLease(f *os.File, path string) error {
	fd := int(f.Fd())
	err := syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB)
	for end := time.Now().Add(leaseRetryLimit); errors.Is(err, syscall.EWOULDBLOCK); err = syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB) {
		if syscall.Flock(fd, syscall.LOCK_SH|syscall.LOCK_NB) != nil || time.Now().After(end) {
			return ErrLeaseHeld
		}
		_ = syscall.Flock(fd, syscall.LOCK_UN)
		<-time.After(leaseRetry)
	}
	if err != nil {
		return err
	}
	locked, err := f.Stat()
	if err != nil {
		return err
	}
	current, err := os.Lstat(path)
	if err != nil || !os.SameFile(locked, current) {
		return errLeaseReplaced
	}
	return nil
}

// Labels returns the labels for every container that the session starts.
func (l *Lease) Labels() map[string]string {
	return map[string]string{LabelLease: l.path, LabelHost: l.host}
}

// Release unlocks the lease and removes its file.
func (l *Lease) Release() error {
	// Remove before unlocking, so that a process that opens the path later creates a
	// new file.
	err := os.Remove(l.path)
	return fault.Wrap("unlock the session", errors.Join(err, l.file.Close()), "")
}

// ReapOptions say what Reap removes.
type ReapOptions struct {
	DryRun bool // only report what would be removed
	// Force also removes running containers without a lease, and containers of
	// another machine. Containers of a running owner are never removed.
	Force bool
	// Keep reports whether to keep a container whose owner was killed, because its
	// session can be resumed. Nil keeps none.
	Keep func(Summary) bool
}

// Reaped is one container that Reap examined.
type Reaped struct {
	Summary
	Removed bool   `json:"removed"` // with DryRun: would be removed
	Reason  string `json:"reason"`  // why, or why not
}

// Reap removes the containers of this program whose owner has ended. It leaves every
// container without this program's label alone. It continues after a failure and
// reports all failures.
func (c *Client) Reap(ctx context.Context, o ReapOptions) ([]Reaped, error) {
	list, err := c.List(ctx, nil)
	if err != nil {
		return nil, err
	}
	host, err := machine.Label()
	if err != nil {
		return nil, fault.Wrap("remove orphans", err, "")
	}
	out := make([]Reaped, 0, len(list))
	var failures []error
	for _, s := range list {
		r := Reaped{Summary: s}
		if o.Keep != nil && abandoned(s, host) && o.Keep(s) {
			r.Reason = keptReason
			out = append(out, r)
			continue
		}
		release, reason, orphan := judgeOwner(s, host, o.Force)
		r.Reason, r.Removed = reason, orphan
		if orphan && o.Keep != nil && o.Keep(s) {
			r.Reason, r.Removed, orphan = keptReason, false, false
		}
		if orphan && !o.DryRun {
			if err := c.remove(ctx, s.ID); err != nil {
				failures = append(failures, err)
				r.Removed, r.Reason = false, err.Error()
			}
		}
		release(r.Removed && !o.DryRun)
		out = append(out, r)
	}
	return out, fault.Wrap("remove orphans", errors.Join(failures...), "")
}

const keptReason = "it can be taken back"

// abandoned reports whether a container's lease exists and nobody holds it. It does not
// take the lease, so that a process resuming the session at this moment can.
func abandoned(s Summary, host string) bool {
	path := s.Labels[LabelLease]
	if path == "" || !machine.Same(s.Labels[LabelHost], host) {
		return false
	}
	_, err := os.Lstat(path)
	return err == nil && !LeaseHeld(path)
}

// judgeOwner reports whether a container has no owner. If it has none, judgeOwner holds
// the lease until release is called, so that nobody resumes the session while its
// container is being removed. release(true) also removes the lease's file.
func judgeOwner(s Summary, host string, force bool) (release func(remove bool), reason string, orphan bool) {
	none := func(bool) {}
	path := s.Labels[LabelLease]
	if path == "" {
		switch {
		case force:
			return none, "it has no owner", true
		case s.State == "exited" || s.State == "dead":
			return none, "it has no owner and has ended", true
		}
		return none, "it has no owner but runs; --force removes it", false
	}
	if !machine.Same(s.Labels[LabelHost], host) {
		if !force {
			return none, "it belongs to the machine " + plainLine(s.Labels[LabelHost]) + "; --force removes it", false
		}
		return none, "it belongs to another machine", true
	}
	f, err := os.OpenFile(path, os.O_RDWR|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return none, "its owner has ended", true
	}
	if err != nil {
		return none, "its owner cannot be determined: " + oneLine(err.Error()), false
	}
	switch err := lockLease(f, path); {
	case errors.Is(err, ErrLeaseHeld):
		f.Close()
		return none, "its owner runs", false
	case err != nil:
		f.Close()
		return none, "its owner is changing", false
	}
	return func(remove bool) {
		if remove {
			_ = os.Remove(path)
		}
		f.Close()
	}, "its owner was killed", true
}
