package scripted

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// Account is the account that the logins of the provider belong to.
const Account = "scripted-account"

// login is a pair of tokens: an access token that requests carry, and a refresh token that can be
// exchanged for the next pair once.
type login struct {
	prefix string // of access tokens

	mu       sync.Mutex
	access   string // that is good now
	refresh  string // that is good now
	renewals int
	barred   bool
}

func newLogin(prefix string) *login {
	l := &login{prefix: prefix}
	l.draw()
	return l
}

// draw makes a new pair and invalidates the old one.
func (l *login) draw() {
	l.access, l.refresh = l.prefix+rand.Text(), "refresh-scripted-"+rand.Text()
}

// opens reports whether the header carries the valid access token, and no other credential.
func (l *login) opens(h http.Header) bool {
	values := h.Values("Authorization")
	if len(values) != 1 || len(h.Values("X-Api-Key")) > 0 {
		return false
	}
	token, ok := strings.CutPrefix(values[0], "Bearer ")
	l.mu.Lock()
	defer l.mu.Unlock()
	return ok && subtle.ConstantTimeCompare([]byte(token), []byte(l.access)) == 1
}

// Login returns the valid tokens that a provider would have given to its own program; the provider
// is "anthropic" or "chatgpt".
func (s *Server) Login(provider string) (access, refresh string) {
	l := s.logins[provider]
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.access, l.refresh
}

// Revoke invalidates the access token of a provider's login before its end; the refresh token stays
// valid.
func (s *Server) Revoke(provider string) {
	l := s.logins[provider]
	l.mu.Lock()
	defer l.mu.Unlock()
	l.access = l.prefix + rand.Text()
}

// Bar invalidates a provider's login: whoever has it must log in again.
func (s *Server) Bar(provider string) {
	s.Revoke(provider)
	l := s.logins[provider]
	l.mu.Lock()
	defer l.mu.Unlock()
	l.barred = true
}

// Renewals counts how often a provider's login was renewed.
func (s *Server) Renewals(provider string) int {
	l := s.logins[provider]
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.renewals
}

// renew answers the token service of a provider: it exchanges a refresh token, in a form or in
// JSON, for a new pair of tokens.
func (s *Server) renew(l *login) func(http.ResponseWriter, *http.Request, []byte, *Request) {
	return func(w http.ResponseWriter, r *http.Request, body []byte, _ *Request) {
		var asked struct {
			Grant   string `json:"grant_type"`
			Refresh string `json:"refresh_token"`
		}
		if strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
			form, _ := url.ParseQuery(string(body)) // an invalid form has a wrong token
			asked.Grant, asked.Refresh = form.Get("grant_type"), form.Get("refresh_token")
		} else if json.Unmarshal(body, &asked) != nil {
			asked.Refresh = ""
		}
		access, refresh := "", ""
		if asked.Grant == "refresh_token" {
			access, refresh = l.spend(asked.Refresh)
		}
		if access == "" {
			writeJSON(w, http.StatusBadRequest, map[string]string{"error": "invalid_grant"})
			return
		}
		writeJSON(w, http.StatusOK, map[string]any{
			"token_type": "Bearer", "access_token": access, "refresh_token": refresh, "expires_in": 8 * 60 * 60,
		})
	}
}

// spend exchanges a refresh token for a new pair; it returns none for a wrong token.
func (l *login) spend(refresh string) (nextAccess, nextRefresh string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.barred || subtle.ConstantTimeCompare([]byte(refresh), []byte(l.refresh)) != 1 {
		return "", ""
	}
	l.renewals++
	l.draw()
	return l.access, l.refresh
}

// chatgptAccounts tells Codex which account it works for.
func (s *Server) chatgptAccounts(w http.ResponseWriter, _ *http.Request, _ []byte, _ *Request) {
	writeJSON(w, http.StatusOK, map[string]any{
		"accounts": []any{map[string]any{
			"id": Account, "name": nil, "structure": "personal",
			"workspace_backend_origin": "https://chatgpt.com", "account_routing_override": "us",
		}},
		"account_ordering": []string{Account}, "default_account_id": Account,
	})
}
