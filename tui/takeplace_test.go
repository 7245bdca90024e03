package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// placeOfTwo opens three tabs, names and mutes the second, shows it in a split
// beside the third, and lets its agent end.
func placeOfTwo(t *testing.T) *harness {
	t.Helper()
	r := newHarness(t, 100, 24, Options{})
	r.keys("\x01/new shell\r\x01/new shell\r")
	r.keys("\x1b2\x01/rename docs\r\x01/mute\r\x01/split down 3\r")
	r.keys("\x1b1\x1b2")
	r.agentSays(2, "its last\r\nwords")
	r.state(2, broker.StateDead)
	return r
}

// inPlace fails unless the session has the second place with the name, mute and split of
// the former tab, the former output is above a line that says what happened, and the first
// tab is the one that was shown before.
func (r *harness) inPlace(id broker.SessionID, happened string) {
	r.t.Helper()
	var order []broker.SessionID
	for _, x := range r.m.tabs {
		order = append(order, x.session.ID)
	}
	if !slices.Equal(order, []broker.SessionID{"s1", id, "s3"}) {
		r.t.Fatalf("the bar has %v", order)
	}
	got := r.m.tabs[1]
	if r.m.current() != got || got.title() != "docs" || !got.muted || got.dead() {
		r.t.Errorf("tab %d of %d: %+v", r.m.active, len(r.m.tabs), got)
	}
	if g := r.m.groupOf(id); g == nil || !slices.Equal(g.panes.Panes(), []broker.SessionID{id, "s3"}) || !g.panes.Down {
		r.t.Errorf("groups: %+v", r.m.groups)
	}
	above := []string{"its last", "words", "── " + happened + " at 12:00:00 ──", ""}
	if lines := got.pane.Screen.Text(0, len(above)); !slices.Equal(lines, above) {
		r.t.Errorf("the screen begins with %q", lines)
	}
	if !got.pane.Silent() || got.scrolled {
		r.t.Error("inherited output counts as output of the new agent")
	}
	r.keys("\x01/last\r")
	if r.m.active != 0 {
		r.t.Errorf("/last shows tab %d", r.m.active)
	}
}

// A restarted agent gets the place of its dead tab and what the person gave that tab,
// whether the broker's event or its answer comes first.
func TestRestartKeepsThePlace(t *testing.T) {
	r := placeOfTwo(t)
	r.keys("\x01/restart\r")
	r.inPlace("s4", "restarted")

	r = placeOfTwo(t)
	s := broker.Session{ID: "s4", Tab: 3, Name: "docs", Agent: "shell", State: broker.StateStarting}
	r.send(brokerMsg{broker.Event{Session: &s}})
	r.send(openedMsg{tabRequest: tabRequest{replace: "s2"}, session: s})
	r.inPlace("s4", "restarted")

	r = placeOfTwo(t)
	r.state(2, broker.StateWorking) // an agent that runs is ended after a question
	r.keys("\x01/restart\rn")
	if len(r.broker.opened) != 3 {
		t.Fatal("the agent was restarted without a yes")
	}
	r.keys("\x01/restart\ry")
	r.inPlace("s4", "restarted")
	if o := r.broker.opened[3]; o.Replaces != "s2" {
		t.Errorf("the request was %+v", o)
	}
}

// A resumed session does, too.
func TestResumeKeepsThePlace(t *testing.T) {
	r := placeOfTwo(t)
	s := r.m.numbered(2).session
	s.Life, s.State = 4, broker.StateStarting
	r.send(brokerMsg{broker.Event{Session: &s}})
	r.send(openedMsg{tabRequest: tabRequest{resume: "s2"}, session: s})
	r.inPlace("s2", "resumed")
}

// numbers fails unless the bar shows these sessions in this order, numbered by their places.
func (r *harness) numbers(what string, ids ...broker.SessionID) {
	r.t.Helper()
	for i, id := range ids {
		r.keys("\x1b" + string(rune('1'+i)))
		if t := r.m.current(); t.session.ID != id || !strings.Contains(r.m.windowTitle(), fmt.Sprintf(" · %d ", i+1)) {
			r.t.Errorf("%s: Alt-%d shows %s with the title %q", what, i+1, t.session.ID, r.m.windowTitle())
		}
	}
	if len(r.m.tabs) != len(ids) {
		r.t.Errorf("%s: the bar has %d tabs", what, len(r.m.tabs))
	}
	r.keys(fmt.Sprintf("\x01/tab %d\r", len(ids)+1))
	r.wants(fmt.Sprintf("no tab %d", len(ids)+1))
	r.keys("\x15\x1b")
}

