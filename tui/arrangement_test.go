package tui

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/layout"
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
	r.keys("\x1b4\x01/move 1\r")
	r.keys("\x1b2\x01/split down 1\r\x01/focus\r\x01/zoom\r\x01/mute\r\x01/mute all\r")
	left := r.m.arrangement()
	two := layout.Tree{Share: 1, Down: true, Parts: []layout.Tree{layout.Of("a"), layout.Of("d")}}
	want := Arrangement{Front: r.m.current().session.ID, Groups: []Group{{Panes: two, Zoom: true}}, Muted: []string{"a"}, Quiet: true}
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
		{"a tab of a group was closed", listed(t, Options{Arrangement: left}, "b", "c", "a", "e"), Arrangement{Front: "c", Muted: []string{"a"}, Quiet: true}},
		{"another tab is asked for", listed(t, Options{Arrangement: left, Show: "a"}, "a", "b"), Arrangement{Front: "a", Muted: []string{"a"}, Quiet: true}},
		{"it may only look", listed(t, Options{Arrangement: left, Rights: See}, "b", "c"), Arrangement{Front: "c", Quiet: true}},
		{"nothing was kept", listed(t, Options{}, "a", "b"), Arrangement{Front: "a"}},
	} {
		if diff := cmp.Diff(test.want, test.r.m.arrangement()); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

// What was put aside in the strip stays so in the next view, whenever it hears of the calls.
func TestWhatWasPutAsideStaysAside(t *testing.T) {
	r := listed(t, Options{}, "a", "b")
	r.asks(1, 1, "/a", "")
	r.paint()
	r.now = r.now.Add(time.Second)
	r.keys("\x01\x1b")
	left := r.m.arrangement()
	if diff := cmp.Diff([]string{"e1"}, left.Aside); diff != "" {
		t.Fatal(diff)
	}
	next := listed(t, Options{Arrangement: left}, "a", "b")
	next.asks(1, 1, "/a", "")
	if it, others := next.m.approvals.InStrip("a"); it != nil || others != 0 {
		t.Errorf("the strip shows %+v and %d others", it, others)
	}
	next.asks(2, 1, "/b", "")
	if it, _ := next.m.approvals.InStrip("a"); it == nil || it.Call.ID != "e2" {
		t.Errorf("the strip shows %+v", it)
	}
	known := next.m.arrangement().Aside
	if diff := cmp.Diff([]string{"e1"}, known); diff != "" {
		t.Error(diff)
	}
}
