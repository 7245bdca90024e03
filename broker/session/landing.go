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

// Landing is what an agent has changed in its copy of the person's directory, as a person looks
// at it before it is landed.
type Landing struct {
	ID     string        `json:"id"`     // of what was shown, for Land
	Origin string        `json:"origin"` // the person's directory
	Lines  []copies.Line `json:"lines"`  // not to be trusted: the agent chose names
	More   int           `json:"more,omitempty"`
	Files  int           `json:"files"`         // how many are landed
	Run    int           `json:"run,omitempty"` // how many of them programs of this machine would run
	which  copies.Which
	diff   copies.Diff
}

// Bounds of a landing.
const (
	landingShown = 1000 // changes
	landingTime  = 2 * time.Minute
	landTime     = 10 * time.Minute // each file is on the disk before it takes its place
)

// Landing compares the session's copy with the person's directory. What it shows can be landed
// until something else is shown.
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

// Land writes what was shown into the person's directory, and says what it did. It leaves what has
// changed since.
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
		return copies.Landed{}, fault.New("/land shows it", "land: what would be landed was not shown, or was shown anew since")
	}
	if !s.Over() { // else its audit is closed
		if err := s.note(ctx, fmt.Sprintf("the person lands %s of the copy in %s", text.Counted(l.Files, "changed file"), s.fixed.Origin)); err != nil {
			return copies.Landed{}, fault.Wrap("land", err, "")
		}
	}
	landed, err := stored.Land(ctx, s.layout, s.fixed, l.diff, l.which)
	return landed, fault.Wrap("land", err, "")
}

// unexamined is what is unlanded of a copy that nobody has looked at since its agent ran.
const unexamined = "changes that were not looked at"

// noteUnexaminedCopy keeps in mind that there is work in the copy, until reportCopy says what. It does not
// when this process is killed.
func (s *Session) noteUnexaminedCopy() error {
	if s.fixed.Origin == "" {
		return nil
	}
	return stored.NoteUnlanded(s.layout, unexamined)
}

// reportCopy tells the person what the agent of an ended session has left elsewhere, or what of its
// copy was not landed. The look takes at most that long.
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
		err = nil // the person is told of it, and nothing failed
	}
	return errors.Join(err, stored.NoteUnlanded(s.layout, left))
}

// away says in one sentence that what the agent has written last did not come here from engines.
func away(id stored.ID, engines []string) string {
	where := "an engine"
	if len(engines) > 0 {
		where = "the engine at " + strings.Join(engines, " and ")
	}
	short := stored.ShortID(id)
	return fmt.Sprintf("session %s leaves files of its agent in volumes of %s, which are not here (ironcurtain-mux sessions resume %s)", short, where, short)
}

// unlanded says in one sentence what an ended session leaves in its copy, or returns "".
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
