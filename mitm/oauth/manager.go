package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	// margin is how long before its end a token counts as expired.
	margin = 5 * time.Minute
	// renewTime bounds one renewal, waiting for locks included.
	renewTime = 30 * time.Second
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
	failed  error  // of the last attempt
	revoked string // the access token that the provider refused last
	unsaved *Token // renewed, but the file could not be written
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
	t := m.token
	m.mu.Unlock()
	m.save()
	if t.usable(m.options.Now(), margin) {
		return t, nil
	}
	renewed, err := m.renew(ctx, t.Access)
	if err == nil {
		return renewed, nil
	}
	// What could not be renewed before its end is good until then.
	now, readErr := m.source.Read()
	m.mu.Lock()
	defer m.mu.Unlock()
	if readErr == nil && now.Access != m.revoked && now.usable(m.options.Now(), 0) {
		return now, nil
	}
	return Token{}, err
}

// save tries again to write a renewed login that could not be written: the old
// refresh token in the file is worth nothing any more.
func (m *Manager) save() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.unsaved != nil && m.source.write(*m.unsaved) == nil {
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
	m.mu.Lock()
	until, failed := m.until, m.failed
	m.mu.Unlock()
	if m.options.Now().Before(until) {
		return Token{}, failed
	}
	t, err := m.exchange(ctx, bad)
	if err != nil {
		if other, ok := m.fresh(bad); ok { // while we failed, another succeeded
			return other, nil
		}
		return Token{}, m.note(err)
	}
	m.accept(t)
	return t, nil
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
	release, err := lockAll(ctx, m.source.locks)
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
	m.mu.Lock()
	if m.unsaved != nil {
		old = *m.unsaved
	}
	m.mu.Unlock()
	t, err := m.ask(ctx, old)
	if err != nil {
		return Token{}, err
	}
	m.mu.Lock()
	m.unsaved = &t
	m.mu.Unlock()
	m.save()
	return t, nil
}

func (m *Manager) login(cause string) error {
	return &LoginError{Provider: m.source.Provider, Cause: cause, Command: m.source.Login}
}

// ask exchanges the refresh token at the token service.
func (m *Manager) ask(ctx context.Context, old Token) (Token, error) {
	req, err := m.request(ctx, old.Refresh)
	if err != nil {
		return Token{}, err
	}
	res, err := m.options.Client.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err
		}
		return Token{}, fmt.Errorf("renew the login of %s: %w", m.source.Name, err)
	}
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxFile))
	switch {
	case err != nil:
		return Token{}, fmt.Errorf("renew the login of %s: read the answer: %w", m.source.Name, err)
	case res.StatusCode == http.StatusBadRequest || res.StatusCode == http.StatusUnauthorized:
		return Token{}, m.login(fmt.Sprintf("the provider refused to renew the login of %s (status %d)", m.source.Name, res.StatusCode))
	case res.StatusCode != http.StatusOK:
		return Token{}, fmt.Errorf("renew the login of %s: the token service answered with status %d", m.source.Name, res.StatusCode)
	}
	return m.read(data, old)
}

func (m *Manager) request(ctx context.Context, refresh string) (*http.Request, error) {
	values := map[string]string{"grant_type": "refresh_token", "refresh_token": refresh, "client_id": m.source.client}
	var body io.Reader
	kind := "application/json"
	if m.source.form {
		kind = "application/x-www-form-urlencoded"
		form := make(url.Values)
		for k, v := range values {
			form.Set(k, v)
		}
		body = strings.NewReader(form.Encode())
	} else {
		data, err := json.Marshal(values)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.options.Endpoint, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", kind)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", m.source.userAgent)
	return req, nil
}

// read takes the new token out of the service's answer. An answer that would
// leave the person without a login is not accepted.
func (m *Manager) read(data []byte, old Token) (Token, error) {
	var answer struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
		ID      string `json:"id_token"`
		Seconds int64  `json:"expires_in"`
	}
	if json.Unmarshal(data, &answer) != nil || answer.Access == "" || answer.Refresh == "" {
		return Token{}, fmt.Errorf("renew the login of %s: the token service's answer holds no complete login", m.source.Name)
	}
	t := Token{Access: answer.Access, Refresh: answer.Refresh, ID: answer.ID, Account: old.Account}
	switch {
	case answer.Seconds > 0 && answer.Seconds < 1<<32:
		t.Expires = m.options.Now().Add(time.Duration(answer.Seconds) * time.Second)
	default:
		if t.Expires = jwtExpiry(t.Access); t.Expires.IsZero() {
			t.Expires = m.options.Now().Add(time.Hour)
		}
	}
	return t, nil
}
