package login

import (
	"maps"
	"strings"
	"testing"
)

func TestChallenge(t *testing.T) {
	for value, want := range map[string]map[string]string{
		`Bearer`: {},
		`Bearer resource_metadata="https://a.example/x"`:                  {"resource_metadata": "https://a.example/x"},
		`bearer Realm="a, b", error=invalid_token`:                        {"realm": "a, b", "error": "invalid_token"},
		`Basic realm="x", Bearer scope="a \"b\""`:                         {"scope": `a "b"`},
		`Negotiate, Bearer scope = "x" , error="y", Basic realm="Bearer"`: {"scope": "x", "error": "y"},
		`Basic realm="Bearer resource_metadata=\"https://evil.example\""`: nil,
		`Bearer resource_metadata="https://a.example/x`:                   nil,
		`Bearer a=1, a=2`:   nil,
		"Bearer a=\"\x01\"": nil,
		`Bearer a="` + strings.Repeat("x", maxChallenge) + `"`: nil,
		``:             nil,
		`Digest a="b"`: nil,
	} {
		if got := challenge([]string{value}); (got == nil) != (want == nil) || !maps.Equal(got, want) {
			t.Errorf("%.80q: %q, want %q", value, got, want)
		}
	}
	if got := challenge([]string{`Basic realm="x"`, `Bearer scope="y"`}); got["scope"] != "y" {
		t.Errorf("in two headers: %q", got)
	}
}

// FuzzChallenge checks that what is read can be written and read again, and that nothing is
// read out of the quoted text of another challenge.
func FuzzChallenge(f *testing.F) {
	for _, seed := range []string{`Bearer a="b", c=d`, `Basic realm="x", Bearer scope="a \"b\""`, `Negotiate abc==, Bearer`, `Bearer , ,a = "1"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		got := challenge([]string{value})
		if got == nil {
			return
		}
		if !strings.Contains(strings.ToLower(value), "bearer") {
			t.Fatalf("%q: %q", value, got)
		}
		written := "Bearer "
		for name, v := range got {
			written += name + `="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(v) + `", `
		}
		if len(written) <= maxChallenge && !maps.Equal(challenge([]string{written}), got) {
			t.Fatalf("%q: %q, again %q", value, got, challenge([]string{written}))
		}
		quoted := `Basic realm="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
		if len(quoted) <= maxChallenge && challenge([]string{quoted}) != nil {
			t.Fatalf("%q is read out of a quoted text", quoted)
		}
	})
}
