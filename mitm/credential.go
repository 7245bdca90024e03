package mitm

import (
	"slices"
	"strings"
)

// credentialHeaders are the fields that can carry a credential. They are never
// forwarded, and a request must have exactly one of them.
var credentialHeaders = []string{
	"x-api-key", "authorization", "x-goog-api-key", "api-key", "cookie", "proxy-authorization",
}

// credentialQueries are the query keys that can carry a credential.
var credentialQueries = []string{"key", "api_key", "api-key", "apikey", "access_token", "token"}

// keyRefusal is the message to an agent about a wrong credential, whatever the fault is.
const keyRefusal = "Rejected: API key does not match expected sentinel."

// checkCredential returns what the request presents as its credential. Only KeySentinel,
// and KeyNone at an endpoint that needs no credential, pass.
func (g *guarded) checkCredential(h *head, query string, e *Endpoint) (KeyState, *denial) {
	state := g.presented(h, query)
	if state == KeyMissing && e.Auth == "none" {
		return KeyNone, nil
	}
	if state == KeySentinel {
		return state, nil
	}
	d := deny(403, ReasonKey, keyRefusal)
	d.key = state
	d.detail = map[KeyState]string{
		KeyMissing:   "the request presents no credential",
		KeyMismatch:  "the presented credential is not this session's sentinel",
		KeyForeign:   "a credential is presented where it does not belong, or belongs to another provider",
		KeyDuplicate: "more than one credential is presented",
	}[state]
	return state, d
}

// presented checks every place where a credential can be.
func (g *guarded) presented(h *head, query string) KeyState {
	found, foreign, value := 0, false, ""
	for _, f := range h.fields {
		if !slices.Contains(credentialHeaders, f.name) {
			continue
		}
		found++
		if f.name == g.mode.Header {
			value = f.value
		} else {
			foreign = true
		}
	}
	for _, name := range queryNames(query) {
		if slices.Contains(credentialQueries, name) && !(g.provider.Name == GitHub && name == "key") { // caches have keys
			found, foreign = found+1, true
		}
	}
	switch {
	case found == 0:
		return KeyMissing
	case found > 1:
		return KeyDuplicate
	case foreign:
		return KeyForeign
	}
	if g.mode.Header == "authorization" {
		scheme, token, ok := strings.Cut(value, " ")
		if !ok || !strings.EqualFold(scheme, "Bearer") && !(g.provider.Name == GitHub && strings.EqualFold(scheme, "token")) {
			return KeyMismatch
		}
		value = token
	}
	if g.sentinel.equals(value) {
		return KeySentinel
	}
	if g.issued(value) {
		return KeyForeign
	}
	return KeyMismatch
}
