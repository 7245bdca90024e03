package oauth

import (
	"context"
	"net/http"
	"sync"
	"time"
)

const (
	// margin is how long before its expiry a token counts as expired.
	margin = 5 * time.Minute
	// waitTime bounds how long a renewal waits for other renewals and for locks.
	// askTime bounds how long it waits for the token service.
	waitTime = 30 * time.Second
	askTime  = 30 * time.Second
	// newTime is how long a new token is used even if its expiry or our clock says that
	// it must be renewed again.
	newTime = time.Minute
	// mostQuick is how often in a row a token younger than newTime is renewed. If the
	// provider refuses all of them, renewing does not help.
	mostQuick = 2
	// After a failure there is a pause, which doubles with each failure.
	firstPause = 30 * time.Second
	lastPause  = 10 * time.Minute
)

// Options configure a Manager. The zero value is for normal use.
type Options struct {
	Client   *http.Client     // nil: a client that does not follow redirects
	Endpoint string           // of the token service; empty: the source's own
	Now      func() time.Time // nil: time.Now
	// Journal is a directory for files about renewals under way, which contain no
	// token; empty for none.
	Journal string
}

// Manager returns the tokens of one source and renews them. All sessions of a program
// share one Manager for a source. It is safe for concurrent use.
type Manager struct {
	source  *Source
	options Options
	journal journal

	turn   chan struct{} // a semaphore of capacity 1, held during a renewal
	saving sync.Mutex    // held while unsaved is written

	mu      sync.Mutex
	token   Token
	until   time.Time // end of the pause after a failure
	pause   time.Duration
	failed  error     // of the last attempt
	revoked string    // the access token that the provider refused last
	early   time.Time // until then a new token counts as valid
	quick   int       // renewals in a row of new tokens
	unsaved *renewal  // a renewal that is not stored yet
	dead    string    // a refresh token that is invalid for ever
	why     error     // why dead is invalid
}

// renewal is a token and the refresh token that it was exchanged for.
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
		// It ignores the environment's proxy variables, because a login must not go to a proxy.
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

// Token returns a token that is valid for some minutes, and renews it if necessary. The
// error is a *LoginError when a person has to log in.
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
	// A token that could not be renewed can be used until it expires.
	read, readErr := m.source.Read()
	m.mu.Lock()
	defer m.mu.Unlock()
	if readErr == nil && read.Access != m.revoked && read.usable(m.options.Now(), 0) {
		return read, nil
	}
	return Token{}, err
}

// Held returns the current token, even if it is not valid.
func (m *Manager) Held() Token {
	m.mu.Lock()
	t := m.token
	m.mu.Unlock()
	if t.Access == "" {
		t, _ = m.source.Read() // on an error there is no login to keep secret
	}
	return t
}

// save stores a renewed login in place of the old one, whose refresh token is no longer
// valid. If it cannot write the login, it keeps it for the next call. It does not
// overwrite a login that a person has made since then.
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

// Refused records that the provider has refused an access token, and renews the login. It
// returns whether there is another token now.
func (m *Manager) Refused(ctx context.Context, access string) bool {
	m.mu.Lock()
	m.revoked = access
	m.mu.Unlock()
	t, err := m.renew(ctx, access)
	return err == nil && t.Access != access
}

// useStored reads the stored login and passes its token to use.
func (m *Manager) useStored(bad string) (Token, bool) {
	t, err := m.source.Read()
	if err != nil || !m.use(t, bad) {
		return Token{}, false
	}
	return t, true
}

// use makes a stored token the Manager's token and returns true, if the token is valid
// and is neither bad nor the one that the provider refused last.
func (m *Manager) use(t Token, bad string) bool {
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

// note records a failure and starts the pause after it.
func (m *Manager) note(err error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pause = min(max(2*m.pause, firstPause), lastPause)
	m.until = m.options.Now().Add(m.pause)
	m.failed = err
	m.token = Token{}
	return err
}
