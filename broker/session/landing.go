package session

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/copies"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/worktree"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// Which says which changes of a copy are landed.
type Which = copies.Which

// Landing is what an agent has changed in its copy of the person's directory, as the person sees it
// before it is landed.
type Landing struct {
	ID     string        `json:"id"`             // identifies this Landing to Land
	Origin string        `json:"origin"`         // the person's directory
	Lines  []copies.Line `json:"lines"`          // not to be trusted: the agent chose the file names
	More   int           `json:"more,omitempty"` // how many changes have no line
	Files  int           `json:"files"`          // how many files Land would write
	Run    int           `json:"run,omitempty"`  // how many of them programs of this machine would run
	which  copies.Which
	diff   copies.Diff
}

// Limits of a landing.
const (
	landingShown = 1000 // changes
	landingTime  = 2 * time.Minute
	landTime     = 10 * time.Minute // long, because each file is synced to disk before it is renamed
)

// Landing compares the session's copy with the person's directory. Land accepts the result until the
// next call of Landing.
func (s *Session) Landing(ctx context.Context, which copies.Which) (Landing, error) {
	ctx, cancel := context.WithTimeout(ctx, landingTime)
	defer cancel()
	err := s.fetchFiles(ctx)
	var d copies.Diff
	if err == nil {
		d, err = stored.Difference(ctx, s.layout, s.fixed, s.deps.Config.UserHome)
	}
	if err != nil {
		return Landing{}, fault.Wrap("land", err, "")
	}
	l := Landing{ID: rand.Text(), Origin: s.fixed.Origin, which: which, diff: d}
	l.Files, l.Run = d.Lands(which)
	shown, more := d.Shown(landingShown)
	l.Lines, l.More = shown.Lines(which), more
	s.mu.Lock()
	s.landing = &l
	s.mu.Unlock()
	return l, nil
}

// Land writes the changes that Landing has shown into the person's directory, and returns what it
// did. It skips files that have changed since.
func (s *Session) Land(ctx context.Context, id string) (copies.Landed, error) {
	ctx, cancel := context.WithTimeout(ctx, landTime)
	defer cancel()
	s.mu.Lock()
	l := s.landing
	if l != nil && l.ID == id {
		s.landing = nil
	}
	s.mu.Unlock()
	if l == nil || l.ID != id {
		return copies.Landed{}, fault.New("/land shows them", "land: these changes were not shown, or others were shown since then")
	}
	if !s.Over() { // the audit of a session that is over is closed
		if err := s.note(ctx, fmt.Sprintf("the person lands %s of the copy in %s", text.Counted(l.Files, "changed file"), s.fixed.Origin)); err != nil {
			return copies.Landed{}, fault.Wrap("land", err, "")
		}
	}
	landed, err := stored.Land(ctx, s.layout, s.fixed, l.diff, l.which)
	return landed, fault.Wrap("land", err, "")
}

// unexamined describes the changes in a copy that was not compared since its agent ran. It is stored.
const unexamined = "unexamined changes"

// noteUnexaminedCopy stores that the copy may contain changes. reportCopy replaces this when the
// session ends, unless this process is killed.
func (s *Session) noteUnexaminedCopy() error {
	if s.fixed.Origin == "" {
		return nil
	}
	return stored.NoteUnlanded(s.layout, unexamined)
}

// reportCopy tells the person, after the session's end, that files of the agent are still in volumes
// of an engine, or else which changes of the copy were not landed. The comparison takes no longer than
// most.
func (s *Session) reportCopy(ctx context.Context, most time.Duration) error {
	elsewhere := s.layout.HasAway()
	if elsewhere {
		s.reportWork(away(s.fixed.ID, s.layout.Away()))
	}
	switch {
	case s.fixed.Origin == "":
		return nil
	case elsewhere:
		return stored.NoteUnlanded(s.layout, unexamined)
	}
	ctx, cancel := s.lookContext(ctx)
	defer cancel()
	limited, stop := context.WithTimeoutCause(ctx, most, worktree.ErrLate)
	defer stop()
	d, err := stored.Difference(limited, s.layout, s.fixed, s.deps.Config.UserHome)
	left := d.Left()
	if err != nil {
		left = unexamined
	}
	s.reportWork(unlanded(s.fixed, left, err))
	if errors.Is(err, worktree.ErrLate) {
		err = nil // running out of time is no failure, and the person was told
	}
	return errors.Join(err, stored.NoteUnlanded(s.layout, left))
}

// away says in one sentence that the agent's last files were not fetched from engines.
func away(id stored.ID, engines []string) string {
	where := "an engine"
	if len(engines) > 0 {
		where = "the engine at " + strings.Join(engines, " and ")
	}
	short := stored.ShortID(id)
	return fmt.Sprintf("session %s leaves files of its agent in volumes of %s, and this machine does not have them yet (ironcurtain-mux sessions resume %s)", short, where, short)
}

// unlanded says in one sentence what an ended session leaves in its copy; empty: nothing.
func unlanded(s stored.Session, left string, err error) string {
	if left == "" {
		return ""
	}
	id := stored.ShortID(s.ID)
	text := fmt.Sprintf("session %s leaves %s in its copy of %s (ironcurtain-mux sessions land %s)", id, left, s.Origin, id)
	if err != nil {
		text += ": " + describe(err)
	}
	return text
}
