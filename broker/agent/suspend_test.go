package agent_test

import (
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
)

// However the terminal encodes it, no agent gets Ctrl-Z, and every other key
// arrives as it was.
func TestNoAgentIsSuspended(t *testing.T) {
	for typed, want := range map[string]string{
		"\x1a":                           "",
		"a\x1ab\x1a":                     "ab",
		"\x1b[122;5u":                    "",
		"\x1b[122;5:2u":                  "",
		"\x1b[122;69u":                   "", // with caps lock
		"\x1b[122;133:1u":                "", // with num lock
		"\x1b[122:90:119;5;122u":         "", // with alternates and text
		"\x1b[1103::122;5u":              "", // on another layout
		"\x1b[27;5;122~":                 "", // as xterm writes it
		"\x1b[27;5;121~":                 "\x1b[27;5;121~",
		"\x1b[122;6u":                    "\x1b[122;6u", // Ctrl-Shift-Z
		"\x1b[122;1u":                    "\x1b[122;1u", // z
		"\x1b[121;5u":                    "\x1b[121;5u", // Ctrl-Y
		"\x1b[1;5A":                      "\x1b[1;5A",
		"\x1b[200~zZ\x1b[201~":           "\x1b[200~zZ\x1b[201~",
		"\x1b[<0;10;5M\x1b[<0;1;5m":      "\x1b[<0;10;5M\x1b[<0;1;5m",
		"ünïcode 世界\x03\r":               "ünïcode 世界\x03\r",
		"\x1b[122;99999999999999999999u": "\x1b[122;99999999999999999999u",
	} {
		t.Run(typed, func(t *testing.T) {
			before := typed
			got, found := agent.WithoutSuspend([]byte(typed))
			if string(got) != want || found != (want != typed) || typed != before {
				t.Errorf("%q becomes %q (%v), want %q", typed, got, found, want)
			}
		})
	}
}

// Shells stop and continue what they run; nobody else does.
func TestOnlyShellsHaveJobControl(t *testing.T) {
	for _, a := range agent.Builtin().All() {
		if shell := a.Name == "shell" || a.Name == "local-shell"; a.JobControl != shell {
			t.Errorf("%s: job control is %v", a.Name, a.JobControl)
		}
	}
}
