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
	More       []string // commits and tags that the worktree names besides, the most important first
	// State is a file of this machine that remembers, for this engine and repository, what was
	// sent. It and the volume are made and removed together.
	State string
	// Volume tells this volume from one of the same name that was there before; may be empty.
	Volume string
	Limit  int64 // bytes that are sent at once; 0: 512 MiB
	// Progress is told how many bytes of all that are sent have been read; may be nil.
	Progress func(sent, all int64)
}

// Volume is a directory of the engine's in which git finds objects.
type Volume interface {
	// List returns the files below the directory, by their slash-separated paths, with their
	// sizes in bytes.
	List(ctx context.Context) (map[string]int64, error)
	// Put writes a file of size bytes with the digest sum. Nobody sees it before it is whole.
	Put(ctx context.Context, name string, r io.Reader, size int64, sum [sha256.Size]byte) error
}

// Result says what was sent, and what the worktree has to do without.
type Result struct {
	Sent   int64 // bytes
	Reused bool  // the volume had objects of before
	// Cut are the commits whose parents a worktree must not look for, those at which the
	// repository's own history ends included. They belong into the file "shallow" of its .git.
	Cut []string
	// Shortened means that the repository has more of the history.
	Shortened bool
	// Absent are those of Plan.More that the volume does not have. A worktree that names
	// them is broken for git.
	Absent []string
}

// Missing describes what the worktree has to do without, such as "the oldest part of the
// history and 3 branches or tags", or returns "".
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

// defaultLimit is how many bytes are sent at once, unless the plan says otherwise.
const defaultLimit = 512 << 20

// Fill puts into the volume what it lacks for the plan. It works below the directory work,
// and leaves nothing there. Another Fill with the same State waits.
func Fill(ctx context.Context, p Plan, v Volume, work string) (Result, error) {
	var r Result
	err := p.locked(ctx, func() error {
		there, err := v.List(ctx)
		if err != nil {
			return fmt.Errorf("list what the engine has: %w", err)
		}
		j, err := p.begin(ctx, work, func(name string, size int64) bool {
			got, ok := there[name]
			return ok && got == size
		})
		if err != nil {
			return err
		}
		r, err = j.fill(ctx, v, there)
		return errors.Join(err, j.remove(ctx))
	})
	if err != nil {
		return Result{}, err
	}
	return r, nil
}

// Ready reports whether Fill would send nothing, as far as is known here: it trusts that
// the volume still is what it was. The result is that of Fill then.
func Ready(ctx context.Context, p Plan, work string) (r Result, ready bool, err error) {
	err = p.locked(ctx, func() error {
		j, err := p.begin(ctx, work, func(string, int64) bool { return true })
		if err != nil {
			return err
		}
		ready = len(j.needed)+len(j.more) == 0
		r = j.result()
		return j.remove(ctx)
	})
	if err != nil || !ready {
		return Result{}, false, err
	}
	return r, true, nil
}

// locked does something while no other process uses the state.
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

// begin finds out what is new for the volume, of which has says whether it has a file. The
// job has a scratch directory that the caller removes.
func (p Plan) begin(ctx context.Context, work string, has func(name string, size int64) bool) (*job, error) {
	own, err := ends(p.Repository)
	if err != nil {
		return nil, err
	}
	known := remembered(p, own, has)
	s, err := open(ctx, p, work)
	if err != nil {
		return nil, err
	}
	j := &job{scratch: s, plan: p, known: known, own: own, cut: union(known.Cut, own)}
	if err := j.look(ctx); err != nil {
		return nil, errors.Join(s.explain(ctx, err), s.remove(ctx))
	}
	return j, nil
}

// fill sends what is new to the volume, in which these files are.
func (j *job) fill(ctx context.Context, v Volume, there map[string]int64) (Result, error) {
	if len(j.needed)+len(j.more) == 0 {
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
	if r.Sent, err = send(ctx, j.plan, v, there, made); err != nil {
		return Result{}, err
	}
	return r, j.memory(made).write(j.plan.State)
}

// result is the Result of a job without what it sends.
func (j *job) result() Result {
	return Result{Reused: len(j.known.Tips) > 0, Cut: j.cut, Shortened: len(j.cut) > len(j.own), Absent: j.absent()}
}

// union returns the sorted strings of both.
func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}
