package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/obeyed"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/worktree"
)

// noteObeyed records which files of the workspace programs would run or obey. It does so once per
// session, before the agent starts for the first time.
func (s *Session) noteObeyed(ctx context.Context) error {
	_, err := obeyed.Kept(s.layout.Obeyed())
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	r := obeyed.Record{Look: obeyed.Look{Missed: "the agent worked in the workspace before it was examined"}}
	if !s.resumed {
		s.progress("examining the workspace", "")
		if r.Look, err = obeyed.Take(ctx, s.fixed.Workspace, s.deps.Config.UserHome, stored.LookTime); err != nil {
			return err
		}
	}
	return r.Keep(s.layout.Obeyed())
}

// fillRepository creates the files that must be read-only in the container but are missing in the
// workspace's repository. They are removed when the last session on the workspace ends.
func (s *Session) fillRepository(ctx context.Context, stack *teardown) error {
	if s.fixed.Worktree != nil || s.fixed.Workspace == s.layout.Sandbox() {
		return nil
	}
	held, err := stored.HoldRepository(s.fixed.Workspace)
	if held == nil || err != nil {
		return err
	}
	stack.push("remove what was added to the repository", func(context.Context) error {
		r, err := obeyed.Kept(s.layout.Obeyed())
		return errors.Join(err, held.Release(r.Made, len(r.Made) > 0 && !stored.OthersDetached(s.deps.Config.Home, s.fixed)))
	})
	if err := held.Share(ctx); err != nil {
		s.deps.Log.Warn("mark the repository as in use", "session", s.fixed.ID, "error", err)
	}
	r, err := obeyed.Kept(s.layout.Obeyed())
	if err != nil {
		return err
	}
	others, err := stored.MadeForOthers(s.deps.Config.Home, s.fixed)
	if err != nil {
		return err
	}
	lacks := held.Missing()
	r.Made = slices.Compact(slices.Sorted(slices.Values(slices.Concat(r.Made, lacks, others))))
	if err := r.Keep(s.layout.Obeyed()); err != nil {
		return err
	}
	return held.Make(lacks)
}

// obeyed compares the workspace with its state before the agent started. It takes no longer than most.
func (s *Session) obeyed(ctx context.Context, most time.Duration) (stored.Obeyed, error) {
	return stored.LookObeyed(ctx, s.layout, s.fixed.Workspace, s.deps.Config.UserHome, most)
}

// watchRepository tells the person within seconds if git in the workspace would run or obey something
// that the agent has made, because the person may use git there while the agent works. It examines
// only the repository and those of its submodules; reportObeyed examines everything when the session
// ends.
func (s *Session) watchRepository(ctx context.Context) {
	kept, err := obeyed.Kept(s.layout.Obeyed())
	if err != nil {
		return // reportObeyed reports the error when the session ends
	}
	reported := map[string]bool{}
	next := time.NewTimer(repositoryTick)
	defer next.Stop()
	for {
		began := time.Now()
		now, err := obeyed.TakeRepository(ctx, s.fixed.Workspace, s.deps.Config.UserHome)
		if err != nil {
			return // the repository is gone, or the session ends
		}
		for _, f := range now.Since(kept.Look) {
			if line := f.String(); !reported[line] && len(reported) < maxReported {
				reported[line] = true
				s.notice(true, fmt.Sprintf("do not use git in %s before you have checked this: %s", s.fixed.Workspace, line))
			}
		}
		next.Reset(max(repositoryTick, 20*time.Since(began))) // an agent can make each look slow
		select {
		case <-next.C:
		case <-ctx.Done():
			return
		}
	}
}

// repositoryTick is how often the repository of a workspace is examined, which usually takes a
// fraction of a millisecond.
const repositoryTick = 2 * time.Second

// maxReported is how many findings about a workspace the person is told of.
const maxReported = 20

// reportObeyed tells the person what the agent has left in the workspace that programs would run or
// obey. The agent must have ended. The comparison takes no longer than most.
func (s *Session) reportObeyed(ctx context.Context, most time.Duration) error {
	s.mu.Lock()
	began := s.program != nil
	s.mu.Unlock()
	if !began {
		return nil
	}
	ctx, cancel := s.lookContext(ctx)
	defer cancel()
	o, err := s.obeyed(ctx, most)
	if errors.Is(err, fs.ErrNotExist) { // a worktree in which nothing was done
		err = nil
	}
	if err != nil {
		o.Missed = err.Error()
	}
	if errors.Is(err, worktree.ErrLate) {
		err = nil // running out of time is no failure, and the person is told
	}
	lines, id := o.Lines(), string(s.fixed.ID[:8])
	if len(lines) == 0 {
		s.deps.Events.Left(s.fixed.ID, aboutObeyed)
		return err
	}
	if more := len(o.Found) - maxReported; more > 0 {
		lines = slices.Replace(lines, maxReported, len(o.Found), fmt.Sprintf("%d more, which 'ironcurtain-mux sessions show %s' lists", more, id))
	}
	if o.Missed != "" {
		lines[len(lines)-1] += fmt.Sprintf(" ('ironcurtain-mux sessions show %s' looks again)", id)
	}
	title := fmt.Sprintf("session %s leaves files in %s that programs of this machine would run; check them before you use git, an editor or a shell there:", id, s.fixed.Workspace)
	for i := range lines {
		lines[i] = "  " + lines[i]
	}
	s.deps.Events.Left(s.fixed.ID, aboutObeyed, append([]string{title}, lines...)...)
	s.notice(true, fmt.Sprintf("check this before you use git, an editor or a shell in the workspace (/diff lists all): %s", strings.TrimSpace(lines[0])))
	return err
}
