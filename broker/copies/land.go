package copies

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Which selects the changes that are landed.
type Which struct {
	Ignored bool `json:"ignored,omitempty"` // also what git ignores
}

// Lands reports whether a change is landed.
func (w Which) Lands(c Change) bool { return c.Stays == "" && (w.Ignored || !c.Ignored) }

// Landed is the result of Land.
type Landed struct {
	Landed []Change `json:"landed"`
	// Left are changes that could not be landed, each with the reason in Stays.
	Left []Change `json:"left,omitempty"`
}

// Land writes the changes of a difference into the directory. What has changed since the
// difference was made, in the copy or in the directory, is left and reported. What was landed is
// noted as common to both sides. After an error, the result has what was landed before it.
func Land(ctx context.Context, d Diff, which Which) (Landed, error) {
	if d.Unasked != "" && !which.Ignored {
		return Landed{}, fault.New("give --ignored to land what git ignores, too", "land in %s: %s", quoted(d.Origin), d.Unasked)
	}
	l, err := landAll(ctx, d, which)
	if err != nil {
		err = fmt.Errorf("land in %s: %w", quoted(d.Origin), err)
	}
	return l, err
}

func landAll(ctx context.Context, d Diff, which Which) (Landed, error) {
	held, err := lock(d.note)
	if err != nil {
		return Landed{}, err
	}
	defer held.Close()
	common, err := readNote(d.note)
	if err != nil {
		return Landed{}, err
	}
	w := writer{ctx: ctx, d: &d}
	if w.from, err = openDirs(d.copy); err != nil {
		return Landed{}, err
	}
	defer w.from.close()
	if w.to, err = openOrigin(d.Origin); err != nil {
		return Landed{}, err
	}
	defer w.to.close()
	var l Landed
	stopped := w.land(which, &l)
	for _, c := range l.Landed {
		common.set(c.Path, c.copied)
	}
	for name, is := range d.agreed {
		common.set(name, is)
	}
	return l, errors.Join(stopped, common.write(d.note))
}

// lock keeps others from landing from the same copy, until the file is closed.
func lock(note string) (*os.File, error) {
	f, err := os.OpenFile(note+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, fault.New("try again in a moment", "this copy is being landed already")
	}
	return f, nil
}

// land lands each change: first deletions, what is deepest first, to make room; then the rest,
// each directory before what is in it.
func (w *writer) land(which Which, l *Landed) error {
	left := map[string]bool{}
	do := func(c Change, step func(*Change) error) error {
		if err := context.Cause(w.ctx); err != nil {
			return err
		}
		err := step(&c)
		if fatal(err) {
			return fmt.Errorf("%s: %w", quoted(c.Path), fault.WithoutPath(err))
		}
		if err == nil {
			l.Landed = append(l.Landed, c)
			return nil
		}
		left[c.Path] = true
		c.Stays = fault.WithoutPath(err).Error()
		l.Left = append(l.Left, c)
		return nil
	}
	for _, c := range slices.Backward(w.d.Changes) {
		if which.Lands(c) && c.What == Deleted {
			if err := do(c, w.remove); err != nil {
				return err
			}
		}
	}
	for _, c := range w.d.Changes {
		if which.Lands(c) && c.What != Deleted {
			if err := do(c, w.write); err != nil {
				return err
			}
		}
	}
	slices.SortFunc(l.Landed, func(a, b Change) int { return byTree(a.Path, b.Path) })
	return nil
}

// fatal reports whether an error would recur for every other change.
func fatal(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EROFS) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// remove removes what the agent deleted.
func (w *writer) remove(c *Change) error {
	in, base, err := w.to.parent(c.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := w.unchanged(in, base, c); err != nil {
		return err
	}
	if c.base.kind == directory {
		w.to.closeLast()
		if in, base, err = w.to.parent(c.Path); err != nil {
			return err
		}
		if err = in.Remove(base); errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, fs.ErrExist) {
			return nil // the person has other files in it
		}
		return err
	}
	return in.Remove(base)
}
