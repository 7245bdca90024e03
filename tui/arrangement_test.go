package tui

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// listed is a view of sessions, with the numbers from 1, that were there before.
func listed(t *testing.T, o Options, ids ...string) *harness {
	t.Helper()
	o.Detach = true
	r := bareHarness(t, o)
	for i, id := range ids {
		r.broker.sessions = append(r.broker.sessions, broker.Session{ID: id, Tab: i + 1, Agent: "shell", State: broker.StateIdle})
	}
	r.send(sizeMsg{100, 30})
	r.send(listedMsg{at: testTime, sessions: r.broker.sessions})
	return r
}

// A view takes over how another one had arranged the tabs, of those that are there now.
func TestArrangement(t *testing.T) {
	r := listed(t, Options{}, "a", "b", "c", "d")
	r.m.moveTab(r.m.tabOf("d"), 0)
	r.keys("\x1b2\x01/split down 4\r\x01/zoom\r\x01/mute\r\x01/mute all\r")
	left := r.m.arrangement()
	want := Arrangement{Tabs: []string{"d", "a", "b", "c"}, Front: r.m.current().session.ID, Split: []string{"b", "d"}, Down: true, Zoom: true, Muted: []string{"b"}, Quiet: true}
	if diff := cmp.Diff(want, left); diff != "" {
		t.Fatal(diff)
	}
	if diff := cmp.Diff(left, listed(t, Options{Arrangement: left}, "a", "b", "c", "d").m.arrangement()); diff != "" {
		t.Errorf("the next view: %s", diff)
	}
	left.Front = "c"
	for _, test := range []struct {
		name string
		r    *harness
		want Arrangement
	}{
		{"a tab of the split was closed", listed(t, Options{Arrangement: left}, "b", "c", "a", "e"), Arrangement{Tabs: []string{"a", "b", "c", "e"}, Front: "c", Muted: []string{"b"}, Quiet: true}},
		{"another tab is asked for", listed(t, Options{Arrangement: left, Show: "a"}, "a", "b"), Arrangement{Tabs: []string{"a", "b"}, Front: "a", Muted: []string{"b"}, Quiet: true}},
		{"it may only look", listed(t, Options{Arrangement: left, Rights: See}, "a", "c"), Arrangement{Tabs: []string{"a", "c"}, Front: "c", Quiet: true}},
		{"nothing was kept", listed(t, Options{}, "a", "b"), Arrangement{Tabs: []string{"a", "b"}, Front: "a"}},
	} {
		if diff := cmp.Diff(test.want, test.r.m.arrangement()); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}
