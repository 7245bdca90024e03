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
