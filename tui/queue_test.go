package tui

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
	for q.put([]byte(block)) {
		want.WriteString(block)
	}
	if q.size > queueLimit {
		t.Errorf("%d bytes wait", q.size)
	}
	if !q.putLast([]byte("end")) {
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
	q.put([]byte("a"))
	slot := q.reserve()
	q.put([]byte("b"))
	if !q.fill(slot, []string{"text", "\r"}, 50*time.Millisecond) {
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

// TestGate holds a source back while the focused queue is crowded, but not for
// ever when nothing takes from it, and not for a queue that is not focused.
func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, q, other := newGate(), newInputQueue(), newInputQueue()
		g.focus(q)
		begin := time.Now()
		g.wait(t.Context())
		q.put(make([]byte, queueHigh+1))
		g.wait(t.Context()) // nothing moves: one stall, then let through
		if d := time.Since(begin); d != stall {
			t.Errorf("held back for %v", d)
		}
		g.wait(t.Context())
		if d := time.Since(begin); d != stall {
			t.Errorf("held back again, %v in all", d)
		}
		passed := make(chan struct{})
		g.focus(other)
		g.focus(q)
		go func() {
			g.wait(t.Context())
			close(passed)
		}()
		synctest.Wait()
		q.discard()
		<-passed
		if d := time.Since(begin); d != stall {
			t.Errorf("room was not noticed for %v", d-stall)
		}
	})
}

// TestResizeIsDebounced changes the size a hundred times within a second.
func TestResizeIsDebounced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newHarness(t, 80, 24, Options{})
		p := r.m.numbered(1).pane
		x := newFakeTerminal()
		x.run(func(*fakeTerminal) { <-p.ctx.Done() })
		if err := p.attach(x); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		<-time.After(time.Second)
		for i := range 100 {
			r.send(sizeMsg{80 + i, 24})
			<-time.After(time.Millisecond)
		}
		<-time.After(resizeEvery)
		synctest.Wait()
		x.mu.Lock()
		defer x.mu.Unlock()
		if n := len(x.sizes) - 1; n > 3 || x.sizes[len(x.sizes)-1] != [2]int{179, 22} {
			t.Errorf("%d resizes, the last to %v", n, x.sizes[len(x.sizes)-1])
		}
		p.close()
		<-x.done
	})
}

// A program that has asked for reports of its size gets them when the size changes, and
// not only when it writes something again.
func TestResizeIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newHarness(t, 80, 24, Options{})
		p := r.m.numbered(1).pane
		_, _ = p.screen.Write([]byte("\x1b[?2048h"))
		p.screen.TakeReplies()
		x := newFakeTerminal()
		read := make([]byte, 64)
		x.run(func(x *fakeTerminal) {
			n, _ := x.agentR.Read(read)
			read = read[:n]
		})
		if err := p.attach(x); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		<-time.After(time.Second)
		r.send(sizeMsg{100, 30})
		<-x.done
		if got := string(read); got != "\x1b[48;28;100;560;1000t" {
			t.Errorf("the agent reads %q", got)
		}
		p.close()
	})
}
