package oauth

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// names are the names of the JSON members with the parts of a token.
type names struct {
	access, refresh, expires, account, id string

	kind string        // a member that, if present, must have the value kindOf; empty for none
	unit time.Duration // of expires; 0 when the expiry is in the access token
}

// kindOf is the kind of a text that contains a login.
const kindOf = "oauth_token"

// parse reads the login from its text. Errors never quote the text.
func (s *Source) parse(data []byte) (Token, error) {
	members, err := s.members(data)
	if err != nil {
		return Token{}, err
	}
	t := Token{
		Access:  text(members[s.names.access]),
		Refresh: text(members[s.names.refresh]),
		Account: text(members[s.names.account]),
		ID:      text(members[s.names.id]),
	}
	if kind := text(members[s.names.kind]); s.names.kind != "" && kind != "" && kind != kindOf {
		return Token{}, fmt.Errorf("read the login of %s: %s holds no login", s.Name, s.Place())
	}
	if t.Access == "" && t.Refresh == "" {
		return Token{}, fmt.Errorf("read the login of %s: %s holds no token", s.Name, s.Place())
	}
	if s.names.unit == 0 {
		t.Expires = jwtExpiry(t.Access)
		return t, nil
	}
	var n float64
	if json.Unmarshal(members[s.names.expires], &n) == nil && n > 0 && n < 1<<42 {
		t.Expires = time.UnixMilli(int64(n) * int64(s.names.unit/time.Millisecond))
	}
	return t, nil
}

// members returns the JSON object in the text that has the token.
func (s *Source) members(data []byte) (map[string]json.RawMessage, error) {
	var members map[string]json.RawMessage
	err := json.Unmarshal(data, &members)
	for _, name := range s.inner {
		if err != nil {
			break
		}
		inner := members[name]
		if inner == nil {
			return nil, fmt.Errorf("read the login of %s: %s has no %s", s.Name, s.Place(), name)
		}
		members = nil
		err = json.Unmarshal(inner, &members)
	}
	if err != nil || members == nil {
		return nil, fmt.Errorf("read the login of %s: %s is not the JSON that was expected", s.Name, s.Place())
	}
	return members, nil
}

func text(raw json.RawMessage) string {
	var s string
	if raw == nil || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// jwtExpiry reads the expiry of an access token; it is zero when there is none. It does
// not check the signature, because a wrong expiry only affects this program.
func jwtExpiry(token string) time.Time {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	var claims struct {
		Expires int64 `json:"exp"`
	}
	if err != nil || json.Unmarshal(payload, &claims) != nil || claims.Expires <= 0 || claims.Expires > 1<<40 {
		return time.Time{}
	}
	return time.Unix(claims.Expires, 0)
}

// merge sets the token's members in a login's text and keeps all others.
func (s *Source) merge(data []byte, t Token, now time.Time) ([]byte, error) {
	members, err := s.members(data)
	if err != nil {
		return nil, err
	}
	set := func(name string, v any) error {
		raw, err := json.Marshal(v)
		members[name] = raw
		return err
	}
	if err := set(s.names.access, t.Access); err != nil {
		return nil, err
	}
	if err := set(s.names.refresh, t.Refresh); err != nil {
		return nil, err
	}
	if s.names.unit != 0 && !t.Expires.IsZero() {
		if err := set(s.names.expires, t.Expires.UnixMilli()/int64(s.names.unit/time.Millisecond)); err != nil {
			return nil, err
		}
	}
	if t.ID != "" && s.names.id != "" {
		if err := set(s.names.id, t.ID); err != nil {
			return nil, err
		}
	}
	if len(s.inner) == 0 {
		return json.MarshalIndent(members, "", "  ")
	}
	var outer map[string]json.RawMessage
	if err := json.Unmarshal(data, &outer); err != nil {
		return nil, err
	}
	if outer[s.inner[0]], err = json.Marshal(members); err != nil {
		return nil, err
	}
	if s.stamp != "" {
		if outer[s.stamp], err = json.Marshal(now.UTC()); err != nil {
			return nil, err
		}
	}
	return json.MarshalIndent(outer, "", "  ")
}
