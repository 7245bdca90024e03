package broker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/obeyed"
)

// Obeyed is what programs of this machine would run or obey by themselves of a
// workspace, and that was not so when its session began.
type Obeyed struct {
	Found []Danger `json:"found,omitempty"`
	// Missed says why there may be more; empty when everything was looked at.
	Missed string `json:"missed,omitempty"`
}

// Danger is one of these.
type Danger = obeyed.Finding

// Lines are what a person reads of it, the most dangerous first; nothing when there is
// nothing to say.
func (o Obeyed) Lines() []string {
	var out []string
	for _, f := range o.Found {
		out = append(out, f.String())
	}
	if o.Missed != "" {
		out = append(out, "not everything was looked at: "+o.Missed)
	}
	return out
}

// noteObeyed notes what of the workspace programs would run, before the agent begins and
// once in the life of a session.
func (s *session) noteObeyed(ctx context.Context) error {
	_, err := obeyed.Kept(s.layout.obeyed())
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	r := obeyed.Record{Look: obeyed.Look{Missed: "the agent worked there before it was looked at"}}
	if !s.resumed {
		s.progress("looking at the workspace", "")
		if r.Look, err = obeyed.Take(ctx, s.fixed.Workspace, s.deps.config.UserHome, lookTime); err != nil {
			return err
		}
	}
	return r.Keep(s.layout.obeyed())
}

// fillRepository makes what the repository of a workspace that was given lacks, and what
// must be read-only in the container.
func (s *session) fillRepository(ctx context.Context, stack *teardown) error {
	if s.fixed.Worktree != nil || s.fixed.Workspace == s.layout.sandbox() {
		return nil
	}
	held, err := holdRepository(s.fixed.Workspace)
	if held == nil || err != nil {
		return err
	}
	stack.push("give the repository back", func(context.Context) error {
		r, err := obeyed.Kept(s.layout.obeyed())
		return errors.Join(err, held.release(r.Made, len(r.Made) > 0 && !leftThere(s.deps.config.Home, s.fixed)))
	})
	if err := held.share(ctx); err != nil {
		s.deps.log.Warn("the repository cannot be held", "session", s.fixed.ID, "error", err)
	}
	r, err := obeyed.Kept(s.layout.obeyed())
	if err != nil {
		return err
	}
	others, err := madeThere(s.deps.config.Home, s.fixed)
	if err != nil {
		return err
	}
	lacks := held.lacks()
	r.Made = slices.Compact(slices.Sorted(slices.Values(slices.Concat(r.Made, lacks, others))))
	if err := r.Keep(s.layout.obeyed()); err != nil {
		return err
	}
	return held.make(lacks)
}

// How long a workspace is looked at. Who has told a session to end waits for the look.
const (
	lookTime    = 10 * time.Second
	endLookTime = time.Second
)

// obeyed looks at the workspace for at most that long and compares with how it was.
func (s *session) obeyed(ctx context.Context, most time.Duration) (Obeyed, error) {
	return lookObeyed(ctx, s.layout, s.fixed.Workspace, s.deps.config.UserHome, most)
}

func lookObeyed(ctx context.Context, l layout, workspace, userHome string, most time.Duration) (Obeyed, error) {
	before, err := obeyed.Kept(l.obeyed())
	if errors.Is(err, fs.ErrNotExist) {
		before.Missed = "how the workspace was at first is not known"
	} else if err != nil {
		return Obeyed{}, err
	}
	now, err := obeyed.Take(ctx, workspace, userHome, most)
	return Obeyed{Found: now.Since(before.Look), Missed: now.Missed}, err
}

// StoredObeyed is what the agent of a stored session has left in its workspace; nothing
// where the workspace is gone or the session has none of ours.
func StoredObeyed(ctx context.Context, home, userHome string, s StoredSession) (Obeyed, error) {
	l := layoutOf(home, s.ID)
	if _, err := os.Lstat(l.obeyed()); errors.Is(err, fs.ErrNotExist) {
		return Obeyed{}, nil
	}
	o, err := lookObeyed(ctx, l, s.Workspace, userHome, lookTime)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return o, err
}

// watchRepository says at once when git in the workspace would run or obey something that
// the agent has made, since the person may use git there meanwhile. It looks at the
// repository and those of its submodules alone; what else the agent leaves is named at the end.
func (s *session) watchRepository(ctx context.Context) {
	kept, err := obeyed.Kept(s.layout.obeyed())
	if err != nil {
		return // told at the end
	}
	told := map[string]bool{}
	next := time.NewTimer(repositoryTick)
	defer next.Stop()
	for {
		began := time.Now()
		now, err := obeyed.TakeRepository(ctx, s.fixed.Workspace, s.deps.config.UserHome)
		if err != nil {
			return // it is gone, or the session ends
		}
		for _, f := range now.Since(kept.Look) {
			if line := f.String(); !told[line] && len(told) < maxTold {
				told[line] = true
				s.notice(true, fmt.Sprintf("do not use git in %s before you have looked at this: %s", s.fixed.Workspace, line))
			}
		}
		next.Reset(max(repositoryTick, 20*time.Since(began))) // an agent can make a look long
		select {
		case <-next.C:
		case <-ctx.Done():
			return
		}
	}
}

// repositoryTick is how often the repository of a workspace is looked at. A look usually
// takes a fraction of a millisecond.
const repositoryTick = 2 * time.Second

// maxTold bounds what is told of a workspace when its session ends, in lines.
const maxTold = 20

// tellObeyed says what the agent has left in the workspace, once it has ended. The look
// takes at most that long.
func (s *session) tellObeyed(ctx context.Context, most time.Duration) error {
	s.mu.Lock()
	began := s.program != nil
	s.mu.Unlock()
	if !began {
		return nil
	}
	o, err := s.obeyed(ctx, most)
	if errors.Is(err, fs.ErrNotExist) { // a worktree in which nothing was done
		err = nil
	}
	if err != nil {
		o.Missed = err.Error()
	}
	lines, id := o.Lines(), string(s.fixed.ID[:8])
	if len(lines) == 0 {
		s.deps.events.Left(s.fixed.ID, aboutObeyed)
		return err
	}
	if more := len(o.Found) - maxTold; more > 0 {
		lines = slices.Replace(lines, maxTold, len(o.Found), fmt.Sprintf("%d more, which 'ironcurtain-mux sessions show %s' names", more, id))
	}
	if o.Missed != "" {
		lines[len(lines)-1] += fmt.Sprintf(" ('ironcurtain-mux sessions show %s' looks again)", id)
	}
	title := fmt.Sprintf("session %s leaves in %s what programs of this machine would run; look at it before you use git, an editor or a shell there:", id, s.fixed.Workspace)
	for i := range lines {
		lines[i] = "  " + lines[i]
	}
	s.deps.events.Left(s.fixed.ID, aboutObeyed, append([]string{title}, lines...)...)
	s.notice(true, fmt.Sprintf("look before you use git, an editor or a shell in the workspace (/diff names all): %s", strings.TrimSpace(lines[0])))
	return err
}
