// Package token keeps the answer tokens. An answer token lets a helper that has a sandbox of its
// own, such as a bot, answer the calls of some sessions and do nothing else.
//
// A token is 256 random bits, which the person sees once. A file keeps its hash, its name for the
// records, its sessions and the time of its end, at most 30 days later. After five wrong tokens
// within a minute, no token is accepted until that minute is over.
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
	maxWrong    = 5 // tokens within wrongTime
	wrongTime   = time.Minute
)

// Token describes a token without its secret.
type Token struct {
	Name     string    `json:"name"`
	Sessions []string  `json:"sessions"` // whose calls it answers; never empty
	DenyOnly bool      `json:"denyOnly,omitempty"`
	Made     time.Time `json:"made"`
	Expires  time.Time `json:"expires"`
	Used     time.Time `json:"used,omitzero"` // the last time in this process
}

// entry is a token in the file.
type entry struct {
	Token
	Hash  []byte        `json:"hash"` // SHA-256 of the text that the person has
	ended chan struct{} // closed when the token is revoked or expires
}

// ErrLocked means that no token is accepted at present, because too many wrong ones were shown.
var ErrLocked = errors.New("no token is accepted: too many wrong ones were shown")

// Store keeps the tokens of a home. It is safe for concurrent use.
type Store struct {
	path string
	now  func() time.Time

	mu      sync.Mutex
	entries []*entry
	wrong   []time.Time   // when the last wrong ones were shown, at most maxWrong
	changed chan struct{} // closed and replaced when a token is made or revoked
}

// Open reads the tokens in a file. After an error it also returns a store, which is empty.
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
		err = errors.New("an entry is not a valid token")
	}
	if err != nil {
		return s, fault.Wrap("read answer tokens", fmt.Errorf("%s: %w", path, err), "create the tokens again")
	}
	for _, e := range kept {
		e.ended = make(chan struct{})
	}
	s.entries = kept
	return s, nil
}

// Make makes a token, and returns the secret that its owner shows.
func (s *Store) Make(name string, sessions []string, denyOnly bool, life time.Duration) (secret string, err error) {
	switch {
	case name == "" || len(sessions) == 0 || len(sessions) > maxSessions || slices.Contains(sessions, ""):
		return "", fmt.Errorf("a token needs a name and 1 to %d sessions", maxSessions)
	case life <= 0 || life > MaxLife:
		return "", fmt.Errorf("the life of a token must be more than 0 and at most %d days", MaxLife/(24*time.Hour))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropExpired()
	switch {
	case s.find(name) >= 0:
		return "", fault.New("revoke that token, or choose another name", "there is already a token with the name %q", name)
	case len(s.entries) >= maxTokens:
		return "", fault.New("revoke a token", "there are %d tokens already, and no more are allowed", maxTokens)
	}
	var bits [32]byte
	_, _ = rand.Read(bits[:]) // never fails
	secret = base64.RawURLEncoding.EncodeToString(bits[:])
	now := s.now().Round(0) // without the monotonic clock, which may stop while the machine sleeps
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
		return fault.New("'ironcurtain-mux tokens ls' lists the tokens", "there is no token with the name %q", name)
	}
	close(s.entries[at].ended)
	s.replace(slices.Delete(s.entries, at, at+1))
	return fault.Wrap("the token is revoked only until the daemon starts again", s.write(s.entries), "")
}

// List returns the valid tokens, the oldest first.
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

// Live reports whether any token is valid. The answer may change when changed is closed, or after
// next, unless that is zero.
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

// Check returns the token with a secret that somebody has shown, and a channel that is closed when
// the token is revoked or expires.
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
	for _, e := range s.entries { // all of them, so that the time does not depend on which one matches
		if subtle.ConstantTimeCompare(shown, e.Hash) == 1 {
			found = e
		}
	}
	if found == nil {
		s.wrong = append(s.wrong, now)
		return t, nil, fault.New("'ironcurtain-mux tokens create' makes a token", "the token is wrong, revoked or expired")
	}
	found.Used = now
	return found.Token, found.ended, nil
}

func hash(secret string) []byte {
	h := sha256.Sum256([]byte(secret))
	return h[:]
}

// find returns the index of a token, or a negative number. The callers of find and of the methods
// below hold the lock.
func (s *Store) find(name string) int {
	return slices.IndexFunc(s.entries, func(e *entry) bool { return e.Name == name })
}

func (s *Store) write(entries []*entry) error {
	text, err := json.Marshal(entries)
	if err == nil {
		err = wholefile.Write(s.path, text, 0o600)
	}
	return fault.Wrap("write answer tokens", err, "")
}

// replace replaces the tokens, and reports the change to those who wait for it.
func (s *Store) replace(entries []*entry) {
	s.entries = entries
	close(s.changed)
	s.changed = make(chan struct{})
}

// dropExpired removes the expired tokens. They stay in the file until the next change.
func (s *Store) dropExpired() {
	now := s.now()
	s.entries = slices.DeleteFunc(s.entries, func(e *entry) bool {
		expired := !now.Before(e.Expires)
		if expired {
			close(e.ended)
		}
		return expired
	})
}
