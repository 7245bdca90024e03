package decisions

import (
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// Nothing of a waiting call reaches the terminal as anything but plain ASCII.
func TestPendingPrintsEffectsHarmlessly(t *testing.T) {
	var out strings.Builder
	err := PrintPending(&out, []WaitingCall{{Escalation: broker.Escalation{
		ID: "6f1c", Session: "0123456789ab", Agent: "codex", Server: "filesystem", Tool: "write_file", Arguments: []byte("{\"a\":\"\x1b\"}"), Reason: "r",
		Program: &broker.ProgramCall{ID: "769679a9", Index: 14, Line: 9, Source: "push()\x1b[2J\n6f1d"},
		Effect: &broker.Effect{Summary: "changes /tmp/\u202ea", Changed: true, More: 3, Lines: []broker.EffectLine{
			{Kind: broker.EffectAdded, Text: "new\x1b[2J\r\nline"}, {Kind: broker.EffectWarning, Text: "careful"},
		}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range out.String() {
		if r != '\n' && (r < ' ' || r > '~') {
			t.Errorf("character %q at %d", r, i)
		}
	}
	for _, want := range []string{
		`changes /tmp/\u202ea`, `+ new\x1b[2J\r\nline`, "! careful", "changed since it was shown", "3 more lines",
		"    call 14 of program 769679a9, line 9, where the program wrote: \"push()\\x1b[2J\\n6f1d\"\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in %s", want, out.String())
		}
	}
}
