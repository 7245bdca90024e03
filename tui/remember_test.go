package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

func scopeHarness(t *testing.T, cols, rows int) *harness {
	t.Helper()
	r := newHarness(t, cols, rows, demo())
	r.broker.scopes = []broker.Scope{
		{Name: "exact", Text: "filesystem/write_file with exactly these arguments", Matched: 1, Past: 7},
		{Name: "file", Text: `filesystem/write_file with path "/tmp/b"; any content`, Matched: 4, Past: 7},
	}
	r.escalate(3, `{"path":"/tmp/b"}`, "")
	r.keys("\x01")
	r.look()
	return r
}

// The scopes are laid out in full first, and must have been on the screen.
func TestRememberOnlyWhatWasShown(t *testing.T) {
	r := scopeHarness(t, 140, 24)
	r.keys("/approve+ file\r")
	r.decided(0)
	r.wants("/approve+ SCOPE [TIME]", "file: filesystem/write_file with path", "(4 of 7 past calls)", "> /approve+ file", "press Enter again")
	r.keys("\r")
	r.decided(0) // not painted yet
	r.wants("has not been on the screen")
	r.look()
	r.keys("\r")
	r.decided(1)
	d := r.broker.decisions()[0]
	if !d.Approve || d.ID != "e3" || d.Remember == nil || d.Remember.Scope != "file" || d.Remember.Seconds != 0 {
		t.Fatalf("%+v", d)
	}
}

func TestRememberWithATime(t *testing.T) {
	r := scopeHarness(t, 80, 24)
	r.keys("/approve+ 3\r")
	if s := r.screen(); strings.Contains(s, "press Enter again") {
		t.Errorf("Enter would not approve:\n%s", s)
	}
	r.look()
	for _, wrong := range []string{"", " everything", " file soon", " file -5m", " file 5m more"} {
		r.keys("\x15/approve+ 3" + wrong + "\r")
		r.decided(0)
	}
	r.keys("\x15/approve+ 3 EXACT 2 hours and 90s\r")
	r.decided(1)
	if d := r.broker.decisions()[0]; d.Remember.Scope != "exact" || d.Remember.Seconds != 7290 {
		t.Fatalf("%+v", d.Remember)
	}
}

func TestRememberNeedsAllOfItOnTheScreen(t *testing.T) {
	r := scopeHarness(t, 40, 10)
	r.keys("/approve+ file\r")
	r.look()
	r.keys("\r")
	r.decided(0)
	r.wants("not shown yet")
	for range 12 {
		r.keys("\x1b[6~")
		r.look()
	}
	r.keys("\r")
	r.decided(1)
}

func TestWhatCannotBeRemembered(t *testing.T) {
	r := newHarness(t, 80, 24, demo())
	r.escalate(1, `{}`, "")
	r.keys("\x01")
	r.look()
	r.keys("/approve+ exact\r")
	r.wants("must be decided each time")
	r.look()
	r.keys("\r")
	r.decided(0)
	r.keys("\x15/approve+ all\r")
	r.wants("takes one call at a time")
	r.keys("\x15/approve\r")
	r.look()
	r.keys("\r")
	r.decided(1)
}

// Untrusted text in a scope is sanitized like any other.
func TestHostileScopeIsDrawnHarmlessly(t *testing.T) {
	r := scopeHarness(t, 80, 24)
	r.broker.scopes[0].Text = "a\x1b[2J\u202eb"
	r.keys("/approve+\r")
	r.wants(`a\e[2J\u{202e}b`)
}

func TestGrantsAreListedAndRevoked(t *testing.T) {
	r := newHarness(t, 140, 24, demo())
	r.keys("\x01/grants\r")
	r.wants("no approval is remembered")
	r.keys("q")
	r.broker.grants = []broker.Grant{
		{Number: 2, Session: "s1", Agent: "claude-code", Scope: "file", Text: `write "/tmp/b"`, By: "tui", Used: 3, ExpiresAt: r.now.Add(90 * time.Second)},
		{Number: 5, Session: "s1", Agent: "claude-code", Scope: "host", Text: "fetch", By: "cli", Used: 1, ExpiresAt: r.now.Add(time.Hour)},
	}
	r.keys("\x01/grants\r")
	r.wants("#2 s1, file", `claude-code, 1:30 left, used 3 times, given by you: write "/tmp/b"`, "#5 s1, host", "used 1 time,")
	r.keys("q\x01/revoke 3\r")
	r.wants("no such grant is in force")
	r.now = r.now.Add(time.Second)
	r.keys("\x01\x15/revoke #2\r")
	r.wants("revoked: grant #2")
	if len(r.broker.grants) != 1 {
		t.Fatalf("%+v", r.broker.grants)
	}
	r.keys("\x01\x15/revoke all\r")
	r.wants("revoked: grant #5")
}

