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
		t.Run(same, func(t *testing.T) {
			if got := string(r.JSON(json.RawMessage(same))); got != same {
				t.Errorf("%s became %s", same, got)
			}
		})
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
		t.Run(name, func(t *testing.T) {
			if secretName([]byte(name)) {
				t.Errorf("%s is taken for a secret", name)
			}
		})
	}
}

// A value that is cut is masked like a whole one; a path that many others begin like is not.
func TestPartsOfKnownValues(t *testing.T) {
	const key, path = "zQ7-Rw1nLk3JvXn5TbYd7HgPc0FsMaE2uKoIrN9t", "/home/someone/work/keys/service-account.json"
	r := NewRedactor([]string{key, path, `pass"word-with-quotes-and-more`})
	for in, want := range map[string]string{
		"the token " + key[:len(key)-4] + "... is bad": "the token [REDACTED]... is bad",
		"ends in " + key[12:]:                          "ends in [REDACTED]",
		key[:19] + " " + key[20:]:                      key[:19] + " [REDACTED]",
		key[:18] + " " + key[22:]:                      key[:18] + " " + key[22:],
		"in /home/someone/work/keys/other.json":        "in /home/someone/work/keys/other.json",
		"in " + path:                                   "in [REDACTED]",
		`word-with-quotes-and`:                         `word-with-quotes-and`,
		`is pass"word-with-quotes-and-more`:            `is [REDACTED]`,
		`C:\new\ttab ` + key:                           `C:\new\ttab [REDACTED]`,
		`a\` + key[7:]:                                 `a\n[REDACTED]`,
		`a\\` + key[7:]:                                `a\\[REDACTED]`,
		key[:30] + key[:30]:                            "[REDACTED][REDACTED]",
	} {
		t.Run(in, func(t *testing.T) {
			if got := r.Known(in); got != want {
				t.Errorf("%q became %q, want %q", in, got, want)
			}
			doc, err := json.Marshal(map[string]string{"a": in})
			if err != nil {
				t.Fatal(err)
			}
			var back map[string]string
			if err := json.Unmarshal(r.JSON(doc), &back); err != nil || strings.Contains(want, masked) != strings.Contains(back["a"], masked) {
				t.Errorf("%s became %s, %v", doc, r.JSON(doc), err)
			}
		})
	}
}

func FuzzRedactKeepsJSON(f *testing.F) {
	f.Add(`{"a":"sk-ant-api03-abcdefghijklmnopqrst","b":[{"token":"x"}]}`)
	f.Add(`{"a":"\n7u000041nLk3JvXn5TbYd7","b":"\u000041nLk3JvXn5TbYd7\\"}`)
	r := NewRedactor([]string{"secret-value", `a"b\c"d-secret`, "zQn7u000041nLk3JvXn5TbYd7"})
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
