package stored

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/copies"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/wholefile"
)

// ErrNoCopy returns the error for a session that does not work in a copy, so that it has nothing to
// land.
func ErrNoCopy(s Session) error {
	next := "the agent changes the files there itself"
	if s.Worktree != nil {
		next = "its commits are on a branch of its own"
	}
	return fault.New(next, "session %s works in %s, and not in a copy of a directory", ShortID(s.ID), s.Place())
}

// Difference returns what the agent of a session has changed in its copy. It marks the files that
// programs of this machine would run or obey. The session may be running.
func Difference(ctx context.Context, l Layout, s Session, userHome string) (copies.Diff, error) {
	if s.Origin == "" {
		return copies.Diff{}, ErrNoCopy(s)
	}
	d, err := copies.Difference(ctx, s.Origin, l.Copy(), l.CopyNote())
	if errors.Is(err, copies.ErrNotMade) { // to make the copy has failed, so the agent never ran
		return copies.Diff{Origin: s.Origin}, nil
	}
	if err == nil && len(d.Changes) > 0 {
		err = d.Mark(ctx, userHome)
	}
	return d, err
}

// Land lands the changes of a difference. For a session that has ended, it notes what is left to
// land.
func Land(ctx context.Context, l Layout, s Session, d copies.Diff, which copies.Which) (copies.Landed, error) {
	landed, err := copies.Land(ctx, d, which)
	if err == nil && !docker.LeaseHeld(l.Lock()) {
		var now copies.Diff
		if now, err = copies.Difference(ctx, s.Origin, l.Copy(), l.CopyNote()); err == nil {
			err = NoteUnlanded(l, now.Left())
		}
	}
	return landed, err
}

// NoteUnlanded stores a text about what in a copy was not landed, for Session.Unlanded. "" means
// nothing.
func NoteUnlanded(l Layout, what string) error {
	if what != "" {
		return wholefile.Write(l.Unlanded(), []byte(what), 0o600)
	}
	if err := os.Remove(l.Unlanded()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// maxUnlanded bounds the text of NoteUnlanded, in bytes.
const maxUnlanded = 1 << 10

// readUnlanded returns the text that NoteUnlanded has stored, or "".
func readUnlanded(l Layout) string {
	if info, err := os.Lstat(l.Unlanded()); err != nil || !info.Mode().IsRegular() || info.Size() > maxUnlanded {
		return ""
	}
	what, err := os.ReadFile(l.Unlanded())
	if err != nil {
		return ""
	}
	return string(what)
}

// checkCopy fails if the copy of a stored session has work that was not landed, unless the caller
// insists.
func checkCopy(ctx context.Context, l Layout, r Record, insist bool) error {
	if r.Origin == "" || insist {
		return nil
	}
	d, err := copies.Difference(ctx, r.Origin, l.Copy(), l.CopyNote())
	switch {
	case errors.Is(err, copies.ErrNotMade), err != nil && gone(l.Copy()):
		return nil
	case err != nil && ctx.Err() == nil:
		return fault.New("try again, or give --force to drop what is in the copy", "%w", err)
	case err != nil:
		return err
	}
	if what := d.Left(); what != "" {
		return fault.New(fmt.Sprintf("land the changes with 'ironcurtain-mux sessions land %s', or give --force to drop them", ShortID(r.ID)),
			"its copy of %s has %s", r.Origin, what)
	}
	return nil
}

// checkAway fails if work of a stored session is only in volumes of an engine, unless the caller
// insists.
func checkAway(l Layout, r Record, insist bool) error {
	if insist || !l.HasAway() || r.Worktree == nil && r.Origin == "" {
		return nil
	}
	return fault.New("resume the session with that engine, which fetches the work, or give --force to drop it",
		"the agent's latest work is in volumes of the engine at %s", strings.Join(l.Away(), " and "))
}

func gone(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}
