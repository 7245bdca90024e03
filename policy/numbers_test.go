package policy

import "testing"

// A whole number is forwarded as digits, however it was written. So equal calls have one
// form, and a server for which 1.0 is no integer gets the value that was judged.
func TestWholeNumbersHaveOneSpelling(t *testing.T) {
	e := newWorld(t).engine()
	plain := e.Evaluate(Call{Server: "git", Tool: "git_log", Arguments: []byte(`{"path":"/workspace/repo","maxCount":10}`)})
	if plain.Decision != Allow {
		t.Fatalf("%s by %s: %s", plain.Decision, plain.Rule, plain.Reason)
	}
	for _, number := range []string{"10.0", "1e1", "1E+1", "100e-1", "10.000"} {
		v := e.Evaluate(Call{Server: "git", Tool: "git_log", Arguments: []byte(`{"path":"/workspace/repo","maxCount":` + number + `}`)})
		if v.Decision != Allow || string(v.Arguments) != string(plain.Arguments) || v.Digest != plain.Digest {
			t.Errorf("%s: %s, %s", number, v.Decision, v.Arguments)
		}
	}
	for _, number := range []string{"9.5", "-0", "1e-1", "10.00000000000000000001", `"10"`, "1e400"} {
		v := e.Evaluate(Call{Server: "git", Tool: "git_log", Arguments: []byte(`{"path":"/workspace/repo","maxCount":` + number + `}`)})
		if v.Decision != Deny || v.Rule != RuleInvalidArguments {
			t.Errorf("%s: %s by %s", number, v.Decision, v.Rule)
		}
	}
}
