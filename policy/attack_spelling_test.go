package policy

import (
	"os"
	"path/filepath"
	"testing"
)

// TestOtherSpellings asks for files by another Unicode spelling of their names. The file
// server then opens the existing file.
func TestOtherSpellings(t *testing.T) {
	w := newWorld(t)
	w.bareRepo("named", "")
	at := func(name string) string { return filepath.Join(w.sandbox, name) }
	const composed, decomposed = "caf\u00e9", "cafe\u0301"
	w.must(os.Symlink("named/.git", at(decomposed)))
	w.must(os.WriteFile(at("own-"+decomposed), nil, 0o600))
	w.must(os.WriteFile(at("secret-"+decomposed), nil, 0o600))
	w.must(os.Symlink(w.outside, at("out-"+decomposed)))
	w.must(os.Symlink(".env", at("\u212aeys"))) // the sign of kelvin, which is normalized to K
	e := w.engine(func(c *Config) { c.Protected = append(c.Protected, at("secret-"+decomposed)) })
	for _, tc := range []struct {
		tool, path string
		want       Decision
		rule       string
	}{
		{"write_file", composed + "/hooks/pre-commit", Escalate, RuleHostExecution},
		{"write_file", "/workspace/" + composed + "/config", Escalate, RuleHostExecution},
		{"read_text_file", "secret-" + composed, Deny, RuleProtectedPath},
		{"read_text_file", "Keys", Deny, RuleProtectedPath},
		{"read_text_file", "out-" + composed + "/secret.txt", Escalate, "escalate-reads-outside"},
		{"write_file", "out-" + composed + "/new.txt", Escalate, "escalate-writes-outside"},
		{"write_file", "own-" + composed, Allow, RuleSandbox},
		{"write_file", "new-" + composed, Allow, RuleSandbox},
	} {
		arguments := `{"path":"` + tc.path + `"}`
		if tc.tool == "write_file" {
			arguments = `{"path":"` + tc.path + `","content":"x"}`
		}
		v := e.Evaluate(Call{Server: "filesystem", Tool: tc.tool, Arguments: []byte(arguments)})
		if v.Decision != tc.want || v.Rule != tc.rule {
			t.Errorf("%s %s: %s by %s (%s), want %s by %s", tc.tool, tc.path, v.Decision, v.Rule, v.Reason, tc.want, tc.rule)
		}
	}
	v := e.Evaluate(Call{Server: "filesystem", Tool: "read_text_file", Arguments: []byte(`{"path":"own-` + composed + `"}`)})
	if want := `{"path":"` + at("own-"+decomposed) + `"}`; string(v.Arguments) != want {
		t.Errorf("forwarded %s, want %s", v.Arguments, want)
	}
}
