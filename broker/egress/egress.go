// Package egress equips the proxy that guards the way to the model providers
// with what belongs to the person: the real credentials and the audit.
package egress

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
)

// Record renders a decision of the proxy as a record of the audit log. What
// the log has no member for stands in its detail.
func Record(r mitm.Record) (audit.Record, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return audit.Record{}, fmt.Errorf("render a record of the proxy: %w", err)
	}
	var detail map[string]any
	if err := json.Unmarshal(text, &detail); err != nil {
		return audit.Record{}, fmt.Errorf("render a record of the proxy: %w", err)
	}
	for _, name := range []string{"ts", "session", "decision", "reason", "digest"} {
		delete(detail, name)
	}
	return audit.Record{
		Time:     r.Time,
		Plane:    audit.PlaneHTTP,
		Decision: audit.Decision(r.Decision),
		Session:  r.Session,
		Call:     fmt.Sprintf("http-%d", r.Seq),
		Server:   r.Host,
		Tool:     r.Method,
		Reason:   string(r.Reason),
		Digest:   r.Digest,
		Detail:   detail,
	}, nil
}

// Append returns a mitm.Config.Audit that writes to a log.
func Append(log *audit.Log) func(mitm.Record) error {
	return func(r mitm.Record) error {
		record, err := Record(r)
		if err != nil {
			return err
		}
		return log.Append(context.Background(), record)
	}
}

// keyVariables name, for each provider, the environment variables that can
// hold its key; the first that is set counts.
var keyVariables = map[string][]string{
	"anthropic":  {"ANTHROPIC_API_KEY"},
	"openai":     {"OPENAI_API_KEY"},
	"google":     {"GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"},
	"openrouter": {"OPENROUTER_API_KEY"},
}

// Keys are the API keys of the environment, by provider.
type Keys map[string]string

// EnvironmentKeys reads the keys of the given providers. The variables are read
// once; later changes of the environment have no effect.
func EnvironmentKeys(providers []string, getenv func(string) string) Keys {
	keys := make(Keys)
	for _, p := range providers {
		for _, name := range keyVariables[p] {
			if v := strings.TrimSpace(getenv(name)); v != "" {
				keys[p] = v
				break
			}
		}
	}
	return keys
}

// Values lists the keys themselves, for those who must keep them out of text.
func (k Keys) Values() []string {
	var all []string
	for _, v := range k {
		all = append(all, v)
	}
	return all
}

// Credential is a mitm.Config.Credentials that knows only the keys.
func (k Keys) Credential(_ context.Context, provider string) (mitm.Credential, error) {
	if v := k[provider]; v != "" {
		return mitm.Credential{Kind: mitm.KindAPIKey, Value: v}, nil
	}
	return mitm.Credential{}, &MissingKeyError{Provider: provider}
}

// MissingKeyError says that a provider has no credential.
type MissingKeyError struct{ Provider string }

func (e *MissingKeyError) Error() string { return "no key for " + e.Provider + " was found" }

// Hint names the variable to set.
func (e *MissingKeyError) Hint() string {
	if names := keyVariables[e.Provider]; len(names) > 0 {
		return "set " + names[0]
	}
	return "log in with the provider's own program"
}
