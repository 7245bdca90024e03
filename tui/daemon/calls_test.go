package daemon

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire/calls"
)

// queued is a broker of which there is only the queue.
type queued struct {
	broker.Calls
	queue *approval.Queue
}

func (q queued) Pending(context.Context) ([]broker.Escalation, error) { return q.queue.Pending(), nil }

func (q queued) Decide(_ context.Context, d broker.Decision) (broker.Resolution, error) {
	r, won, err := q.queue.Answer(d.ID, d.Digest, approval.Answer{Approve: d.Approve, By: d.By, Client: d.Client})
	return broker.Resolution{ID: r.ID, Outcome: r.Outcome, By: r.By, Client: r.Client, Won: won}, err
}

// connect connects a command to the daemon.
func (s *served) connect(h wire.Hello) *calls.Client {
	s.t.Helper()
	c, err := calls.Connect(s.t.Context(), SocketPath(s.home), h)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Disconnect() })
	return c
}

// Three clients race on each of many decisions. One of them decides, and all name that one.
func TestThreeClientsRace(t *testing.T) {
	const decisions, clients = 10_000, 3
	queue := approval.New(approval.Options{})
	s := startWith(t, until, queued{queue: queue})
	var all [clients]*calls.Client
	for i := range all {
		all[i] = s.connect(wire.Hello{Name: fmt.Sprint("client ", i), Terminal: fmt.Sprint("/dev/pts/", i)})
	}
	_, changes := queue.Subscribe(t.Context())
	won := map[string]int{}
	for n := range decisions {
		id := fmt.Sprint(n)
		ended := make(chan approval.Resolution, 1)
		go func() {
			r, err := queue.Ask(t.Context(), approval.Escalation{ID: id, Session: "s", Digest: "d" + id, Timeout: time.Hour})
			if err != nil {
				t.Error(err)
			}
			ended <- r
		}()
		for change := range changes {
			if change.Asked != nil { // it waits
				break
			}
		}
		var winners atomic.Int64
		var named [clients]broker.Resolution
		var race sync.WaitGroup
		for i, c := range all {
			race.Go(func() {
				r, err := c.Decide(t.Context(), broker.Decision{ID: id, Digest: "d" + id, Approve: i%2 == 0})
				if err != nil {
					t.Error(err)
				}
				if r.Won {
					winners.Add(1)
				}
				named[i] = r
			})
		}
		race.Wait()
		effect := <-ended
		won[effect.Client.Name]++
		for i, r := range named {
			if winners.Load() != 1 || r.Client != effect.Client || r.Outcome != effect.Outcome || r.Client.ID == "" {
				t.Fatalf("%d have decided; to client %d it is %+v, the effect is %+v", winners.Load(), i, r, effect)
			}
		}
	}
	t.Log("decided by", won)
}

// What a connection may do is said once.
func TestRightsOfConnections(t *testing.T) {
	queue := approval.New(approval.Options{})
	s := startWith(t, until, queued{queue: queue})
	c := s.connect(wire.Hello{Rights: wire.See})
	if _, err := c.Pending(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := c.Decide(t.Context(), broker.Decision{ID: "x"}); err == nil || !strings.Contains(err.Error(), "may not") {
		t.Errorf("a client that only sees decides: %v", err)
	}
	for _, h := range []wire.Hello{{Kind: wire.ForCalls, Rights: "all"}, {Kind: "root"}} {
		if c, _, err := wire.Dial(t.Context(), SocketPath(s.home), h); err == nil {
			_ = c.Close()
			t.Errorf("%+v is welcome", h)
		}
	}
}
