package egress

import (
	"context"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
)

// Keys are API keys, by provider.
type Keys map[string]string

// EnvironmentKeys reads the keys of the given providers from the variables that
// the table names. The variables are read once; later changes of the environment
// have no effect.
func EnvironmentKeys(table []mitm.Provider, providers []string, getenv func(string) string) Keys {
	keys := make(Keys)
	for _, p := range providers {
		for _, name := range variables(table, p) {
			if v := strings.TrimSpace(getenv(name)); v != "" {
				keys[p] = v
				break
			}
		}
	}
	return keys
}

// variables lists the environment variables that can hold a provider's key.
func variables(table []mitm.Provider, provider string) []string {
	i := slices.IndexFunc(table, func(p mitm.Provider) bool { return p.Name == provider })
	if i < 0 {
		return nil
	}
	return table[i].KeyVariables
}

// Secrets lists the keys themselves, for callers that must keep them out of text.
func (k Keys) Secrets() []string {
	var all []string
	for _, v := range k {
		all = append(all, v)
	}
	return all
}

// Held is a mitm.Config.Held.
func (k Keys) Held() []mitm.Credential {
	var all []mitm.Credential
	for _, v := range k {
		all = append(all, mitm.Credential{Kind: mitm.KindAPIKey, Value: v})
	}
	return all
}

// Modes is a mitm.Config.Modes: each provider that has a key uses it.
func (k Keys) Modes() map[string]string {
	modes := make(map[string]string)
	for p := range k {
		modes[p] = mitm.KindAPIKey
	}
	return modes
}

// Credential is a mitm.Config.Credentials that knows only the keys.
func (k Keys) Credential(_ context.Context, provider string) (mitm.Credential, error) {
	if v := k[provider]; v != "" {
		return mitm.Credential{Kind: mitm.KindAPIKey, Value: v}, nil
	}
	return mitm.Credential{}, &MissingKeyError{Provider: provider, Variables: variables(mitm.Providers(), provider)}
}

// APIKeys returns k.
func (k Keys) APIKeys() Keys { return k }

// Check returns an error if a provider has no key.
func (k Keys) Check(provider string) error {
	_, err := k.Credential(context.Background(), provider)
	return err
}

// Refused is a mitm.Config.Refused: a key cannot be renewed.
func (Keys) Refused(context.Context, string, mitm.Credential) bool { return false }

// MissingKeyError means that a provider has no key.
type MissingKeyError struct {
	Provider  string
	Variables []string // that could hold it
}

func (e *MissingKeyError) Error() string { return "no key for " + e.Provider + " was found" }

// Hint names the variable to set.
func (e *MissingKeyError) Hint() string {
	if len(e.Variables) > 0 {
		return "set " + e.Variables[0]
	}
	return "log in with the provider's own program"
}

// KeyVariables lists the environment variables that can hold the keys of a table's providers.
func KeyVariables(table []mitm.Provider) []string {
	var names []string
	for _, p := range table {
		names = append(names, p.KeyVariables...)
	}
	return names
}
