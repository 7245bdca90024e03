package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/worktree"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// settleTime is how long settleWorktree may take when a session ends. It is shorter than the limit for
// the end of the multiplexer, so that the person can still be told which commits were not brought back.
const settleTime = 50 * time.Second

// hurriedLook is how long each check of what an agent has left may still take once the process must
// end soon.
const hurriedLook = 500 * time.Millisecond

// lookContext returns a context for a check of what an agent has left. After the process was told to
// end soon, the check gets hurriedLook; then the context ends with the cause worktree.ErrLate.
func (s *Session) lookContext(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	late := time.AfterFunc(time.Hour, func() { cancel(worktree.ErrLate) }) // reset when the process must end soon
	stop := context.AfterFunc(s.deps.Hurried, func() { late.Reset(hurriedLook) })
	return ctx, func() { stop(); late.Stop(); cancel(nil) }
}

// CheckWorktree returns an error if a multiplexer with that home and cache cannot make a worktree of
// the given directory.
func CheckWorktree(ctx context.Context, given, home, cache, userHome string) error {
	dir, err := stored.ResolveWorkspace(given, home, cache, userHome)
	if err == nil {
		_, err = worktreeSource(ctx, dir, userHome)
	}
	return err
}

// worktreeSource returns the repository of a directory. It fails if a container cannot mount the
// objects that a worktree borrows, because something else is mounted at their path.
func worktreeSource(ctx context.Context, dir, userHome string) (worktree.Source, error) {
	source, err := worktree.Open(ctx, dir, userHome)
	if err != nil {
		return source, err
	}
	for _, taken := range []string{agent.Workspace, agent.Orientation, agent.Sockets, "/proc", "/sys", "/dev"} {
		if stored.Contains(taken, source.Common) {
			return source, fault.New("move the repository, or leave --worktree out", "worktree: the repository is below %s, which the container uses for something else", taken)
		}
	}
	return source, nil
}

// chooseWorktree makes the session's workspace a worktree or a clone, if the request or the
// configuration asks for one.
func (s *Session) chooseWorktree(ctx context.Context, r Request) error {
	if r.Repo != "" || r.Branch != "" {
		return s.chooseClone(r)
	}
	c := s.deps.Config
	asked := r.Worktree == WorktreeYes
	switch {
	case !asked && (r.Worktree == WorktreeNo || !c.Worktree || r.Workspace == "" || s.adapter.Place == agent.OnHost):
		return nil
	case s.adapter.Place == agent.OnHost:
		return fault.New("leave --worktree out", "%s runs without a container, so it cannot get a worktree", s.adapter.Name)
	case r.Workspace == "":
		return fault.New("name a repository with --workspace", "--worktree needs a repository")
	}
	source, err := worktreeSource(ctx, s.fixed.Workspace, c.UserHome)
	if !asked && errors.Is(err, worktree.ErrNoRepository) {
		return nil
	}
	if err != nil {
		return err
	}
	tree := source.Tree("ironcurtain/" + string(s.fixed.ID[:8]))
	s.fixed.Worktree, s.fixed.Workspace, s.baseCommit = &tree, s.layout.Worktree().Dir, tree.Base
	return nil
}

// makeWorktree makes the session's worktree, unless a resumed session has one already, and pushes
// settleWorktree on stack.
func (s *Session) makeWorktree(ctx context.Context, stack *teardown) error {
	tree, place := s.fixed.Worktree, s.layout.Worktree()
	if tree == nil {
		return nil
	}
	stack.pushFor(settleTime, "settle the worktree", func(ctx context.Context) error { return s.settleWorktree(ctx) })
	if err := os.WriteFile(s.layout.Unsettled(), nil, 0o600); err != nil {
		return fmt.Errorf("make worktree: %w", err)
	}
	if place.Made() {
		if tree.Cloned {
			if err := s.lendClone(ctx); err != nil {
				return err
			}
		}
		return tree.Plain(ctx)
	}
	makeTree, instead := s.makeLocal, fmt.Sprintf(" (/new %s --no-worktree works on the repository itself)", tree.Repository)
	if tree.Cloned {
		makeTree, instead = s.makeClone, ""
	}
	if err := makeTree(ctx, stack); err != nil {
		return err
	}
	absent, err := place.Absent(ctx)
	if what := absent.String(); err == nil && what != "" {
		s.notice(true, fmt.Sprintf("the worktree lacks %s, because nothing is fetched for it%s", what, instead))
	}
	return err
}

