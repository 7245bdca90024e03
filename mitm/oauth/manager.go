package oauth

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"time"
)

const (
	// margin is how long before its end a token counts as expired.
	margin = 5 * time.Minute
	// renewTime bounds one renewal, waiting for locks included.
	renewTime = 30 * time.Second
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
}

// Manager gives out the tokens of one source. All sessions of a program share
// one Manager for a source. It is safe for concurrent use.
type Manager struct {
	source  *Source
	options Options

	turn chan struct{} // holds the right to renew

	mu      sync.Mutex
	token   Token
	until   time.Time // nothing is tried before
	pause   time.Duration
	failed  error     // of the last attempt
	revoked string    // the access token that the provider refused last
	early   time.Time // until then a token that was just renewed counts as valid
	quick   int       // renewals in a row of tokens that were just renewed
	unsaved *renewal  // could not be written to the file
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
	return &Manager{source: s, options: o, turn: make(chan struct{}, 1)}
}

// Source returns the login that the manager uses.
func (m *Manager) Source() *Source { return m.source }

// Token returns a token that is valid for some minutes, renewing it if need
// be. The error is a *LoginError when a person has to log in.
func (m *Manager) Token(ctx context.Context) (Token, error) {
	m.mu.Lock()
	t, early := m.token, m.early
	m.mu.Unlock()
	m.save()
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
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.unsaved == nil {
		return
	}
	now, err := m.source.Read()
	if err == nil && now.Refresh != m.unsaved.by || err == nil && m.source.write(m.unsaved.token) == nil {
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

// renew returns a token other than the one that is known to be bad.
func (m *Manager) renew(ctx context.Context, bad string) (Token, error) {
	ctx, cancel := context.WithTimeout(ctx, renewTime)
	defer cancel()
	select {
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	case <-ctx.Done():
		return Token{}, fmt.Errorf("wait for another renewal of the login: %w", ctx.Err())
	}
	// Somebody else may have renewed it: in this process or in another.
	if t, ok := m.fresh(bad); ok {
		return t, nil
	}
	if err := m.mayAsk(bad); err != nil {
		return Token{}, err
	}
	t, err := m.exchange(ctx, bad)
	if err != nil {
		if other, ok := m.fresh(bad); ok { // while we failed, another succeeded
			return other, nil
		}
		return Token{}, m.note(err)
	}
	m.accept(t)
	m.mu.Lock()
	m.early = m.options.Now().Add(newTime)
	m.mu.Unlock()
	return t, nil
}

// mayAsk says why the token service is to be left alone for now.
func (m *Manager) mayAsk(bad string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.options.Now()
	if now.Before(m.until) {
		return m.failed
	}
	if bad != m.token.Access || !now.Before(m.early) {
		m.quick = 0
		return nil
	}
	if m.quick == mostQuick {
		return fmt.Errorf("renew the login of %s: the provider refuses what was just renewed", m.source.Name)
	}
	m.quick++
	return nil
}

// fresh reads the file and takes its token over if it is valid and not one that
// is known to be bad: neither the given one nor one that the provider refused.
func (m *Manager) fresh(bad string) (Token, bool) {
	t, err := m.source.Read()
	if err != nil || t.Access == bad || !t.usable(m.options.Now(), margin) {
		return Token{}, false
	}
	m.mu.Lock()
	revoked := m.revoked
	m.mu.Unlock()
	if t.Access == revoked {
		return Token{}, false
	}
	m.accept(t)
	return t, true
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

// exchange renews under the locks: read again, compare, ask, store.
func (m *Manager) exchange(ctx context.Context, bad string) (Token, error) {
	old, err := m.source.Read()
	if err != nil {
		return Token{}, m.login(err.Error())
	}
	if old.Refresh == "" {
		return Token{}, m.login("the login has expired and cannot be renewed")
	}
	release, err := lockAll(ctx, filepath.Dir(m.source.Path), m.source.locks)
	if err != nil {
		return Token{}, fmt.Errorf("renew the login of %s: %w", m.source.Name, err)
	}
	defer release()
	if t, ok := m.fresh(bad); ok {
		return t, nil
	}
	if old, err = m.source.Read(); err != nil {
		return Token{}, m.login(err.Error())
	}
	stored := old.Refresh
	m.mu.Lock()
	if m.unsaved != nil && m.unsaved.by == old.Refresh {
		old = m.unsaved.token
	}
	m.mu.Unlock()
	t, err := m.ask(ctx, old)
	if err != nil {
		return Token{}, err
	}
	m.mu.Lock()
	m.unsaved = &renewal{token: t, by: stored}
	m.mu.Unlock()
	m.save()
	return t, nil
}

func (m *Manager) login(cause string) error {
	return &LoginError{Provider: m.source.Provider, Cause: cause, Command: m.source.Login}
}
