package packages

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
)

// However many names an agent asks for at once beyond what it may, the person denies them once.
func TestManyNamesAtOnce(t *testing.T) {
	const n = 40
	w := newWorld(t, func(o *Options) { o.NewNames = 1 })
	w.open()
	ctx, end := context.WithCancel(t.Context())
	_, changes := w.queue.Subscribe(ctx)
	questions := 0
	var person sync.WaitGroup
	person.Go(func() {
		for c := range changes {
			if c.Asked == nil {
				continue
			}
			questions++
			tick := time.NewTicker(time.Millisecond)
			for asked := 0; asked < n; <-tick.C { // until all wait
				asked, _ = w.way.names.over(countNew)
			}
			tick.Stop()
			_, _, _ = w.queue.Answer(c.Asked.ID, c.Asked.Digest, approval.Answer{By: "test", Effect: c.Asked.Fingerprint()})
		}
	})
	var clients sync.WaitGroup
	for i := range n {
		clients.Go(func() {
			if a := w.get(fmt.Sprintf("/name%d", i)); a.status != 403 && a.status != 404 {
				t.Errorf("%d %s", a.status, a.phrase)
			}
		})
	}
	clients.Wait()
	end()
	person.Wait()
	if questions != 1 {
		t.Errorf("%d questions", questions)
	}
}
