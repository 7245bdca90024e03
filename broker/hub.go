package broker

import (
	"context"
	"sync"
	"time"
)

// subscriberBacklog is how many events may wait for one subscriber. earlyNotices is how many
// notices may wait for the first subscriber.
const (
	subscriberBacklog = 256
	earlyNotices      = 16
)

// hub sends every event to every subscriber. When a
// subscriber's backlog is full, the hub closes the subscriber's channel, so no single event
// is lost from the middle. A notice that comes before any subscriber goes to the first one.
type hub struct {
	mu          sync.Mutex
	subscribers map[chan Event]struct{}
	early       []Event // notices that came before any subscriber, for the first
	closed      bool
}

func newHub() *hub {
	return &hub{subscribers: make(map[chan Event]struct{})}
}

// publish sends an event to all subscribers and never blocks.
func (h *hub) publish(e Event) {
	if e.At.IsZero() {
		e.At = time.Now()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if e.Kind == EventNotice && len(h.subscribers) == 0 && len(h.early) < earlyNotices {
		h.early = append(h.early, e)
	}
	for ch := range h.subscribers {
		select {
		case ch <- e:
		default:
			delete(h.subscribers, ch)
			close(ch)
		}
	}
}

// subscribe returns a channel of the events from now on. The channel is closed when ctx
// ends, when the hub closes, or when its reader falls too far behind.
func (h *hub) subscribe(ctx context.Context) <-chan Event {
	ch := make(chan Event, subscriberBacklog)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || ctx.Err() != nil {
		close(ch)
		return ch
	}
	h.subscribers[ch] = struct{}{}
	for _, e := range h.early {
		ch <- e // does not block: earlyNotices is less than subscriberBacklog
	}
	h.early = nil
	context.AfterFunc(ctx, func() { h.drop(ch) })
	return ch
}

func (h *hub) drop(ch chan Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.subscribers[ch]; ok {
		delete(h.subscribers, ch)
		close(ch)
	}
}

// close ends every subscription.
func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for ch := range h.subscribers {
		delete(h.subscribers, ch)
		close(ch)
	}
}
