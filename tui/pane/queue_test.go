package pane

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestQueueKeepsOrderAndBounds(t *testing.T) {
	q := newInputQueue()
	var want strings.Builder
	block := strings.Repeat("0123456789", 1000)
	for q.Put([]byte(block)) {
		want.WriteString(block)
	}
	if q.size > QueueLimit {
		t.Errorf("%d bytes wait", q.size)
	}
	if !q.PutLast([]byte("end")) {
		t.Error("the reserve was refused")
	}
	want.WriteString("end")
	ctx, cancel := context.WithCancel(t.Context())
	var got strings.Builder
	for got.Len() < want.Len() {
		k, ok := q.take(ctx)
		if !ok || len(k.data) > writeSize {
			t.Fatalf("took %d bytes, %v", len(k.data), ok)
		}
		got.Write(k.data)
	}
	if got.String() != want.String() {
		t.Error("the order changed")
	}
	cancel()
	if _, ok := q.take(ctx); ok {
		t.Error("took something from an empty queue")
	}
}

func TestQueueStepsKeepTheirPauses(t *testing.T) {
	q := newInputQueue()
	q.Put([]byte("a"))
	slot := q.Reserve()
	q.Put([]byte("b"))
	if !q.Fill(slot, []string{"text", "\r"}, 50*time.Millisecond) {
		t.Fatal("the reserved place is gone")
	}
	var got []keystrokes
	for range 2 {
		k, _ := q.take(t.Context())
		got = append(got, k)
	}
	if string(got[0].data) != "a" && string(got[0].data) != "atext" {
		t.Errorf("first %q", got[0].data)
	}
	found := false
	for q.size > 0 {
		k, _ := q.take(t.Context())
		got = append(got, k)
	}
	for _, k := range got {
		if strings.HasPrefix(string(k.data), "\r") {
			found = k.pause == 50*time.Millisecond
		} else if k.pause != 0 {
			t.Errorf("%q waits %v", k.data, k.pause)
		}
	}
	if !found {
		t.Errorf("Enter does not wait: %v", got)
	}
}

// A gate holds the reader back while the focused queue is crowded, but only for stallTime
// if the agent reads nothing, and never for a queue that is not focused.
func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, q, other := NewGate(), newInputQueue(), newInputQueue()
		g.Focus(q)
		begin := time.Now()
		g.Wait(t.Context())
		q.Put(make([]byte, queueHigh+1))
		g.Wait(t.Context()) // nothing moves: held back for stallTime, then let through
		if d := time.Since(begin); d != stallTime {
			t.Errorf("held back for %v", d)
		}
		g.Wait(t.Context())
		if d := time.Since(begin); d != stallTime {
			t.Errorf("held back again, %v in all", d)
		}
		passed := make(chan struct{})
		g.Focus(other)
		g.Focus(q)
		go func() {
			g.Wait(t.Context())
			close(passed)
		}()
		synctest.Wait()
		q.Discard()
		<-passed
		if d := time.Since(begin); d != stallTime {
			t.Errorf("room was not noticed for %v", d-stallTime)
		}
	})
}