func TestHistorySaysWhoWhenAndHow(t *testing.T) {
	r := newHarness(t, 200, 50, demo())
	r.broker.history = []broker.Decided{
		{At: testTime, Session: "s1", Agent: "claude-code", Server: "git", Tool: "git_push", Decision: "auto-approved", Rule: "ask", Detail: map[string]any{"receipt": 4, "quote": "push to\x1borigin"}},
		{At: testTime, Session: "s2", Agent: "shell", Server: "filesystem", Tool: "write_file", Arguments: []byte(`{"path":"/a"}`), Decision: "escalated-approved", By: "cli", Waited: 2300 * time.Millisecond, Rule: "ask"},
		{At: testTime, Session: "s2", Agent: "shell", Server: "filesystem", Tool: "write_file", Decision: "granted", By: "tui", Rule: "ask", Detail: map[string]any{"grant": 2}},
	}
	r.keys("\x01/history\r")
	r.wants("12:00:00 s1", `claude-code: approved automatically: git/git_push`, `receipt: 4; you wrote: push to\eorigin`,
		`approved by cli after 2.3s: filesystem/write_file {"path":"/a"} (rule ask)`, "allowed by grant 2, which you made")
}

// The status line shows the receipt of the tab only while it can still approve calls.
func TestReceiptIsShownOnItsTab(t *testing.T) {
	r := newHarness(t, 100, 24, demo())
	receipt := broker.Receipt{Number: 3, Session: "s1", ExpiresAt: r.now.Add(80 * time.Second), Left: 2}
	show := func() { r.send(brokerMsg{broker.Event{Kind: broker.EventReceipt, Receipt: &receipt}}) }
	show()
	r.wants("receipt 3: 1:20 left, 2 calls")
	r.now = r.now.Add(20 * time.Second)
	r.m.dirty = true
	r.send(paintedMsg{})
	r.wants("receipt 3: 1:00 left, 2 calls")
	receipt.Left = 0
	show()
	if strings.Contains(r.screen(), "receipt 3") {
		t.Fatal("a spent receipt is shown")
	}
	receipt.Left, receipt.Session = 1, "another"
	show()
	if strings.Contains(r.screen(), "receipt 3") {
		t.Fatal("another tab's receipt is shown")
	}
	receipt.Session = "s1"
	show()
	r.now = r.now.Add(60 * time.Second)
	r.m.dirty = true
	r.send(paintedMsg{})
	if strings.Contains(r.screen(), "receipt 3") {
		t.Fatal("an expired receipt is shown")
	}
	r.keys("\x01/forget\r")
	if len(r.broker.forgotten) != 1 || r.broker.forgotten[0] != "s1" {
		t.Fatalf("forgotten %v", r.broker.forgotten)
	}
}

// The panel's title counts similar calls that were refused without asking. The person does
// not have to look at the call again because of them.
func TestRefusedUnaskedIsCounted(t *testing.T) {
	r := newHarness(t, 80, 24, demo())
	e := r.escalate(1, `{}`, "")
	r.keys("\x01")
	r.look()
	e.More = 12
	r.send(brokerMsg{broker.Event{Kind: broker.EventEscalation, Escalation: &e}})
	r.wants("+12 like it refused")
	r.keys("/approve\r")
	r.decided(1)
}

func TestJumpToTheTabOfTheCall(t *testing.T) {
	r := newHarness(t, 80, 24, demo())
	r.keys("\x01/new shell\r")
	if r.m.active != 1 {
		t.Fatalf("tab %d is shown", r.m.active)
	}
	r.escalate(1, `{}`, "") // of the first tab
	r.keys("\x01\x14")
	if r.m.active != 0 || r.m.mode != modeCommand {
		t.Fatalf("tab %d, mode %d", r.m.active, r.m.mode)
	}
}

// The panel's title says how many similar calls also wait.
func TestAlikeCallsAreCounted(t *testing.T) {
	r := newHarness(t, 80, 24, demo())
	for n, likeness := range []string{"a", "a", "b", "a", ""} {
		e := escalation(n+1, `{}`, "")
		e.Likeness = likeness
		r.send(brokerMsg{broker.Event{Escalation: &e}})
	}
	r.keys("\x01")
	r.wants("approval 1/5", "2 alike")
	r.keys("\t\t\t")
	if strings.Contains(r.screen(), "alike") {
		t.Fatal("a call without similar calls is shown with some")
	}
}
