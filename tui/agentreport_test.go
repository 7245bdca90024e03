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
		tab := &tab{session: broker.Session{State: tt.state}, reported: readReport(tt.report)}
		if got := tab.stateWords(); got != tt.want {
			t.Errorf("%q with %s: %q, want %q", tt.report, tt.state, got, tt.want)
		}
	}
}

// A shell that marks its commands is working while one runs. Nothing is known of another shell, and the
// word of an agent does not count.
func TestAShellThatRunsACommandIsWorking(t *testing.T) {
	for agent, working := range map[string]bool{"shell": true, "local-shell": true, "codex": false} {
		r := newHarness(t, 80, 24, demo())
		tab := r.m.numbered(1)
		tab.session.Agent = agent
		r.state(1, broker.StateIdle)
		for _, step := range []struct {
			says string
			want string
		}{{"$ ", "idle"}, {"\x1b]133;A\a$ ", "idle"}, {"\x1b]133;C\a", "working"}, {"text", "working"}, {"\x1b]133;D;0\a\x1b]133;A\a", "idle"}} {
			r.agentSays(1, step.says)
			if want := map[bool]string{true: step.want, false: "idle"}[working]; tab.stateWords() != want {
				t.Errorf("%s after %q: %s, want %s", agent, step.says, tab.stateWords(), want)
			}
		}
		r.agentSays(1, "\x1b]133;C\a")
		for state, want := range map[broker.SessionState]string{broker.StateWaiting: "waiting for you", broker.StateDead: "ended"} {
			r.state(1, state)
			if tab.stateWords() != want {
				t.Errorf("%s in state %s: %s", agent, state, tab.stateWords())
			}
		}
	}
}
