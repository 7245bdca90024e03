package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/egress"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/secretref"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
)

// The token is looked for when it is first needed, once, and again after the server has
// refused it. Where it cannot be found, one line says why and what to do.
func TestGitHubToken(t *testing.T) {
	dir := t.TempDir()
	token, runs := filepath.Join(dir, "token"), filepath.Join(dir, "runs")
	w := &withToken{Credentials: egress.Keys{"openai": "sk-1"}, github: &GitHub{
		Host: "github.com", Token: secretref.Reference{Command: []string{"sh", "-c", "echo >>" + runs + "; cat " + token}},
	}}
	_, err := w.Credential(t.Context(), mitm.GitHub)
	if want := `find the token of github.com: command "sh": exit status 1 (log in there, or fix gh in config.json)`; err == nil || err.Error()+" ("+fault.Hint(err)+")" != want {
		t.Errorf("without a token: %v (%s)", err, fault.Hint(err))
	}
	for _, now := range []string{"first", "second"} {
		if err := os.WriteFile(token, []byte(now+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if c, err := w.Credential(t.Context(), mitm.GitHub); err != nil || c.Value != now || c.Kind != mitm.KindAPIKey {
				t.Errorf("%s: %#v, %v", now, c, err)
			}
		}
		if w.Refused(t.Context(), mitm.GitHub, mitm.Credential{Value: "older"}) || w.token != now {
			t.Error("a token is forgotten because an older one was refused")
		}
		if w.Refused(t.Context(), mitm.GitHub, mitm.Credential{Value: now}) {
			t.Error("a request with a refused token is repeated")
		}
	}
	if n, _ := os.ReadFile(runs); bytes.Count(n, []byte("\n")) != 3 {
		t.Errorf("the command ran %d times", bytes.Count(n, []byte("\n")))
	}
	if c, err := w.Credential(t.Context(), "openai"); err != nil || c.Value != "sk-1" {
		t.Errorf("another credential: %v", err)
	}
	if _, err := w.Credential(t.Context(), "nobody"); err == nil {
		t.Error("there is a key for nobody")
	}
}

// A person sees all of a request to GitHub, however long it is.
func TestGitHubRequestsAreShownWhole(t *testing.T) {
	body := `{"body":"` + strings.Repeat("ä", wholeBody) + `"}`
	shown := shownRequest{Method: "POST", Credential: "x"}
	text, err := shown.with([]byte(body), len(body))
	var got struct{ Body json.RawMessage }
	if err := errors.Join(err, json.Unmarshal(text, &got)); err != nil || string(got.Body) != body {
		t.Errorf("%v: %.300s", err, text)
	}
}
