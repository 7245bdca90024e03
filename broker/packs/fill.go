package packs

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// Plan says what the worktrees of a repository need on an engine.
type Plan struct {
	Repository string   // the git directory with the objects: the Common of a worktree's Tree
	Tips       []string // commits that are needed with their files, and with as much history as the limit allows
	More       []string // other commits and tags to which the worktree has references, the most important first
	// State is a file on the host that stores what was sent for this engine and repository. It and
	// the volume are made and removed together.
	State string
	// Volume tells this volume from an earlier one of the same name; may be empty.
	Volume string
	Limit  int64 // bytes that are sent at once; 0: 512 MiB
	// Progress is called with the number of bytes sent so far and the total; may be nil.
	Progress func(sent, all int64)
}

// Volume is the directory in which git finds objects on the engine.
type Volume interface {
	// List returns the files below the directory, by their slash-separated paths, with their
	// sizes in bytes.
	List(ctx context.Context) (map[string]int64, error)
	// Put writes a file of size bytes with the digest sum. It appears only when it is complete.
	Put(ctx context.Context, name string, r io.Reader, size int64, sum [sha256.Size]byte) error
}

// Result says what was sent, and what the volume lacks.
type Result struct {
	Sent   int64 // bytes
	Reused bool  // the volume had objects already
	// Cut are the commits whose parents the volume lacks, including those at which the
	// repository's own history ends. They belong into the file "shallow" of the worktree's .git.
	Cut []string
	// Shortened means that the repository has more history than the volume.
	Shortened bool
	// Absent are those of Plan.More that the volume lacks. A worktree with references to them is
	// broken.
	Absent []string
}

// Missing describes what the volume lacks, such as "the oldest part of the history and 3
// branches or tags", or returns "".
func (r Result) Missing() string {
	var parts []string
	if r.Shortened {
		parts = append(parts, "the oldest part of the history")
	}
	switch n := len(r.Absent); {
	case n == 1:
		parts = append(parts, "a branch or tag")
	case n > 1:
		parts = append(parts, fmt.Sprintf("%d branches or tags", n))
	}
	return strings.Join(parts, " and ")
}

// defaultLimit is the limit of a plan without one, in bytes.
const defaultLimit = 512 << 20

// Fill puts into the volume what it lacks for the plan. It uses the directory work for temporary
// files. Another Fill with the same State waits.
func Fill(ctx context.Context, p Plan, v Volume, work string) (Result, error) {
	var r Result
	err := p.locked(ctx, func() error {
		listed, err := v.List(ctx)
		if err != nil {
			return fmt.Errorf("list what the engine has: %w", err)
		}
		j, err := p.newJob(ctx, work, func(name string, size int64) bool {
			got, ok := listed[name]
			return ok && got == size
		})
		if err != nil {
			return err
		}
		r, err = j.fill(ctx, v, listed)
		return errors.Join(err, j.remove(ctx))
	})
	if err != nil {
		return Result{}, err
	}
	return r, nil
}

// Ready reports whether Fill would send nothing, and returns its result. It does not ask the
// engine, but trusts that the volume has not changed.
func Ready(ctx context.Context, p Plan, work string) (r Result, ready bool, err error) {
	err = p.locked(ctx, func() error {
		j, err := p.newJob(ctx, work, func(string, int64) bool { return true })
		if err != nil {
			return err
		}
		ready = len(j.needed)+len(j.optional) == 0
		r = j.result()
		return j.remove(ctx)
	})
	if err != nil || !ready {
		return Result{}, false, err
	}
	return r, true, nil
}

// locked calls do while it holds the lock of the state.
func (p *Plan) locked(ctx context.Context, do func() error) error {
	if p.Limit == 0 {
		p.Limit = defaultLimit
	}
	if err := p.check(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(p.State), 0o700); err != nil {
		return fmt.Errorf("pack the repository: %w", err)
	}
	lock := flock.New(p.State+".lock", flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, 100*time.Millisecond); err != nil {
		return fmt.Errorf("pack the repository: lock what was sent of it: %w", errors.Join(err, lock.Close()))
	}
	if err := errors.Join(do(), lock.Close()); err != nil {
		return fmt.Errorf("pack the repository: %w", err)
	}
	return nil
}

// newJob finds out what the volume lacks. has reports whether the volume has a file. The caller
// must remove the job's scratch directory.
func (p Plan) newJob(ctx context.Context, work string, has func(name string, size int64) bool) (*job, error) {
	shallow, err := readShallow(p.Repository)
	if err != nil {
		return nil, err
	}
	known := readState(p, shallow, has)
	s, err := open(ctx, p, work)
	if err != nil {
		return nil, err
	}
	j := &job{scratch: s, plan: p, known: known, shallow: shallow, cut: union(known.Cut, shallow)}
	if err := j.findTips(ctx); err != nil {
		return nil, errors.Join(s.explain(ctx, err), s.remove(ctx))
	}
	return j, nil
}

// fill sends what the volume lacks; listed are the volume's files.
func (j *job) fill(ctx context.Context, v Volume, listed map[string]int64) (Result, error) {
	if len(j.needed)+len(j.optional) == 0 {
		return j.result(), nil
	}
	if err := j.choose(ctx); err != nil {
		return Result{}, j.explain(ctx, err)
	}
	made, err := j.pack(ctx)
	if err != nil {
		return Result{}, j.explain(ctx, err)
	}
	r := j.result()
	if r.Sent, err = send(ctx, j.plan, v, listed, made); err != nil {
		return Result{}, err
	}
	return r, j.state(made).write(j.plan.State)
}

// result is the Result of a job without Sent.
func (j *job) result() Result {
	return Result{Reused: len(j.known.Tips) > 0, Cut: j.cut, Shortened: len(j.cut) > len(j.shallow), Absent: j.absent()}
}

// union returns the strings of both, sorted and without duplicates.
func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}
