package broker

import (
	"context"
	"slices"
	"sync"
	"time"
)

// subscriberBacklog is how many events may wait for one subscriber. earlyNotices is how many
// notices may wait for the first subscriber.
const (
	subscriberBacklog = 256
	earlyNotices      = 16
)

// hub sends every event to every subscriber. When a subscriber's backlog is full, the hub closes
// the subscriber's channel instead of dropping an event. A notice that comes before any subscriber
// goes to the first one. Followers are subscribers that show nothing to a person, and get no
// notices.
type hub struct {
	mu          sync.Mutex
	subscribers map[chan Event]struct{}
	followers   map[chan Event]struct{}
	early       []Event // notices that came before any subscriber, for the first
	closed      bool
}

func newHub() *hub {
	return &hub{subscribers: make(map[chan Event]struct{}), followers: make(map[chan Event]struct{})}
}

// publish sends an event to all subscribers and never blocks.
func (h *hub) publish(e Event) {
	if e.At.IsZero() {
		e.At = time.Now()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if e.Notice != nil && len(h.subscribers) == 0 {
		h.keep(e)
	}
	send(h.subscribers, e)
	if e.Kind != EventNotice {
		send(h.followers, e)
	}
}

// keep keeps a notice for the first subscriber. A notice without a text removes the kept ones that
// it takes back.
func (h *hub) keep(e Event) {
	switch n := e.Notice; {
	case n.Text == "":
		h.early = slices.DeleteFunc(h.early, func(e Event) bool { return e.Notice.About == n.About && e.Notice.Session == n.Session })
	case len(h.early) < earlyNotices:
		h.early = append(h.early, e)
	}
}

// tell sends an event to the present subscribers and does not keep it for later ones.
func (h *hub) tell(e Event) {
	e.At = time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	send(h.subscribers, e)
}

// send sends an event on every channel, and closes a channel that is full.
func send(to map[chan Event]struct{}, e Event) {
	for ch := range to {
		select {
		case ch <- e:
		default:
			delete(to, ch)
			close(ch)
		}
	}
}

// subscribe returns a channel of the events from now on. The channel is closed when ctx
// ends, when the hub closes, or when its reader falls too far behind.
func (h *hub) subscribe(ctx context.Context) <-chan Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	ch := h.add(ctx, h.subscribers)
	if _, open := h.subscribers[ch]; open {
		for _, e := range h.early {
			ch <- e // does not block: earlyNotices is less than subscriberBacklog
		}
		h.early = nil
	}
	return ch
}

// follow is subscribe for a follower.
func (h *hub) follow(ctx context.Context) <-chan Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.add(ctx, h.followers)
}

// add adds a channel, which is closed at once if nothing more will come. The caller holds the lock.
func (h *hub) add(ctx context.Context, to map[chan Event]struct{}) chan Event {
	ch := make(chan Event, subscriberBacklog)
	if h.closed || ctx.Err() != nil {
		close(ch)
		return ch
	}
	to[ch] = struct{}{}
	context.AfterFunc(ctx, func() { h.drop(ch, to) })
	return ch
}

func (h *hub) drop(ch chan Event, from map[chan Event]struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := from[ch]; ok {
		delete(from, ch)
		close(ch)
	}
}

// close ends every subscription.
func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for _, all := range []map[chan Event]struct{}{h.subscribers, h.followers} {
		for ch := range all {
			delete(all, ch)
			close(ch)
		}
	}
}
