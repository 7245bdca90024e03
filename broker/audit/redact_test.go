package audit

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestRedact(t *testing.T) {
	r := NewRedactor([]string{"hunter2-\"quoted\""})
	cases := map[string]struct{ in, leak string }{
		"anthropic":   {`{"a":"key sk-ant-api03-abcdefghijklmnopqrst end"}`, "abcdefghij"},
		"openai":      {`{"a":"sk-proj-abcdefghijklmnopqrst"}`, "abcdefghij"},
		"github":      {`{"a":"ghs_abcdefghijklmnopqrstuvwxyz0123456789"}`, "abcdefghij"},
		"github fine": {`{"a":"github_pat_11ABCDEFG0123456789_abcdef"}`, "ABCDEFG"},
		"google":      {`{"a":["AIzaSyA1234567890abcdefghijklmnopqrstuv"]}`, "1234567890"},
		"aws":         {`{"a":"AKIAIOSFODNN7EXAMPLE"}`, "IOSFODNN7"},
		"jwt":         {`{"a":"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"}`, "eyJzdWIi"},
		"pem":         {`{"a":"-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----"}`, "MIIEpAIB"},
		"userinfo":    {`{"a":"https://user:pa55word@host/x"}`, "pa55word"},
		"by name":     {`{"db_password":"short"}`, "short"},
		"known":       {`{"a":"x hunter2-\"quoted\" y"}`, "hunter2"},
		"card":        {`{"a":"4111 1111 1111 1111"}`, "1111 1111 1"},
		"social":      {`{"a":"123-45-6789"}`, "123-45"},
		"gitlab":      {`{"a":"glpat-abcdefghijklmnopqrst"}`, "abcdefghij"},
		"bearer":      {`{"a":"Authorization: Bearer abcdefghijklmnopqrst"}`, "abcdefghij"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := string(r.JSON(json.RawMessage(c.in)))
			if strings.Contains(got, c.leak) || !strings.Contains(got, masked) || !json.Valid([]byte(got)) {
				t.Errorf("%s became %s", c.in, got)
			}
		})
	}
	for _, same := range []string{
		`{"path":"/workspace/sk-short","n":4111111111111111,"ok":true,"t":"2026-11-20"}`,
		`{"n":12345678901234567890,"list":[1,2,"a"],"deep":{"x":"task-force-delta-seven-alpha"}}`, ``,
	} {
		if got := string(r.JSON(json.RawMessage(same))); got != same {
			t.Errorf("%s became %s", same, got)
		}
	}
}

// The quick look at the end of a name lets every name of a secret through.
func TestSecretNames(t *testing.T) {
	for _, name := range strings.Fields(`password db-passwd PASSPHRASE secret client_secret apikey api_key api-key access_key
		privatekey auth_token access-token refresh_token token X-Token authorization Proxy-Authorization cookie set-cookie
		credential aws_credentials`) {
		if !secretName([]byte(name)) || !secretNames.MatchString(name) {
			t.Errorf("%s is taken for no secret", name)
		}
	}
	for _, name := range []string{"phase", "description", "monkey", "path", "keyState", ""} {
		if secretName([]byte(name)) {
			t.Errorf("%s is taken for a secret", name)
		}
	}
}

func FuzzRedactKeepsJSON(f *testing.F) {
	f.Add(`{"a":"sk-ant-api03-abcdefghijklmnopqrst","b":[{"token":"x"}]}`)
	r := NewRedactor([]string{"secret-value"})
	f.Fuzz(func(t *testing.T, doc string) {
		if json.Valid([]byte(doc)) && !json.Valid(r.JSON(json.RawMessage(doc))) {
			t.Fatalf("%q is no longer JSON: %q", doc, r.JSON(json.RawMessage(doc)))
		}
	})
}

// TestSpansAndCut takes a text apart at every two places: put together again, the
// parts hold nothing of a known value.
func TestSpansAndCut(t *testing.T) {
	r := NewRedactor([]string{"swordfish", "swordfish-two"})
	const s, want = "a swordfish-two b swordfishswordfish c", "a [REDACTED] b [REDACTED][REDACTED] c"
	spans := r.Spans(s)
	for i := range len(s) + 1 {
		for j := i; j <= len(s); j++ {
			if got := r.Cut(s, 0, i, spans) + r.Cut(s, i, j, spans) + r.Cut(s, j, len(s), spans); got != want {
				t.Fatalf("cut at %d and %d: %q", i, j, got)
			}
		}
	}
}
