package session

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
)

// Agents find a stand-in key where their programs look for it: for a provider of config.json that is in
// the variables that it names, for any other one where it always was.
func TestVariablesOfKeys(t *testing.T) {
	table, err := mitm.ExtendProviders(mitm.Providers(), []json.RawMessage{
		[]byte(`{"name":"acme","errors":"openai","keyVariables":["ACME_KEY"],"modes":[{"kind":"api-key","header":"authorization","sentinel":"acme-ironcurtain-"}],
			"hosts":[{"name":"api.acme.dev","endpoints":[{"method":"POST","path":"/v1/chat/completions","body":"openai-chat"}]}]}`),
		[]byte(`{"name":"anthropic","keyVariables":["WORK_KEY"]}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	got := (&Config{Providers: table}).keyVariables()
	for provider, want := range map[string][]string{
		"acme":      {"ACME_KEY"},
		"anthropic": {"ANTHROPIC_API_KEY"},
		"google":    {"GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"},
		"chatgpt":   nil,
	} {
		t.Run(provider, func(t *testing.T) {
			if !slices.Equal(got[provider], want) {
				t.Errorf("%q, want %q", got[provider], want)
			}
		})
	}
}
