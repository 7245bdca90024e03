package calls

import (
	"context"
	"encoding/json"
	"sync/atomic"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// A stream ends when more of its events are unsent.
const (
	maxUnsentEvents = 256
	maxUnsentBytes  = 1 << 20
)

// subscribe starts a stream of events, which answer sends.
func subscribe(ctx context.Context, c *caller, _ []json.RawMessage) (any, error) {
	return c.Broker.Subscribe(ctx)
}

// stream sends events until the call is cancelled or its reader is too slow.
func (c *caller) stream(ctx context.Context, id uint64, events <-chan broker.Event) {
	queue := make(chan []byte, maxUnsentEvents) // drops nothing: the stream ends when it is full
	var unsent atomic.Int64                     // bytes in queue
	go func() {
		defer close(queue)
		defer c.cancel(id) // the unsent events are dropped
		for ev := range events {
			if !c.mayKnow(ev) {
				continue
			}
			text, err := json.Marshal(ev)
			if err != nil || unsent.Add(int64(len(text))) > maxUnsentBytes {
				return
			}
			select {
			case queue <- text:
			default:
				return
			}
		}
	}()
	err := c.send(answer{ID: id, Result: json.RawMessage("true")})
	for text := range queue {
		if err == nil && ctx.Err() == nil {
			err = c.send(answer{ID: id, Event: text})
		}
		if err != nil {
			c.cancel(id)
		}
		unsent.Add(-int64(len(text)))
	}
	for range events { // until the broker closes it, because the call is cancelled
	}
	_ = c.send(answer{ID: id, Error: errorOf(fault.New("subscribe again and list everything anew", "the events have ended"))}) // the client may be gone
}

// mayKnow reports whether the client may know of an event.
func (c *caller) mayKnow(ev broker.Event) bool {
	return c.Right != wire.Answer || ev.Kind == broker.EventEscalation || ev.Kind == broker.EventResolution
}