// The number of a tab is its place in the bar, whatever was closed, restarted, resumed or moved.
func TestTabsAreNumberedByTheirPlaces(t *testing.T) {
	r := newHarness(t, 100, 24, Options{})
	r.keys("\x01/new shell\r\x01/new shell\r\x01/new shell\r")
	r.numbers("opened", "s1", "s2", "s3", "s4")
	r.keys("\x1b1\x01/close\ry")
	r.numbers("closed", "s2", "s3", "s4")
	r.keys("\x1b1\x01/restart\ry")
	r.numbers("restarted", "s5", "s3", "s4")
	s := r.m.numbered(2).session
	s.Life = 9
	r.send(brokerMsg{broker.Event{Kind: broker.EventSession, Session: &s}})
	r.numbers("resumed", "s5", "s3", "s4")
	r.keys("\x01/new shell\r")
	r.numbers("opened another one", "s5", "s3", "s4", "s6")
	r.keys("\x01/move 1\r")
	r.numbers("moved", "s6", "s5", "s3", "s4")

	// A tab that is named by its number is never closed without a question that names its session.
	r.state(2, broker.StateDead)
	r.keys("\x01/close 2\r")
	r.wants("y/n: end shell s5?")
	r.keys("n")
	r.numbers("not closed", "s6", "s5", "s3", "s4")
}

// /new without arguments opens another tab like the one in front. What is that tab's own is not
// shared: a fresh directory, a worktree and a clone have another one for the new tab.
func TestNewTakesAfterTheTabInFront(t *testing.T) {
	fresh := "/state/sessions/0b5b8b3e-0000-4000-8000-000000000000/sandbox"
	for _, test := range []struct {
		name string
		tab  broker.Session
		want broker.OpenRequest
	}{
		{
			"a directory",
			broker.Session{Workspace: "/src", Policy: "/strict", Profile: broker.Profile{Demo: true}},
			broker.OpenRequest{Workspace: "/src", Policy: "/strict", Profile: broker.Profile{Demo: true}, Worktree: broker.WorktreeNo},
		},
		{"a fresh directory", broker.Session{Workspace: fresh}, broker.OpenRequest{}},
		{"a directory of that name", broker.Session{Workspace: "/src/sandbox"}, broker.OpenRequest{Workspace: "/src/sandbox", Worktree: broker.WorktreeNo}},
		{
			"a worktree",
			broker.Session{Workspace: "/state/tree", Worktree: &broker.Worktree{Repository: "/repo", Branch: "ironcurtain/1"}},
			broker.OpenRequest{Workspace: "/repo", Worktree: broker.WorktreeYes},
		},
		{
			"a clone",
			broker.Session{Workspace: "/state/tree", Worktree: &broker.Worktree{Repository: "https://git.example/a.git", Branch: "main", Cloned: true}},
			broker.OpenRequest{Repo: "https://git.example/a.git", Branch: "main"},
		},
	} {
		for _, keys := range []string{"\x01/new\r", "\x02c", "\x01/new -- do it\r"} {
			r := newHarness(t, 80, 24, Options{Prefix: "ctrl+b", Agent: "shell", Workspace: "/default"})
			s := r.m.current().session
			s.Agent, s.Workspace, s.Worktree, s.Policy, s.Profile = "codex", test.tab.Workspace, test.tab.Worktree, test.tab.Policy, test.tab.Profile
			r.send(brokerMsg{broker.Event{Session: &s}})
			r.keys(keys)
			got := r.lastOpened()
			test.want.Agent, test.want.Cols, test.want.Rows = "codex", got.Cols, got.Rows
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s, %q: %s", test.name, keys, diff)
			}
		}
	}
	r := newHarness(t, 80, 24, Options{Agent: "shell"})
	r.keys("\x01/close\ry\x01/new\r")
	if got := r.lastOpened(); got.Agent != "shell" || got.Workspace != "" {
		t.Errorf("without a tab: %+v", got)
	}
}
