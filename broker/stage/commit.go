package stage

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Commit applies the changes of the call's files to the host. An error says what was not applied, and
// why. Files that the call only reads are not changed.
func (s *Stage) Commit(ctx context.Context) error {
	moved, err := s.moves()
	if err != nil {
		return err
	}
	for i, t := range s.plan.targets {
		if t.bound || !t.Write && !t.Delete {
			continue
		}
		var err error
		if from, ok := moved[i]; ok {
			err = t.moveFrom(ctx, s.plan.targets[from])
		} else if !isSource(moved, i) {
			err = s.carryOver(ctx, i, t)
		}
		if err != nil {
			return fmt.Errorf("change %s: %w", t.Path, err)
		}
	}
	return nil
}

// moves returns which targets the server has moved: the index of the destination → that of the
// source.
func (s *Stage) moves() (map[int]int, error) {
	moved := map[int]int{}
	for i, t := range s.plan.targets {
		if t.bound || !t.Write || t.found != nil {
			continue
		}
		now, err := s.now(t)
		if err != nil || now == nil {
			continue // carryOver reports the error
		}
		for j, laid := range s.laid {
			if laid == nil || !os.SameFile(laid, now) || !s.plan.targets[j].Delete {
				continue
			}
			if gone, err := s.now(s.plan.targets[j]); err != nil || gone != nil {
				return nil, fmt.Errorf("move %s: the server left it where it was", s.plan.targets[j].Path)
			}
			if !now.IsDir() && !unchanged(now, laid) {
				return nil, fmt.Errorf("move %s: the server changed it", s.plan.targets[j].Path)
			}
			moved[i] = j
		}
	}
	return moved, nil
}

func isSource(moved map[int]int, i int) bool {
	for _, from := range moved {
		if from == i {
			return true
		}
	}
	return false
}

// now returns what is at a target's path on the stage, or nil.
func (s *Stage) now(t target) (os.FileInfo, error) {
	info, err := s.root.Lstat(relative(t.Path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return info, err
}

// carryOver applies the change of one target.
func (s *Stage) carryOver(ctx context.Context, i int, t target) error {
	now, err := s.now(t)
	if err != nil {
		return err
	}
	laid := s.laid[i]
	switch {
	case now == nil && laid == nil, now != nil && laid != nil && unchanged(now, laid):
		return nil
	case now == nil && !t.Delete, now != nil && laid != nil && !t.Write:
		return errors.New("the server changed it in a way that was not allowed")
	case now != nil && !now.Mode().IsRegular() && !(now.IsDir() && laid == nil):
		return fmt.Errorf("the server left %s there", kind(now.Mode()))
	}
	dir, err := t.open()
	if err != nil {
		return err
	}
	defer dir.Close()
	switch {
	case now == nil:
		return dirtree.RemoveIn(ctx, dir, t.first())
	case laid == nil:
		return s.create(ctx, dir, t)
	default:
		return s.replace(ctx, dir, t, now)
	}
}

// create makes a file or directory that did not exist, and the directories above it that
// the server made.
func (s *Stage) create(ctx context.Context, dir *os.Root, t target) error {
	name, undo, err := t.makeParents(dir)
	if err == nil {
		made := &tree{ctx: ctx, from: s.root, to: dir}
		err = made.whole(relative(t.Path), name)
	}
	if err != nil {
		undo()
	}
	return fault.WithoutPath(err)
}

// makeParents makes the directories between base and the target. It returns the target's
// path below base, and a function that removes these directories if they are empty.
func (t *target) makeParents(dir *os.Root) (name string, undo func(), err error) {
	name = strings.TrimPrefix(strings.TrimPrefix(t.Path, t.base), "/")
	var made []string
	undo = func() {
		for _, path := range slices.Backward(made) {
			_ = dir.Remove(path) // somebody else may have put something into it
		}
	}
	at := ""
	for _, part := range strings.Split(path.Dir(name), "/") {
		at = path.Join(at, part)
		if at == "." {
			continue
		}
		if err := dir.Mkdir(at, 0o755); err != nil {
			return "", undo, err
		}
		made = append(made, at)
	}
	return name, undo, nil
}

// replace writes the new content to a temporary file and renames it, so that nobody sees half of it.
// Owner and permissions stay the same.
func (s *Stage) replace(ctx context.Context, dir *os.Root, t target, now os.FileInfo) error {
	temporary := ".ironcurtain-" + rand.Text()
	if err := copyFile(ctx, s.root, relative(t.Path), dir, temporary, now, 0o600); err != nil {
		return err
	}
	err := keepOwner(dir, temporary, t.found)
	if err == nil {
		err = dir.Chmod(temporary, t.found.Mode().Perm())
	}
	if err == nil {
		err = dir.Chtimes(temporary, now.ModTime(), now.ModTime())
	}
	if err == nil {
		err = t.checkIn(dir)
	}
	if err == nil {
		err = dir.Rename(temporary, t.first())
	}
	if err != nil {
		return errors.Join(fault.WithoutPath(err), dir.Remove(temporary))
	}
	return nil
}

// keepOwner gives a file the owner of another one.
func keepOwner(dir *os.Root, name string, like os.FileInfo) error {
	want, ok := owner(like)
	info, err := dir.Lstat(name)
	if err != nil || !ok {
		return err
	}
	if has, _ := owner(info); has == want {
		return nil
	}
	return dir.Lchown(name, want.uid, want.gid)
}

// moveFrom moves the host's file of another target to this target's path.
func (t *target) moveFrom(ctx context.Context, from target) error {
	to, err := t.open()
	if err != nil {
		return err
	}
	defer to.Close()
	source, err := from.open()
	if err != nil {
		return fmt.Errorf("move %s: %w", from.Path, err)
	}
	defer source.Close()
	name, undo, err := t.makeParents(to)
	if err == nil {
		err = from.move(ctx, source, to, name)
	}
	if err != nil {
		undo()
	}
	return fault.WithoutPath(err)
}

// move moves the target, which is in source, to a name in another directory.
func (t *target) move(ctx context.Context, source, to *os.Root, name string) error {
	err := renameNew(source, t.first(), to, name)
	if !errors.Is(err, unix.EXDEV) {
		return err
	}
	moved := &tree{ctx: ctx, from: source, to: to, owners: true}
	if err := moved.whole(t.first(), name); err != nil {
		return err
	}
	if err := t.checkIn(source); err != nil { // it was changed while it was copied
		return errors.Join(err, dirtree.RemoveIn(context.WithoutCancel(ctx), to, name))
	}
	return dirtree.RemoveIn(context.WithoutCancel(ctx), source, t.first())
}
