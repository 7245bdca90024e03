package login

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// saved is a login in the file.
type saved struct {
	Server   string    `json:"server"`   // the address that the tokens are sent to
	Resource string    `json:"resource"` // the server's name in the tokens
	Endpoint string    `json:"endpoint"` // the address at which the tokens are renewed
	Client   client    `json:"client"`
	Access   string    `json:"access,omitempty"`
	Refresh  string    `json:"refresh,omitempty"`
	Expires  time.Time `json:"expires,omitzero"`
	Due      time.Time `json:"due,omitzero"` // when the tokens should be renewed
}

// client is this program, as an authorization server knows it.
type client struct {
	ID     string `json:"id"`
	Secret string `json:"secret,omitempty"` // from the authorization server; most give none
	Method string `json:"method,omitempty"` // how the secret is shown
}

// registerClient registers this program at the authorization server.
func (s *site) registerClient(ctx context.Context, p *authorization, redirect string) (client, error) {
	body, err := json.Marshal(map[string]any{
		"client_name": "ironcurtain-mux", "redirect_uris": []string{redirect}, "token_endpoint_auth_method": p.method,
		"grant_types": []string{"authorization_code", "refresh_token"}, "response_types": []string{"code"},
	})
	if err != nil {
		return client{}, err
	}
	var got struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
		Method string `json:"token_endpoint_auth_method"`
	}
	if err := s.ask(ctx, http.MethodPost, p.register, "application/json", body, &got, nil); err != nil {
		return client{}, fmt.Errorf("register this program at the authorization server: %w", err)
	}
	if got.ID == "" {
		return client{}, errors.New("register this program at the authorization server: the answer has no client id")
	}
	return client{ID: got.ID, Secret: got.Secret, Method: got.Method}, nil
}

// tokenText matches a token.
var tokenText = regexp.MustCompile(`^[!-~]+$`)

// ahead is how long before its end a token is renewed. A token whose life is shorter than four
// minutes is renewed after three quarters of its life.
const ahead = time.Minute

// maxToken is the longest token that is accepted, in bytes.
const maxToken = 16 << 10

// grant asks for tokens and stores them in l.
func (s *site) grant(ctx context.Context, l *saved, form url.Values) error {
	form.Set("resource", l.Resource)
	form.Set("client_id", l.Client.ID)
	basic := l.Client.Method == "client_secret_basic"
	if l.Client.Secret != "" && !basic {
		form.Set("client_secret", l.Client.Secret)
	}
	var got struct {
		Access  string  `json:"access_token"`
		Kind    string  `json:"token_type"`
		Seconds float64 `json:"expires_in"`
		Refresh string  `json:"refresh_token"`
	}
	asked := time.Now()
	err := s.ask(ctx, http.MethodPost, l.Endpoint, "application/x-www-form-urlencoded", []byte(form.Encode()), &got, func(r *http.Request) {
		if l.Client.Secret != "" && basic {
			r.SetBasicAuth(url.QueryEscape(l.Client.ID), url.QueryEscape(l.Client.Secret))
		}
	})
	if err != nil {
		return err
	}
	switch {
	case !strings.EqualFold(got.Kind, "Bearer"):
		return fmt.Errorf("the type of the token is %.80q, but only Bearer is supported", got.Kind)
	case !tokenText.MatchString(got.Access) || len(got.Access) > maxToken || len(got.Refresh) > maxToken:
		return errors.New("the token is too long or malformed")
	}
	l.Access, l.Expires, l.Due = got.Access, time.Time{}, time.Time{}
	if got.Seconds > 0 {
		life := time.Duration(min(got.Seconds, 1e8) * float64(time.Second))
		l.Expires, l.Due = asked.Add(life), asked.Add(life-min(ahead, life/4))
	}
	if got.Refresh != "" { // otherwise the old one stays valid
		l.Refresh = got.Refresh
	}
	return nil
}
