package oauth

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// renew returns a token other than bad.
func (m *Manager) renew(ctx context.Context, bad string) (Token, error) {
	ctx, cancel := context.WithTimeout(ctx, waitTime)
	defer cancel()
	select {
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	case <-ctx.Done():
		return Token{}, fmt.Errorf("wait for another renewal of the login: %w", ctx.Err())
	}
	// Another goroutine or process may have renewed the login.
	if t, ok := m.useStored(bad); ok {
		return t, nil
	}
	if err := m.mayAsk(bad); err != nil {
		return Token{}, err
	}
	t, err := m.exchange(ctx, bad)
	if err != nil {
		if other, ok := m.useStored(bad); ok { // another process has renewed it meanwhile
			return other, nil
		}
		if errors.Is(ctx.Err(), context.Canceled) { // not a failure: the agent has gone away
			return Token{}, err
		}
		return Token{}, m.note(err)
	}
	m.accept(t)
	m.mu.Lock()
	m.early = m.options.Now().Add(newTime)
	m.mu.Unlock()
	return t, nil
}

// mayAsk returns why the token service must not be asked now, or nil.
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
		return fmt.Errorf("renew the login of %s: the provider refuses the token that was just renewed", m.source.Name)
	}
	m.quick++
	return nil
}

// exchange renews the login while it holds the locks: it reads the login again, compares,
// asks the token service and stores the result.
func (m *Manager) exchange(ctx context.Context, bad string) (Token, error) {
	if _, err := m.renewable(); err != nil {
		return Token{}, err
	}
	release, err := lockAll(ctx, m.source.guard, m.source.locks)
	if err != nil {
		return Token{}, fmt.Errorf("renew the login of %s: %w", m.source.Name, err)
	}
	defer release()
	old, err := m.renewable()
	if err != nil {
		return Token{}, err
	}
	if m.use(old, bad) {
		return old, nil
	}
	stored := old.Refresh
	m.mu.Lock()
	if m.unsaved != nil && m.unsaved.by == old.Refresh {
		old = m.unsaved.token
	}
	dead, why := m.dead, m.why
	m.mu.Unlock()
	if old.Refresh == dead {
		return Token{}, why
	}
	t, err := m.askOnce(ctx, old, stored)
	if err != nil {
		return Token{}, err
	}
	m.mu.Lock()
	m.unsaved = &renewal{token: t, by: stored}
	m.mu.Unlock()
	m.save()
	return t, nil
}

// renewable reads the stored login, which must have a refresh token.
func (m *Manager) renewable() (Token, error) {
	t, err := m.source.Read()
	if err != nil {
		return Token{}, m.login(err.Error())
	}
	if t.Refresh == "" {
		return Token{}, m.login("the login has expired and cannot be renewed")
	}
	return t, nil
}

// askOnce asks the token service and records what the answer says about the old token.
// stored is the refresh token that other processes see. askOnce waits for the answer even
// if ctx is canceled, because the service changes the tokens all the same.
func (m *Manager) askOnce(ctx context.Context, old Token, stored string) (Token, error) {
	begun, cut := m.journal.cutOff(stored)
	if !cut {
		m.journal.begin(m.source, stored, m.options.Now())
	}
	cut = cut && old.Refresh == stored
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTime)
	defer cancel()
	t, err := m.ask(ctx, old)
	var refused *refusal
	if !errors.As(err, &refused) {
		return t, err // the renewal stays in the journal until the token is stored
	}
	if !cut && old.Refresh == stored {
		m.journal.end() // no token was issued
	}
	switch {
	case !refused.final():
		return Token{}, err
	case cut:
		err = m.login(fmt.Sprintf("a renewal of the login of %s was cut off at %s, and the provider no longer accepts the old login",
			m.source.Name, begun.Local().Format(time.DateTime)))
	default:
		err = m.login(err.Error())
	}
	if refused.dead {
		m.mu.Lock()
		m.dead, m.why = old.Refresh, err
		m.mu.Unlock()
	}
	return Token{}, err
}

func (m *Manager) login(cause string) error {
	return &LoginError{Provider: m.source.Provider, Cause: cause, Command: m.source.Login}
}
