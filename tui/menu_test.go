package tui

import (
	"strings"
	"testing"
)

// Typing / opens a menu of the commands, which what is typed filters by names and help. A call that
// waits takes its place, and text for the agent has none.
func TestCommandMenu(t *testing.T) {
	r := newHarness(t, 100, 24, Options{})
	has := func(typed string, want bool, parts ...string) {
		t.Helper()
		r.keys("\x15" + typed)
		for _, part := range parts {
			if strings.Contains(r.screen(), part) != want {
				t.Errorf("%q: %q on the screen: %v\n%s", typed, part, !want, r.screen())
			}
		}
	}
	r.keys("\x01")
	has("/", true, "/approve [N|all]", "more commands")
	has("/re", true, "/restart", "start this tab's agent again", "/resume", "/rename", "/revoke")
	has("/split", true, "/split [right|down] [N]", "/unsplit")
	has("/clipboard", true, "allow the copy to the clipboard")
	has("/toolchain", true, "/yes", "take the toolchains")
	has("/xyzzy", false, "/approve", "more command")
	has("/tab 1", false, "show that tab")
	has("//split", false, "show one tab only")
	has("/diff", true, "what has changed")
	r.escalate(1, `{"path":"/tmp/b"}`, "")
	has("/diff", false, "what has changed")
}
