package policy

import "testing"

// A commit that the host would sign asks, and a grant can cover it unless something else in
// it needs a person each time. The key is part of what is approved.
func TestASignedCommitAsks(t *testing.T) {
	w := newWorld(t)
	e := w.engine()
	call := Call{Server: "git", Tool: "git_commit", Arguments: []byte(`{"path":"/workspace/repo","message":"x"}`)}
	plain := e.Evaluate(call)
	if plain.Decision != Allow {
		t.Fatalf("%s by %s", plain.Decision, plain.Rule)
	}
	call.Signs = "ssh key one"
	one := e.Evaluate(call)
	if one.Decision != Escalate || one.Rule != RuleSignedCommit || one.Structural || one.Signs != call.Signs || len(one.Values) == 0 {
		t.Errorf("%+v", one)
	}
	call.Signs = "ssh key two"
	if two := e.Evaluate(call); two.Digest == one.Digest || one.Digest == plain.Digest {
		t.Error("an approval of one key holds for another")
	}
	call.Arguments = []byte(`{"path":"/workspace/g/hooks","message":"x"}`)
	if v := e.Evaluate(call); v.Decision != Escalate || !v.Structural || v.Rule != RuleHostExecution {
		t.Errorf("with programs of the repository: %+v", v)
	}
	call.Arguments = []byte(`{"path":"/workspace/g/env","message":"x","filesToStage":["."]}`)
	if v := e.Evaluate(call); v.Decision != Deny || v.Signs != "" {
		t.Errorf("a denied commit: %+v", v)
	}
}

// A call whose commits would lack the person's signature asks, unless it makes none.
func TestAnUnsignedCommitAsks(t *testing.T) {
	e := newWorld(t).engine()
	for _, c := range []struct {
		tool, arguments string
		asks            bool
	}{
		{"git_merge", `{"path":"/workspace/repo","branch":"x"}`, true},
		{"git_merge", `{"path":"/workspace/repo","branch":"x","squash":true}`, false},
		{"git_merge", `{"path":"/workspace/repo","abort":true}`, false},
		{"git_cherry_pick", `{"path":"/workspace/repo","commits":["x"]}`, true},
		{"git_cherry_pick", `{"path":"/workspace/repo","commits":["x"],"noCommit":true}`, false},
		{"git_cherry_pick", `{"path":"/workspace/repo","commits":["x"],"continueOperation":true}`, true},
		{"git_rebase", `{"path":"/workspace/repo","upstream":"x"}`, true},
		{"git_rebase", `{"path":"/workspace/repo","mode":"abort"}`, false},
		{"git_status", `{"path":"/workspace/repo"}`, false},
	} {
		call := Call{Server: "git", Tool: c.tool, Arguments: []byte(c.arguments)}
		plain := e.Evaluate(call)
		call.Unsigned = true
		v := e.Evaluate(call)
		if asks := v.Rule == RuleUnsignedCommit && v.Decision == Escalate && !v.Structural; asks != c.asks {
			t.Errorf("%s %s: %s by %s (%s), before %s by %s", c.tool, c.arguments, v.Decision, v.Rule, v.Reason, plain.Decision, plain.Rule)
		}
	}
}
