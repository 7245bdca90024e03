package session

import (
	"context"
	"fmt"
	"sync"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/secretref"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
)

// GitHub is the GitHub server whose API agents may use with the person's token. They may
// read by themselves; the person is asked about everything else.
type GitHub struct {
	Host  string // as people write it: "github.com"
	Token secretref.Reference
}

// String names the credential, for the person.
func (g *GitHub) String() string { return fmt.Sprintf("your token of %s, from %s", g.Host, g.Token) }

// environment is what gh finds the server and its stand-in token by.
func (g *GitHub) environment(sentinel string) []string {
	if g == nil {
		return nil
	}
	return []string{"GH_HOST=" + g.Host, "GH_TOKEN=" + sentinel, "GH_ENTERPRISE_TOKEN=" + sentinel}
}

// prompt tells an agent what it may use the server for.
func (g *GitHub) prompt() string {
	if g == nil {
		return ""
	}
	return fmt.Sprintf("\n\ngh, and other programs with the token in GH_TOKEN, can use the API of %s. Reading passes at once; every other request waits for the person and is sent as it is once they approve it.", g.Host)
}

// withToken are the credentials of a session whose agent may use GitHub's API. The token
// is looked for when it is first needed.
type withToken struct {
	Credentials
	github *GitHub

	mu    sync.Mutex
	token string
}

// Credential returns the token, or another credential.
func (w *withToken) Credential(ctx context.Context, provider string) (mitm.Credential, error) {
	if provider != mitm.GitHub {
		return w.Credentials.Credential(ctx, provider)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.token == "" {
		token, err := w.github.Token.Resolve(ctx)
		if err != nil {
			return mitm.Credential{}, fault.New("log in there, or fix gh in config.json", "find the token of %s: %w", w.github.Host, err)
		}
		w.token = token
	}
	return mitm.Credential{Kind: mitm.KindAPIKey, Value: w.token}, nil
}

// Refused forgets a token that the server has refused, so that the next request uses the
// one that there is then. This request is not repeated: a person may have approved it.
func (w *withToken) Refused(ctx context.Context, provider string, used mitm.Credential) bool {
	if provider != mitm.GitHub {
		return w.Credentials.Refused(ctx, provider, used)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.token == used.Value {
		w.token = ""
	}
	return false
}
