package mcpproxy

import (
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
)

// What became of each call that was let through is on record, beside the
// decision, and nothing of its arguments or its result.
func TestHowCallsEnded(t *testing.T) {
	for file, want := range map[string]struct {
		decision audit.Decision
		outcome  audit.Outcome
		reason   string
	}{
		"a":        {audit.Done, audit.Answered, ""},
		"blocked":  {audit.Done, audit.ToolError, ""},
		"refuse":   {audit.Failed, audit.Refused, "not today"},
		"garbage":  {audit.Failed, audit.Unreadable, "cannot be understood"},
		"crash":    {audit.Failed, audit.ServerDied, "not running: the server ended"},
		"farewell": {audit.Done, audit.Answered, ""}, // the server answers, and ends
		"hang":     {audit.Failed, audit.TimedOut, "did not answer within"},
	} {
		t.Run(file, func(t *testing.T) {
			r := newHarness(t, func(c *Config) {
				if want.outcome == audit.TimedOut {
					c.Limits.Call = 300 * time.Millisecond
				}
			})
			answer := r.agent().call("1", "filesystem__read_text_file", `{"path":"`+file+`"}`)
			end := r.endings(1)[0]
			decided := r.decisions()
			if len(decided) != 1 || decided[0].Decision != audit.Allow || decided[0].Outcome != "" || decided[0].Call != end.Call || end.Call == "" {
				t.Fatalf("decided %+v, ended %s", decided, end.Raw)
			}
			if end.Decision != want.decision || end.Outcome != want.outcome || !strings.Contains(end.Reason, want.reason) ||
				end.DurationMs <= 0 || end.Server != "filesystem" || end.Tool != "read_text_file" || end.Arguments != nil || end.Detail != nil {
				t.Errorf("ended %s", end.Raw)
			}
			if size := len(answer.Result); want.decision == audit.Done && end.ResultBytes != size {
				t.Errorf("%d bytes are on record, the agent got %d", end.ResultBytes, size)
			}
		})
	}
}

func TestACallThatIsTakenBackEnds(t *testing.T) {
	r := newHarness(t, nil)
	a := r.agent()
	a.send(callLine("1", "filesystem__read_text_file", `{"path":"hang"}`))
	eventually(t, func() bool { return len(r.forwarded()) == 1 }, "the call at the server")
	a.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	if end := r.endings(1)[0]; end.Decision != audit.Failed || end.Outcome != audit.Cancelled {
		t.Errorf("ended %s", end.Raw)
	}
}

// A call that was refused has no end: it never began.
func TestARefusedCallHasNoEnd(t *testing.T) {
	r := newHarness(t, nil)
	a := r.agent()
	if m := a.call("1", "filesystem__read_text_file", `{"path":"/closed/x","y":1}`); !m.isError() {
		t.Fatalf("answer %s", m.Result)
	}
	if m := a.call("2", "filesystem__read_text_file", `{"path":"a"}`); m.isError() {
		t.Fatalf("answer %s", m.Result)
	}
	if ends := r.endings(1); len(ends) != 1 || ends[0].Call != r.decisions()[1].Call {
		t.Errorf("%d ended", len(ends))
	}
}
