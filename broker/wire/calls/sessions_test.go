package calls

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
)

// within is a client that may answer the calls of session "mine".
func within(t *testing.T, api broker.Calls, s Scope) *Client {
	t.Helper()
	s.Sessions = []broker.SessionID{"mine"}
	return asked(t, Served{Broker: Within(api, s), Right: wire.Answer, By: "token"})
}

// Within narrows each method that wire.Answer allows, and these are all of them.
func TestWhatWithinNarrows(t *testing.T) {
	var allowed []string
	for name, row := range table {
		if slices.Contains(row.rights, wire.Answer) {
			allowed = append(allowed, name)
		}
	}
	slices.Sort(allowed)
	if want := []string{"Decide", "Pending", "Subscribe"}; !slices.Equal(allowed, want) {
		t.Errorf("a client that answers may call %q, and Within narrows %q", allowed, want)
	}
}

func TestCallsOfOtherSessionsAreNotThere(t *testing.T) {
	api := &stub{
		pending: []broker.Escalation{{ID: "1", Session: "mine"}, {ID: "2", Session: "other"}, {ID: "3", Session: "mine2"}},
		decided: make(chan broker.Decision, 8),
	}
	hour := time.Now().Add(time.Hour)
	c := within(t, api, Scope{Until: hour})
	list, err := c.Pending(t.Context())
	if err != nil || len(list) != 1 || list[0].ID != "1" {
		t.Errorf("%+v, %v", list, err)
	}
	for _, id := range []string{"2", "3", "4", ""} {
		for _, approve := range []bool{true, false} {
			if r, err := c.Decide(t.Context(), broker.Decision{ID: id, Approve: approve}); err == nil || !strings.Contains(err.Error(), "no call with this id") {
				t.Errorf("%q: %+v, %v", id, r, err)
			}
		}
	}
	if r, err := c.Decide(t.Context(), broker.Decision{ID: "1", Approve: true, By: "tui"}); err != nil || !r.Won {
		t.Errorf("%+v, %v", r, err)
	}
	if d := <-api.decided; d.ID != "1" || d.By != "token" {
		t.Errorf("%+v", d)
	}
	deny := within(t, api, Scope{Until: hour, DenyOnly: true})
	if _, err := deny.Decide(t.Context(), broker.Decision{ID: "1", Approve: true}); err == nil || !strings.Contains(err.Error(), "may only deny") {
		t.Error(err)
	}
	if _, err := deny.Decide(t.Context(), broker.Decision{ID: "1"}); err != nil {
		t.Error(err)
	}
	if n := len(api.decided); n != 1 {
		t.Errorf("%d were decided", n)
	}
	over := within(t, api, Scope{Until: time.Now()})
	_, errPending := over.Pending(t.Context())
	_, errDecide := over.Decide(t.Context(), broker.Decision{ID: "1"})
	_, errSubscribe := over.Subscribe(t.Context())
	for _, err := range []error{errPending, errDecide, errSubscribe} {
		if err == nil || !strings.Contains(err.Error(), "has expired") {
			t.Errorf("the time is over: %v", err)
		}
	}
}

func TestEventsOfOtherSessionsAreNotToldOf(t *testing.T) {
	events := make(chan broker.Event)
	c := within(t, &stub{subscribe: publishing(events)}, Scope{Until: time.Now().Add(time.Hour)})
	ctx, cancel := context.WithCancel(t.Context())
	told, err := c.Subscribe(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range []broker.Event{
		{Kind: broker.EventEscalation, Escalation: &broker.Escalation{ID: "1", Session: "other"}},
		{Kind: broker.EventResolution, Resolution: &broker.Resolution{ID: "2", Session: "other"}},
		{Kind: broker.EventNotice, Notice: &broker.Notice{}},
		{Kind: broker.EventEscalation, Escalation: &broker.Escalation{ID: "3", Session: "mine"}},
		{Kind: broker.EventResolution, Resolution: &broker.Resolution{ID: "4", Session: "mine"}},
	} {
		events <- ev
	}
	if ev := <-told; ev.Escalation == nil || ev.Escalation.ID != "3" {
		t.Errorf("%+v", ev)
	}
	if ev := <-told; ev.Resolution == nil || ev.Resolution.ID != "4" {
		t.Errorf("%+v", ev)
	}
	cancel()
	for range told { // it is closed
	}
}
