package tui

import (
	"reflect"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// A new tab and a restarted one have the profile of the tab in which that was asked for. A view
// that wants a tab with a profile shows one that runs, and opens one only if there is none.
func TestATabPassesOnItsProfile(t *testing.T) {
	strict := broker.Profile{Policy: "/home/me/strict"}
	r := newHarness(t, 80, 24, Options{Profile: strict})
	r.keys("\x01/new shell\r")
	r.keys("\x01/restart\ry")
	for _, o := range r.broker.opened {
		if !reflect.DeepEqual(o.Profile, strict) {
			t.Errorf("opened with %v", o.Profile)
		}
	}
	if n := len(r.broker.opened); n != 3 {
		t.Errorf("%d tabs were opened", n)
	}

	for _, profile := range []broker.Profile{strict, {Demo: true}, {}} {
		r := bareHarness(t, Options{Profile: profile, Detach: true})
		r.broker.sessions = []broker.Session{
			{ID: "a", Tab: 1, Agent: "shell", State: broker.StateIdle},
			{ID: "b", Tab: 2, Agent: "shell", State: broker.StateDead, Profile: broker.Profile{Demo: true}},
			{ID: "c", Tab: 3, Agent: "shell", State: broker.StateIdle, Profile: strict},
		}
		r.send(listedMsg{sessions: r.broker.sessions, at: testTime})
		r.send(sizeMsg{80, 24})
		front := r.m.current().session.ID
		switch {
		case profile.Demo:
			if o := r.lastOpened(); len(r.broker.opened) != 1 || !o.Profile.Demo || !o.First {
				t.Errorf("a demo: opened %+v", r.broker.opened)
			}
		case profile.IsZero() && front != "a", !profile.IsZero() && front != "c", len(r.broker.opened) > 0:
			t.Errorf("%v: %s is in front, opened %+v", profile, front, r.broker.opened)
		}
	}
}
