package docker

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// FollowMemory calls full whenever the kernel has killed a program in the container because the
// memory limit was hit: the agent, or a program that the agent started. It reads the engine's events,
// which report this even if the container does not end. When the engine restarts, FollowMemory
// connects again. It returns when ctx ends.
func (h *Handle) FollowMemory(ctx context.Context, full func()) {
	pause := time.NewTicker(h.client.retryPause())
	defer pause.Stop()
	since := time.Now() // a new connection also gets the events missed since then
	for ctx.Err() == nil {
		_ = h.client.memoryEvents(ctx, h.id, since, func(at time.Time) {
			since = at.Add(1)
			full()
		})
		select {
		case <-pause.C:
		case <-ctx.Done():
		}
	}
}

// lateMemoryEvent is how long after a container's end the engine may still report that
// its memory limit was hit.
const lateMemoryEvent = time.Second

// hitMemoryLimit reports whether the memory limit of a container that has ended was hit after since.
// The container's state does not say so if the engine noticed the end first.
func (h *Handle) hitMemoryLimit(ctx context.Context, since time.Time) (hit bool) {
	ctx, cancel := context.WithTimeout(ctx, lateMemoryEvent)
	defer cancel()
	_ = h.client.memoryEvents(ctx, h.id, since, func(time.Time) {
		hit = true
		cancel()
	})
	return hit
}

// memoryEvents calls hit each time the memory limit of a container is hit, from since on, until the
// engine closes the connection or ctx ends.
func (c *Client) memoryEvents(ctx context.Context, id string, since time.Time, hit func(at time.Time)) error {
	resp, err := c.base.RoundTrip(c.eventsRequest(ctx, id, since))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return because(ErrEngineRefuses, "events: %s", resp.Status)
	}
	for events := json.NewDecoder(resp.Body); ; {
		var event struct {
			Action   string
			TimeNano int64 `json:"timeNano"`
		}
		if err := events.Decode(&event); err != nil {
			return err
		}
		if event.Action == "oom" {
			hit(time.Unix(0, event.TimeNano))
		}
	}
}

// eventsRequest asks for the out-of-memory events of a container.
func (c *Client) eventsRequest(ctx context.Context, id string, since time.Time) *http.Request {
	filters, _ := json.Marshal(map[string][]string{"container": {id}, "event": {"oom"}}) // encoding strings cannot fail
	at := strconv.FormatInt(since.Unix(), 10) + "." + strconv.FormatInt(1e9+int64(since.Nanosecond()), 10)[1:]
	query := url.Values{"since": {at}, "filters": {string(filters)}}
	return c.getRequest(ctx, "/events", query)
}
