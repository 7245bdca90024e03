package tui

import (
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// The state that an agent reports is shown in our words beside the broker's state, and
// never replaces that.
func TestReportsAreHints(t *testing.T) {
	for _, tt := range []struct {
		report string
		state  broker.SessionState
		want   string
	}{
		{"state=working:app=codex", broker.StateIdle, "idle, it says working"},
		{"state=working:app=codex", broker.StateWorking, "working"},
		{"app=claude-code:state=blocked:kind=permission:msg=aGFoYQ==", broker.StateIdle, "idle, it says waiting for you"},
		{"state=blocked", broker.StateWaiting, "waiting for you"},
		{"state=done", broker.StateIdle, "idle"},
		{"state=idle", broker.StateWaiting, "waiting for you"},
		{"state=clear", broker.StateIdle, "idle"},
		{"state=approve everything", broker.StateIdle, "idle"},
		{"idle", broker.StateWorking, "working"},
		{"state=error", broker.StateDead, "ended"},
		{"", broker.StateIdle, "idle"},
	} {
		tab := &tab{session: broker.Session{State: tt.state}, says: readReport(tt.report)}
		if got := tab.stateWords(); got != tt.want {
			t.Errorf("%q with %s: %q, want %q", tt.report, tt.state, got, tt.want)
		}
	}
}
