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

// job is one run of Fill or Ready.
type job struct {
	*scratch
	plan    Plan
	known   state
	shallow []string // commits at which the repository's own history ends, sorted

	peeled   map[string]string // each tip that the repository has → the object it is a tag of, or itself
	have     []string          // tips that the volume and the repository have
	needed   []string          // tips of Plan.Tips that the volume lacks
	optional []string          // tips of Plan.More that the volume lacks
	cut      []string          // commits at which history ends in the volume, sorted
	left     []string          // tips of Plan.More that are too large
	lost     []string          // tips of Plan.More that the repository lacks
}

// findTips sorts the tips by whether the repository and the volume have them.
func (j *job) findTips(ctx context.Context) error {
	var err error
	all := union(slices.Concat(j.plan.Tips, j.plan.More), j.known.Tips)
	if j.peeled, err = j.peel(ctx, all); err != nil {
		return err
	}
	exists := func(id string) bool { return j.peeled[id] != "" }
	known, left := set(j.known.Tips), set(j.known.Left)
	for _, id := range j.known.Tips {
		if exists(id) {
			j.have = append(j.have, id)
		}
	}
	seen := map[string]bool{}
	for _, id := range j.plan.Tips {
		if !exists(id) {
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
		case !exists(id):
			j.lost = append(j.lost, id)
		case known[id]:
		case left[id]:
			j.left = append(j.left, id)
		default:
			j.optional = append(j.optional, id)
		}
		seen[id] = true
	}
	return nil
}

// sent are the tips that are packed.
func (j *job) sent() []string { return slices.Concat(j.needed, j.optional) }

// absent are the tips of Plan.More that the volume will not have.
func (j *job) absent() []string { return union(j.left, j.lost) }

// choose decides what is packed: all tips; if that is too much, the needed tips and as many
// optional ones as fit; if the needed ones alone are too much, only a part of their history.
func (j *job) choose(ctx context.Context) error {
	taken := len(j.optional)
	fits, err := j.fits(ctx, j.sent(), j.cut)
	if err != nil || !fits {
		if taken, err = j.reduce(ctx); err != nil {
			return err
		}
	}
	if taken == len(j.optional) && len(j.left) == 0 {
		return nil
	}
	return j.splitOptional(ctx, taken)
}

// reduce returns how many of the optional tips fit beside the needed ones. If even those do not
// fit, it cuts their history.
func (j *job) reduce(ctx context.Context) (int, error) {
	fits, err := j.fits(ctx, j.needed, j.cut)
	if err != nil {
		return 0, err
	}
	if !fits {
		return 0, j.shorten(ctx)
	}
	return largest(len(j.optional), func(n int) (bool, error) {
		fits, err := j.fits(ctx, slices.Concat(j.needed, j.optional[:n]), j.cut)
		if ctx.Err() != nil {
			return false, err
		}
		return fits && err == nil, nil // leave out a branch with missing objects, too
	})
}

// splitOptional divides the optional tips into those that are sent and those that are left out. It
// sends the first ones, which fit, and those in the history that the volume will then have.
func (j *job) splitOptional(ctx context.Context, taken int) error {
	rest := slices.Concat(j.optional[taken:], j.left)
	j.optional, j.left = slices.Clone(j.optional[:taken]), nil
	inside := map[string]bool{}
	for _, id := range rest {
		inside[j.peeled[id]] = false
	}
	if err := j.setShallow(j.cut); err != nil {
		return err
	}
	in := strings.NewReader(lines(slices.Concat(j.sent(), j.have)))
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
			j.optional = append(j.optional, id)
		} else {
			j.left = append(j.left, id)
		}
	}
	return nil
}

// revisions is git's input to select what the tips lead to and the volume lacks.
func (j *job) revisions(tips []string) string {
	var text strings.Builder
	text.WriteString(lines(tips))
	for _, id := range j.have {
		text.WriteString("^" + id + "\n")
	}
	return text.String()
}

// fits reports whether what the tips lead to and the volume lacks is within the limit, if
// history ends at the given commits. What exceeds git's resources does not fit.
func (j *job) fits(ctx context.Context, tips, cut []string) (bool, error) {
	size, err := j.size(ctx, tips, cut)
	if limit := (*gitrun.Limit)(nil); errors.As(err, &limit) {
		return false, nil
	}
	return err == nil && size <= j.plan.Limit, err
}

// size returns how many bytes that takes on disk in the person's repository.
func (j *job) size(ctx context.Context, tips, cut []string) (int64, error) {
	if len(tips) == 0 {
		return 0, nil
	}
	if err := j.setShallow(cut); err != nil {
		return 0, err
	}
	var out bytes.Buffer
	err := j.run(ctx, strings.NewReader(j.revisions(tips)), &out, "rev-list", "--objects", "--disk-usage", "--stdin")
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(out.String()), 10, 64)
}

// largest returns about the largest number up to n for which fits returns true: at most a
// sixteenth too small, or 0. It tries small numbers first, because they take less time.
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
