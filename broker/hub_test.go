package broker

import (
	"context"
	"testing"
)

func TestEventsArriveInOrder(t *testing.T) {
	h := newHub()
	defer h.close()
	first, second := h.subscribe(t.Context()), h.subscribe(t.Context())
	for range 3 {
		h.publish(Event{Kind: EventNotice, Notice: &Notice{Text: "x"}})
	}
	h.publish(Event{Kind: EventSession, Session: &Session{Tab: 7}})
	for name, ch := range map[string]<-chan Event{"first": first, "second": second} {
		for range 3 {
			if e := <-ch; e.Kind != EventNotice || e.At.IsZero() {
				t.Errorf("%s got %+v", name, e)
			}
		}
		if e := <-ch; e.Session == nil || e.Session.Tab != 7 {
			t.Errorf("%s got %+v", name, e)
		}
	}
}

// A reader that falls behind loses its channel, not an event from the middle.
func TestSlowSubscriberIsCutOff(t *testing.T) {
	h := newHub()
	defer h.close()
	ch := h.subscribe(t.Context())
	for range subscriberBacklog + 5 {
		h.publish(Event{Kind: EventNotice})
	}
	got := 0
	for range ch {
		got++
	}
	if got != subscriberBacklog {
		t.Errorf("got %d events before the end, want %d", got, subscriberBacklog)
	}
}

func TestSubscriptionEndsWithItsContext(t *testing.T) {
	h := newHub()
	defer h.close()
	ctx, cancel := context.WithCancel(t.Context())
	ch := h.subscribe(ctx)
	cancel()
	if _, more := <-ch; more {
		t.Error("an event came after the end")
	}
	if _, more := <-h.subscribe(ctx); more {
		t.Error("a context that has ended got a subscription")
	}
}

func TestClosedHubEndsEverySubscription(t *testing.T) {
	h := newHub()
	ch := h.subscribe(t.Context())
	h.close()
	if _, more := <-ch; more {
		t.Error("an event came after the end")
	}
	if _, more := <-h.subscribe(t.Context()); more {
		t.Error("a closed hub took a subscriber")
	}
	h.publish(Event{Kind: EventNotice}) // must not panic
}

// A notice that was taken back before anybody was there is not told.
func TestANoticeThatWasTakenBackIsNotKept(t *testing.T) {
	h := newHub()
	defer h.close()
	for _, n := range []Notice{{About: "a", Text: "1"}, {Session: "s", About: "a", Text: "2"}, {Text: "3"}, {About: "a"}} {
		h.publish(Event{Kind: EventNotice, Notice: &n})
	}
	ch := h.subscribe(t.Context())
	for _, want := range []string{"2", "3"} {
		if e := <-ch; e.Notice == nil || e.Notice.Text != want {
			t.Errorf("got %+v, want %s", e.Notice, want)
		}
	}
	if len(ch) > 0 {
		t.Errorf("got %+v, too", (<-ch).Notice)
	}
}

// A follower gets no notices, and takes none from the subscriber that comes first.
func TestAFollowerTakesNoNotices(t *testing.T) {
	h := newHub()
	followed := h.follow(t.Context())
	h.publish(Event{Kind: EventNotice, Notice: &Notice{Text: "early"}})
	h.publish(Event{Kind: EventSession, Session: &Session{Tab: 7}})
	subscribed := h.subscribe(t.Context())
	if e := <-followed; e.Session == nil || e.Session.Tab != 7 {
		t.Errorf("the follower got %+v", e)
	}
	if e := <-subscribed; e.Notice == nil || e.Notice.Text != "early" {
		t.Errorf("the subscriber got %+v", e)
	}
	h.close()
	if _, more := <-followed; more {
		t.Error("an event came after the end")
	}
}
