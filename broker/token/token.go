// Package token keeps the answer tokens. One lets a helper of the person's that has a sandbox of
// its own, such as a bot, answer the calls of some sessions and do nothing else.
//
// A token is 256 random bits, which the person sees once. Its hash is kept in a file, with a name
// for the records, the sessions it is for, and when it ends, at most 30 days later. Whoever shows
// five wrong tokens within a minute locks everybody out for the rest of it.
package token

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/wholefile"
)

// Limits of tokens.
const (
	MaxLife     = 30 * 24 * time.Hour
	maxTokens   = 32
	maxSessions = 64
	maxWrong    = 5 // within wrongTime
	wrongTime   = time.Minute
)

// Token is what there is to know of a token, without what it consists of.
type Token struct {
	Name     string    `json:"name"`
	Sessions []string  `json:"sessions"` // whose calls it answers; never empty
	DenyOnly bool      `json:"denyOnly,omitempty"`
	Made     time.Time `json:"made"`
	Expires  time.Time `json:"expires"`
	Used     time.Time `json:"used,omitzero"` // last, as far as this process knows
}

// entry is a token as it is kept.
type entry struct {
	Token
	Hash  []byte        `json:"hash"` // SHA-256 of the text that the person has
	ended chan struct{} // closed when it is revoked
}

// ErrLocked means that no token is taken at present, because too many wrong ones were shown.
var ErrLocked = errors.New("too many wrong tokens were shown")

// Store has the tokens of a home. It is safe for concurrent use.
type Store struct {
	path string
	now  func() time.Time

	mu      sync.Mutex
	entries []*entry
	wrong   []time.Time   // when the last wrong ones were shown, at most maxWrong
	changed chan struct{} // closed and replaced when a token is made or revoked
}

// Open reads the tokens that a file has. The store can be used also after an error, and has none
// of them.
func Open(path string) (*Store, error) {
	s := &Store{path: path, now: time.Now, changed: make(chan struct{})}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	var kept []*entry
	if err == nil {
		err = json.Unmarshal(text, &kept)
	}
	if err == nil && slices.ContainsFunc(kept, func(e *entry) bool {
		return e == nil || len(e.Hash) != sha256.Size || len(e.Sessions) == 0 || e.Expires.Sub(e.Made) > MaxLife
	}) {
		err = errors.New("it has what is no token")
	}
	if err != nil {
		return s, fault.Wrap("read answer tokens", fmt.Errorf("%s: %w", path, err), "make them anew")
	}
	for _, e := range kept {
		e.ended = make(chan struct{})
	}
	s.entries = kept
	return s, nil
}

// Make makes a token, and returns the text that its owner shows to be served.
func (s *Store) Make(name string, sessions []string, denyOnly bool, life time.Duration) (secret string, err error) {
	switch {
	case name == "" || len(sessions) == 0 || len(sessions) > maxSessions || slices.Contains(sessions, ""):
		return "", fmt.Errorf("a token has a name and from 1 to %d sessions", maxSessions)
	case life <= 0 || life > MaxLife:
		return "", fmt.Errorf("a token lasts for some time, and %d days at most", MaxLife/(24*time.Hour))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropExpired()
	switch {
	case s.find(name) >= 0:
		return "", fault.New("revoke it, or choose another name", "there is a token with the name %q", name)
	case len(s.entries) >= maxTokens:
		return "", fault.New("revoke one", "there are %d tokens, and no more are allowed", maxTokens)
	}
	var bits [32]byte
	_, _ = rand.Read(bits[:]) // never fails
	secret = base64.RawURLEncoding.EncodeToString(bits[:])
	now := s.now().Round(0) // by the wall clock: time passes while the machine sleeps
	e := &entry{Token{Name: name, Sessions: slices.Clone(sessions), DenyOnly: denyOnly, Made: now, Expires: now.Add(life)}, hash(secret), make(chan struct{})}
	entries := append(slices.Clone(s.entries), e)
	if err := s.write(entries); err != nil {
		return "", err
	}
	s.replace(entries)
	return secret, nil
}

// Revoke ends a token.
func (s *Store) Revoke(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropExpired()
	at := s.find(name)
	if at < 0 {
		return fault.New("'ironcurtain-mux tokens ls' lists them", "there is no token with the name %q", name)
	}
	close(s.entries[at].ended)
	s.replace(slices.Delete(s.entries, at, at+1))
	return fault.Wrap("it is revoked until the daemon starts again", s.write(s.entries), "")
}

// List returns the tokens that are in force, the oldest first.
func (s *Store) List() []Token {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropExpired()
	list := []Token{}
	for _, e := range s.entries {
		list = append(list, e.Token)
	}
	return list
}

// Live reports whether a token is in force. That may be otherwise after changed is closed, or
// after the time next if that is not zero.
func (s *Store) Live() (live bool, changed <-chan struct{}, next time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropExpired()
	for _, e := range s.entries {
		if left := e.Expires.Sub(s.now()); next == 0 || left < next {
			next = left
		}
	}
	return len(s.entries) > 0, s.changed, next
}

// Check returns the token that somebody has shown, and a channel that is closed when it is
// revoked.
func (s *Store) Check(secret string) (t Token, ended <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	s.dropExpired()
	s.wrong = slices.DeleteFunc(s.wrong, func(at time.Time) bool { return now.Sub(at) >= wrongTime })
	if len(s.wrong) >= maxWrong {
		return t, nil, fault.Wrap("", ErrLocked, "wait a minute")
	}
	shown := hash(secret)
	var found *entry
	for _, e := range s.entries { // all of them, so that the time says nothing
		if subtle.ConstantTimeCompare(shown, e.Hash) == 1 {
			found = e
		}
	}
	if found == nil {
		s.wrong = append(s.wrong, now)
		return t, nil, fault.New("'ironcurtain-mux tokens create' makes one", "the token is wrong, revoked, or its time is over")
	}
	found.Used = now
	return found.Token, found.ended, nil
}

func hash(secret string) []byte {
	h := sha256.Sum256([]byte(secret))
	return h[:]
}

// find returns the index of a token; negative: there is none. The caller holds the lock, as for
// the following.
func (s *Store) find(name string) int {
	return slices.IndexFunc(s.entries, func(e *entry) bool { return e.Name == name })
}

// write writes tokens to the file.
func (s *Store) write(entries []*entry) error {
	text, err := json.Marshal(entries)
	if err == nil {
		err = wholefile.Write(s.path, text, 0o600)
	}
	return fault.Wrap("write answer tokens", err, "")
}

// replace replaces the tokens.
func (s *Store) replace(entries []*entry) {
	s.entries = entries
	close(s.changed)
	s.changed = make(chan struct{})
}

// dropExpired forgets the tokens whose time is over. The file has them until the next change.
func (s *Store) dropExpired() {
	now := s.now()
	s.entries = slices.DeleteFunc(s.entries, func(e *entry) bool {
		over := !now.Before(e.Expires)
		if over {
			close(e.ended)
		}
		return over
	})
}
