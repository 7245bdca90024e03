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
	"slices"
	"strconv"
	"strings"
	"time"
)

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
	data, err := io.ReadAll(io.LimitReader(res.Body, maxText))
	if res.StatusCode >= 300 && res.StatusCode < 500 {
		return Token{}, &refusal{login: m.source.Name, status: res.StatusCode, dead: deadToken(data)}
	}
	switch {
	case err != nil:
		return Token{}, fmt.Errorf("renew the login of %s: read the answer: %w", m.source.Name, err)
	case res.StatusCode != http.StatusOK:
		return Token{}, fmt.Errorf("renew the login of %s: the token service answered with status %d", m.source.Name, res.StatusCode)
	}
	return m.read(data, old)
}

// refusal is an answer of the token service without a token.
type refusal struct {
	login  string // the source's name
	status int
	dead   bool // the refresh token is invalid for ever
}

func (e *refusal) Error() string {
	if e.final() {
		return fmt.Sprintf("the provider refused to renew the login of %s (status %d)", e.login, e.status)
	}
	return fmt.Sprintf("renew the login of %s: the token service answered with status %d", e.login, e.status)
}

// final reports whether a person has to log in.
func (e *refusal) final() bool {
	return e.dead || e.status == http.StatusBadRequest || e.status == http.StatusUnauthorized
}

// deadTokens are the codes of token services for a refresh token that was used before,
// has expired or was revoked.
var deadTokens = []string{"invalid_grant", "refresh_token_expired", "refresh_token_reused", "refresh_token_invalidated"}

// deadToken reports whether an answer has such a code: {"error":"code"} as in OAuth, or
// {"error":{"code":"code"}}.
func deadToken(answer []byte) bool {
	var outer struct {
		Error json.RawMessage `json:"error"`
	}
	var inner struct {
		Code string `json:"code"`
	}
	if json.Unmarshal(answer, &outer) != nil || outer.Error == nil {
		return false
	}
	code := text(outer.Error)
	if code == "" && json.Unmarshal(outer.Error, &inner) == nil {
		code = inner.Code
	}
	return slices.Contains(deadTokens, code)
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

// read reads the new token from the service's answer. It refuses an answer without an
// access token or a refresh token. It tolerates faults in other members, because the old
// refresh token may be invalid already.
func (m *Manager) read(data []byte, old Token) (Token, error) {
	var answer map[string]json.RawMessage
	_ = json.Unmarshal(data, &answer) // on an error the answer has no members
	t := Token{
		Access: text(answer["access_token"]), Refresh: text(answer["refresh_token"]), ID: text(answer["id_token"]),
		Account: old.Account,
	}
	if !plain(t.Access) || !plain(t.Refresh) {
		return Token{}, fmt.Errorf("renew the login of %s: the token service's answer holds no complete login", m.source.Name)
	}
	now := m.options.Now()
	if life := seconds(answer["expires_in"]); life > 0 {
		t.Expires = now.Add(life)
	} else if t.Expires = jwtExpiry(t.Access); t.Expires.IsZero() {
		t.Expires = now.Add(time.Hour)
	}
	return t, nil
}

// seconds reads a number of seconds, which some services write as a string. It returns 0
// for anything else.
func seconds(raw json.RawMessage) time.Duration {
	n, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if err != nil || !(n > 0 && n < 1<<32) {
		return 0
	}
	return time.Duration(n) * time.Second
}

// plain reports whether a token is not empty and can be sent in a header field.
func plain(token string) bool {
	return token != "" && !strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' })
}
