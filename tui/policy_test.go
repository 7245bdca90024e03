package tui

import (
	"errors"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// A policy is put in force only after its difference was shown, and once.
func TestPolicyIsShownBeforeItIsApplied(t *testing.T) {
	r := newHarness(t, 100, 24, Options{})
	r.keys("\x01/policy apply\r")
	r.wants("there is no new policy to apply")
	r.broker.policy = broker.PolicyReview{Hash: "h1", Difference: []string{"+ rule music: allow, every server, read-path within ~/Music"}, Others: []broker.SessionID{"0123456789ab", "b"}}
	r.keys("\x15/policy reload\r")
	r.wants("+ rule music: allow", "/policy apply puts this in force", "except for sessions with a profile: 01234567, b")
	r.keys("q\x01/policy apply\r")
	r.wants("the new policy is in force for 1 session")
	r.keys("\x01/policy apply\r")
	r.wants("there is no new policy to apply")
	if got := strings.Join(r.broker.applied, "|"); got != "h1" {
		t.Errorf("applied %q", got)
	}
	r.broker.policyErr = errors.New("compiled-policy.json:3: rule a: no such role")
	r.keys("\x15/policy reload\r")
	r.wants("no such role")
	r.keys("\x01/policy apply\r")
	r.wants("there is no new policy to apply")
	r.broker.policyErr, r.broker.policy = nil, broker.PolicyReview{Hash: "h2"}
	r.keys("\x15/policy reload\r")
	r.wants("nothing has changed")
	r.keys("\x01/policy\r")
	r.wants("/policy: takes reload, and then apply")
}
