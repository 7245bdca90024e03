package egress

import (
	"context"
	"errors"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/oauth"
)

// Credentials are the person's keys and logins. A key in the environment comes
// before a login, because setting it is a deliberate act. One value serves all
// sessions of a process, so that a login is renewed once for all of them.
type Credentials struct {
	keys   Keys
	logins map[string]*oauth.Manager
	lacks  map[string]error // by provider: why there is no login
}

// NewCredentials looks for a key or a login for each provider. A provider that
// has neither is no error here: asking for its credential is.
func NewCredentials(providers []string, e oauth.Environment) *Credentials {
	c := &Credentials{
		keys:   EnvironmentKeys(providers, e.Getenv),
		logins: make(map[string]*oauth.Manager),
		lacks:  make(map[string]error),
	}
	for _, p := range providers {
		if c.keys[p] != "" || len(oauth.Sources(p, e)) == 0 {
			continue
		}
		source, err := oauth.Find(p, e, time.Now())
		if err != nil {
			c.lacks[p] = err
			continue
		}
		c.logins[p] = oauth.NewManager(source, oauth.Options{})
	}
	return c
}

// Modes is a mitm.Config.Modes: which kind of credential each provider has.
func (c *Credentials) Modes() map[string]string {
	modes := make(map[string]string)
	for p := range c.keys {
		modes[p] = mitm.KindAPIKey
	}
	for p := range c.logins {
		modes[p] = mitm.KindBearer
	}
	return modes
}

// Secrets lists the keys, for those who must keep them out of text. The tokens
// of logins change and are known by their shape.
func (c *Credentials) Secrets() []string { return c.keys.Values() }

// Credential is a mitm.Config.Credentials.
func (c *Credentials) Credential(ctx context.Context, provider string) (mitm.Credential, error) {
	login := c.logins[provider]
	if login == nil {
		cred, err := c.keys.Credential(ctx, provider)
		if lack := c.lacks[provider]; err != nil && lack != nil {
			if len(keyVariables[provider]) == 0 {
				return cred, lack
			}
			return cred, &NoCredentialError{key: err, login: lack}
		}
		return cred, err
	}
	token, err := login.Token(ctx)
	if err != nil {
		return mitm.Credential{}, err
	}
	return mitm.Credential{Kind: mitm.KindBearer, Value: token.Access, Account: token.Account}, nil
}

// Refused is a mitm.Config.Refused: a login is renewed, a key stays what it is.
func (c *Credentials) Refused(ctx context.Context, provider string, used mitm.Credential) bool {
	login := c.logins[provider]
	return login != nil && used.Kind == mitm.KindBearer && login.Refused(ctx, used.Value)
}

// NoCredentialError says that a provider has neither a key nor a login.
type NoCredentialError struct{ key, login error }

func (e *NoCredentialError) Error() string {
	return e.key.Error() + ", and " + e.login.Error()
}

// Unwrap returns both reasons.
func (e *NoCredentialError) Unwrap() []error { return []error{e.key, e.login} }

// Hint names both ways out.
func (e *NoCredentialError) Hint() string {
	var hint string
	for _, err := range []error{e.key, e.login} {
		var h interface{ Hint() string }
		if errors.As(err, &h) && h.Hint() != "" {
			if hint != "" {
				hint += ", or "
			}
			hint += h.Hint()
		}
	}
	return hint
}