// makeLocal makes the worktree of a repository of this machine.
func (s *Session) makeLocal(ctx context.Context, _ *teardown) error {
	tree := s.fixed.Worktree
	s.progress("making the worktree", tree.Branch+" of "+tree.Repository)
	source, err := worktreeSource(ctx, tree.Repository, s.deps.Config.UserHome)
	if err != nil {
		return err
	}
	return s.layout.Worktree().Make(ctx, source, *tree)
}

// settleWorktree brings the worktree's commits to the person's repository. It removes a worktree in
// which nothing was done, and otherwise tells the person where the work is.
func (s *Session) settleWorktree(ctx context.Context) error {
	tree, place := *s.fixed.Worktree, s.layout.Worktree()
	if s.layout.HasAway() {
		return nil // reportCopy has said where the work is
	}
	ctx, cancel := s.lookContext(ctx)
	defer cancel()
	if tree.Cloned {
		s.fetchPushed(ctx)
	}
	o, err := place.Settle(ctx, tree)
	if ctx.Err() == nil { // otherwise work is unfinished, which the next start reports
		_ = os.Remove(s.layout.Unsettled())
	}
	if errors.Is(err, worktree.ErrLate) {
		s.reportWork(fmt.Sprintf("the work in worktree %s was not brought back yet: %v ('ironcurtain-mux sessions rm %s' does that)", place.Dir, err, s.fixed.ID[:8]))
		return nil
	}
	if err != nil {
		s.reportWork(fmt.Sprintf("worktree %s stays as it is: %v", s.layout.Worktree().Dir, err))
		return err
	}
	s.reportWork(workOf(s.fixed, o))
	return nil
}

// reportWork tells the person where the work of an ended session is, now and in the end notice. An
// empty text removes what the end notice said.
func (s *Session) reportWork(text string) {
	if text == "" {
		s.deps.Events.Left(s.fixed.ID, aboutWork)
		return
	}
	s.deps.Events.Left(s.fixed.ID, aboutWork, text)
	s.notice(false, text)
}

// workOf says in one sentence which work a worktree contains and what to do with it. It returns "" for
// a worktree that was removed because nothing was done in it.
func workOf(s stored.Session, o worktree.Outcome) string {
	t, resume := s.Worktree, "ironcurtain-mux sessions resume "+string(s.ID[:8])
	var parts []string
	switch {
	case o.Removed:
		return ""
	case o.Stuck != "":
		what, next := "commits", fmt.Sprintf("git -C %s fetch %s %s", shellWord(t.Repository), shellWord(s.Workspace), t.Branch)
		if o.Commits > 0 {
			what = text.Counted(o.Commits, "commit")
		}
		switch {
		case o.TooLarge:
			next = resume
		case t.Cloned:
			next = fmt.Sprintf("%s, or in a clone of yours: git fetch %s %s", resume, shellWord(s.Workspace), t.Branch)
		}
		parts = append(parts, fmt.Sprintf("%s in %s alone, because %s (%s)", what, s.Workspace, o.Stuck, next))
	case o.Commits > 0 && t.Cloned:
		parts = append(parts, fmt.Sprintf("%s that %s has", text.Counted(o.Commits, "commit"), t.Repository))
	case o.Commits > 0:
		parts = append(parts, fmt.Sprintf("%s on branch %s (git -C %s merge %s)",
			text.Counted(o.Commits, "commit"), t.Branch, shellWord(t.Repository), t.Branch))
	}
	if o.Left != "" {
		parts = append(parts, fmt.Sprintf("%s in %s (%s)", o.Left, s.Workspace, resume))
	}
	return fmt.Sprintf("session %s leaves %s", s.ID[:8], strings.Join(parts, " and "))
}

// shellWord quotes a path for a shell.
func shellWord(path string) string {
	if strings.Trim(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./") == "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
