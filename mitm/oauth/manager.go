package oauth

import (
	"context"
	"net/http"
	"sync"
	"time"
)

const (
	// margin is how long before its end a token counts as expired.
	margin = 5 * time.Minute
	// waitTime bounds how long a renewal waits for its turn and for locks, and
	// askTime how long it waits for the token service.
	waitTime = 30 * time.Second
	askTime  = 30 * time.Second
	// newTime is how long a token that was just renewed is used, even if by its
	// end or by our clock it must be renewed again.
	newTime = time.Minute
	// mostQuick is how often in a row a token is renewed that was just renewed: a
	// provider that refuses all of them refuses something else.
	mostQuick = 2
	// After a failure nothing is tried for a pause that doubles each time.
	firstPause = 30 * time.Second
	lastPause  = 10 * time.Minute
)

// Options configure a Manager; the zero value is the real world.
type Options struct {
	Client   *http.Client     // nil: one that follows nothing
	Endpoint string           // of the token service; empty: the source's own
	Now      func() time.Time // nil: time.Now
	// Journal is a directory for notes of renewals under way, which hold no token;
	// empty for none.
	Journal string
}

// Manager gives out the tokens of one source. All sessions of a program share
// one Manager for a source. It is safe for concurrent use.
type Manager struct {
	source  *Source
	options Options
	journal journal

	turn   chan struct{} // holds the right to renew
	saving sync.Mutex    // held by who writes what is unsaved

	mu      sync.Mutex
	token   Token
	until   time.Time // nothing is tried before
	pause   time.Duration
	failed  error     // of the last attempt
	revoked string    // the access token that the provider refused last
	early   time.Time // until then a token that was just renewed counts as valid
	quick   int       // renewals in a row of tokens that were just renewed
	unsaved *renewal  // is not stored yet
	dead    string    // the refresh token that will never be good again
	why     error     // it is not
}

// renewal is a token and the refresh token that it was given for.
type renewal struct {
	token Token
	by    string
}

// NewManager makes a manager for a source.
func NewManager(s *Source, o Options) *Manager {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Client == nil {
		// Proxy variables of the environment do not decide where a login goes.
		o.Client = &http.Client{Transport: &http.Transport{TLSHandshakeTimeout: 10 * time.Second, DisableKeepAlives: true}}
	}
	client := *o.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	o.Client = &client
	if o.Endpoint == "" {
		o.Endpoint = s.endpoint
	}
	return &Manager{source: s, options: o, journal: journalOf(o.Journal, s), turn: make(chan struct{}, 1)}
}

// Source returns the login that the manager uses.
func (m *Manager) Source() *Source { return m.source }

// Token returns a token that is valid for some minutes, renewing it if need
// be. The error is a *LoginError when a person has to log in.
func (m *Manager) Token(ctx context.Context) (Token, error) {
	m.mu.Lock()
	t, early, unsaved := m.token, m.early, m.unsaved != nil
	m.mu.Unlock()
	if unsaved {
		m.save()
	}
	now := m.options.Now()
	if t.usable(now, margin) || t.Access != "" && now.Before(early) {
		return t, nil
	}
	renewed, err := m.renew(ctx, t.Access)
	if err == nil {
		return renewed, nil
	}
	// What could not be renewed before its end is good until then.
	read, readErr := m.source.Read()
	m.mu.Lock()
	defer m.mu.Unlock()
	if readErr == nil && read.Access != m.revoked && read.usable(m.options.Now(), 0) {
		return read, nil
	}
	return Token{}, err
}

// Held returns the token that is there now, whether it can be used or not.
func (m *Manager) Held() Token {
	m.mu.Lock()
	t := m.token
	m.mu.Unlock()
	if t.Access == "" {
		t, _ = m.source.Read() // without a login there is nothing to keep secret
	}
	return t
}

// save writes a renewed login in place of the one that it was given for, whose
// refresh token is worth nothing any more. What it cannot write it keeps for the
// next time; what somebody has logged in anew since then it leaves alone.
func (m *Manager) save() {
	m.saving.Lock()
	defer m.saving.Unlock()
	m.mu.Lock()
	u := m.unsaved
	m.mu.Unlock()
	if u == nil {
		return
	}
	if m.source.write(u.token, u.by) != nil {
		return
	}
	m.journal.end()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.unsaved == u {
		m.unsaved = nil
	}
}

// Refused is told that the provider has refused an access token. It returns
// whether another one is there now.
func (m *Manager) Refused(ctx context.Context, access string) bool {
	m.mu.Lock()
	m.revoked = access
	m.mu.Unlock()
	t, err := m.renew(ctx, access)
	return err == nil && t.Access != access
}

// fresh reads the login and takes its token over, if it can.
func (m *Manager) fresh(bad string) (Token, bool) {
	t, err := m.source.Read()
	if err != nil || !m.take(t, bad) {
		return Token{}, false
	}
	return t, true
}

// take takes a stored token over if it is valid and not one that is known to be
// bad: neither the given one nor one that the provider refused.
func (m *Manager) take(t Token, bad string) bool {
	m.mu.Lock()
	revoked := m.revoked
	m.mu.Unlock()
	if t.Access == bad || t.Access == revoked || !t.usable(m.options.Now(), margin) {
		return false
	}
	m.accept(t)
	return true
}

func (m *Manager) accept(t Token) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.token, m.failed, m.pause, m.until = t, nil, 0, time.Time{}
}

// note remembers a failure and how long to leave the service alone.
func (m *Manager) note(err error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pause = min(max(2*m.pause, firstPause), lastPause)
	m.until = m.options.Now().Add(m.pause)
	m.failed = err
	m.token = Token{}
	return err
}
