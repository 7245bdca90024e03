package packs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/gitrun"
)

// job is one Fill at work.
type job struct {
	*scratch
	plan  Plan
	known memory
	own   []string // commits at which the repository's own history ends, sorted

	peeled map[string]string // of all tips that are here: what each is a tag of, or itself
	had    []string          // tips that the volume has, and that are still here
	needed []string          // new ones
	more   []string          // new ones that may be left out
	cut    []string          // commits at which history ends, sorted
	left   []string          // what of Plan.More is too large
	lost   []string          // what of Plan.More is not here
}

// look finds out which tips are here, and which of them are new.
func (j *job) look(ctx context.Context) error {
	var err error
	all := union(slices.Concat(j.plan.Tips, j.plan.More), j.known.Tips)
	if j.peeled, err = j.peel(ctx, all); err != nil {
		return err
	}
	here := func(id string) bool { return j.peeled[id] != "" }
	known, left := set(j.known.Tips), set(j.known.Left)
	for _, id := range j.known.Tips {
		if here(id) {
			j.had = append(j.had, id)
		}
	}
	seen := map[string]bool{}
	for _, id := range j.plan.Tips {
		if !here(id) {
			return fmt.Errorf("%s has no object %s", j.plan.Repository, id)
		}
		if !known[id] && !seen[id] {
			j.needed = append(j.needed, id)
		}
		seen[id] = true
	}
	for _, id := range j.plan.More {
		switch {
		case seen[id]:
		case !here(id):
			j.lost = append(j.lost, id)
		case known[id]:
		case left[id]:
			j.left = append(j.left, id)
		default:
			j.more = append(j.more, id)
		}
		seen[id] = true
	}
	return nil
}

// sent are the tips that are packed.
func (j *job) sent() []string { return slices.Concat(j.needed, j.more) }

// absent is what of Plan.More the volume will not have.
func (j *job) absent() []string { return union(j.left, j.lost) }

// choose decides what is packed: everything; else the needed tips with their history and
// as many of the others as fit; else as much of that history as fits.
func (j *job) choose(ctx context.Context) error {
	taken := len(j.more)
	fits, err := j.fits(ctx, j.sent(), j.cut)
	if err != nil || !fits {
		if taken, err = j.reduce(ctx); err != nil {
			return err
		}
	}
	if taken == len(j.more) && len(j.left) == 0 {
		return nil
	}
	return j.part(ctx, taken)
}

// reduce returns how many of the others fit beside the needed tips. If these do not fit
// themselves, it cuts their history.
func (j *job) reduce(ctx context.Context) (int, error) {
	fits, err := j.fits(ctx, j.needed, j.cut)
	if err != nil {
		return 0, err
	}
	if !fits {
		return 0, j.shorten(ctx)
	}
	return largest(len(j.more), func(n int) (bool, error) {
		fits, err := j.fits(ctx, slices.Concat(j.needed, j.more[:n]), j.cut)
		if ctx.Err() != nil {
			return false, err
		}
		return fits && err == nil, nil // what lacks objects does not fit
	})
}

// part decides what becomes of the tips that may be left out: the first ones fit and are sent,
// and so is what is in the history of what the volume has then. The rest is left out.
func (j *job) part(ctx context.Context, taken int) error {
	rest := slices.Concat(j.more[taken:], j.left)
	j.more, j.left = slices.Clone(j.more[:taken]), nil
	inside := map[string]bool{}
	for _, id := range rest {
		inside[j.peeled[id]] = false
	}
	if err := j.end(j.cut); err != nil {
		return err
	}
	in := strings.NewReader(lines(slices.Concat(j.sent(), j.had)))
	err := j.run(ctx, in, &reader{each: func(commit []byte) error {
		if _, ok := inside[string(commit)]; ok {
			inside[string(commit)] = true
		}
		return nil
	}}, "rev-list", "--stdin")
	if err != nil {
		return err
	}
	for _, id := range rest {
		if inside[j.peeled[id]] {
			j.more = append(j.more, id)
		} else {
			j.left = append(j.left, id)
		}
	}
	return nil
}

// revisions is git's input for what the tips lead to and the volume lacks.
func (j *job) revisions(tips []string) string {
	var text strings.Builder
	text.WriteString(lines(tips))
	for _, id := range j.had {
		text.WriteString("^" + id + "\n")
	}
	return text.String()
}

// fits reports whether what the tips lead to and the volume lacks is within the limit, when
// history ends at the given commits. What is too much for git is too much.
func (j *job) fits(ctx context.Context, tips, cut []string) (bool, error) {
	size, err := j.size(ctx, tips, cut)
	if limit := (*gitrun.Limit)(nil); errors.As(err, &limit) {
		return false, nil
	}
	return err == nil && size <= j.plan.Limit, err
}

// size is how many bytes of the disk that takes now.
func (j *job) size(ctx context.Context, tips, cut []string) (int64, error) {
	if len(tips) == 0 {
		return 0, nil
	}
	if err := j.end(cut); err != nil {
		return 0, err
	}
	var out bytes.Buffer
	err := j.run(ctx, strings.NewReader(j.revisions(tips)), &out, "rev-list", "--objects", "--disk-usage", "--stdin")
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(out.String()), 10, 64)
}

// largest returns the largest number up to n of which fits says yes, give or take a
// sixteenth, or 0. It tries small ones first, because they take less time.
func largest(n int, fits func(int) (bool, error)) (int, error) {
	low, high := 0, n+1 // low fits, high does not
	for high-low > 1+low/16 {
		next := min(max(2*low, 1), high-1)
		if high <= n {
			next = low + (high-low)/2
		}
		ok, err := fits(next)
		if err != nil {
			return 0, err
		}
		if ok {
			low = next
		} else {
			high = next
		}
	}
	return low, nil
}
