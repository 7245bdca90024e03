package grant

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/identity"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/timespan"
)

// How long grants last.
const (
	DefaultTime = 15 * time.Minute // of one that names no time
	MaxTime     = timespan.Max
	MinTime     = time.Second
)

// maxGrants bounds the grants of one session.
const maxGrants = 100

// Grant is an approval that is remembered.
type Grant struct {
	Number     int // from 1, growing, never used twice
	Session    string
	Scope      Scope
	Text       string // in full what it lets through
	By         string // who gave it: "tui", "cli"
	Client     identity.Client
	Escalation string // id of the call it was given for
	At         time.Time
	ExpiresAt  time.Time
	Used       int // calls it has let through
}

// Evidence returns the detail for the record of a call that the grant let through.
func (g Grant) Evidence() map[string]any {
	return map[string]any{"grant": g.Number, "scope": string(g.Scope), "use": g.Used}
}

// Errors of the store.
var (
	// ErrNone means that no such grant is in force.
	ErrNone = errors.New("no such grant is in force")
	// ErrFull means that the session has too many grants.
	ErrFull = fmt.Errorf("a session can have at most %d grants", maxGrants)
	// ErrTime means that the time asked for is too short or too long.
	ErrTime = fmt.Errorf("a grant lasts between %s and %s", timespan.String(MinTime), timespan.String(MaxTime))
)

// Store holds the grants of all sessions. It is safe for concurrent use.
type Store struct {
	now  func() time.Time
	file func(session string) string // where the grants of a session are stored; nil: nowhere

	mu     sync.Mutex
	number int
	held   []*held // oldest first
}

// held is a valid grant in the store.
type held struct {
	Grant
	pattern pattern
}

// New returns an empty store. now returns times with a monotonic reading; nil means
// time.Now.
func New(now func() time.Time) *Store {
	if now == nil {
		now = time.Now
	}
	return &Store{now: now}
}

// Check returns an error if a grant cannot last that long; 0 stands for DefaultTime.
func Check(limit time.Duration) error {
	if limit != 0 && (limit < MinTime || limit > MaxTime) {
		return ErrTime
	}
	return nil
}

// Add adds a grant that is valid for limit from now; 0 stands for DefaultTime.
func (s *Store) Add(session string, o Offer, by string, client identity.Client, escalation string, limit time.Duration) (Grant, error) {
	if err := Check(limit); err != nil {
		return Grant{}, err
	}
	if session == "" || o.pattern.server == "" {
		return Grant{}, errors.New("a grant is for one session and one offer")
	}
	if limit == 0 {
		limit = DefaultTime
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.prune()
	if s.countLocked(session) >= maxGrants {
		return Grant{}, ErrFull
	}
	s.number++
	h := &held{pattern: o.pattern, Grant: Grant{
		Number: s.number, Session: session, Scope: o.Scope, Text: o.Text, By: by, Client: client, Escalation: escalation,
		At: now, ExpiresAt: now.Add(limit),
	}}
	s.held = append(s.held, h)
	_ = s.keep(session) // if it fails, the grant ends with this process
	return h.Grant, nil
}

func (s *Store) countLocked(session string) int {
	n := 0
	for _, h := range s.held {
		if h.Session == session {
			n++
		}
	}
	return n
}

// Match returns the oldest valid grant that would let a call through. It counts no use: the
// call is judged again first, and then Use decides.
func (s *Store) Match(c Call) (Grant, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prune()
	for _, h := range s.held {
		if h.Session == c.Session && h.pattern.matches(c) {
			return h.Grant, true
		}
	}
	return Grant{}, false
}

// Use lets a call through by a grant, if the grant is still valid and still lets exactly
// this call through.
func (s *Store) Use(number int, c Call) (Grant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prune()
	h := s.find(number)
	if h == nil || h.Session != c.Session || !h.pattern.matches(c) {
		return Grant{}, fmt.Errorf("grant #%d: %w", number, ErrNone)
	}
	h.Used++
	return h.Grant, nil
}

// List returns the grants in force, oldest first.
func (s *Store) List() []Grant {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prune()
	out := make([]Grant, len(s.held))
	for i, h := range s.held {
		out[i] = h.Grant
	}
	return out
}

// Revoke ends a grant. It does not stop calls that are already under way. An error other than
// ErrNone means that the grant has ended, but may be in force again after this process was killed.
func (s *Store) Revoke(number int) (Grant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prune()
	h := s.find(number)
	if h == nil {
		return Grant{}, fmt.Errorf("grant #%d: %w", number, ErrNone)
	}
	s.held = slices.DeleteFunc(s.held, func(x *held) bool { return x == h })
	return h.Grant, s.keep(h.Session)
}

// Close ends the grants of a session. An error means that they may be in force again after this
// process was killed.
func (s *Store) Close(session string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = slices.DeleteFunc(s.held, func(h *held) bool { return h.Session == session })
	return s.keep(session)
}

func (s *Store) find(number int) *held {
	for _, h := range s.held {
		if h.Number == number {
			return h
		}
	}
	return nil
}

// prune drops what has expired and returns the time.
func (s *Store) prune() time.Time {
	now := s.now()
	s.held = slices.DeleteFunc(s.held, func(h *held) bool { return h.overdue(now) })
	return now
}

// overdue reports whether a grant has expired by either clock. The monotonic clock stops
// while the machine sleeps, and the other one can be set.
func (h *held) overdue(now time.Time) bool {
	limit := h.ExpiresAt.Sub(h.At)
	elapsed, wall := now.Sub(h.At), now.Round(0).Sub(h.At.Round(0))
	return elapsed < 0 || wall < -time.Second || elapsed >= limit || wall >= limit
}
