package link

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// A carrier on which nothing is received is given up after 15 seconds, whatever was received
// before.
func TestSilenceEndsTheCarrier(t *testing.T) {
	for _, test := range []struct {
		name string
		make func(*testing.T, *Link) *peer
		last time.Duration // when the peer says something for the last time
	}{
		{"before a hello", dial, 0},
		{"after a hello", newPeer, 0},
		{"after beats", func(t *testing.T, l *Link) *peer {
			t.Helper()
			p := newPeer(t, l)
			p.discard()
			for range 4 {
				time.Sleep(14 * time.Second) //nolint:forbidigo // on the clock of synctest
				p.frame(head{kind: frameBeat})
			}
			return p
		}, 56 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				l := New(NewID())
				p := test.make(t, l)
				p.discard()
				if err := <-p.result; !errors.Is(err, ErrSilent) {
					t.Errorf("it ended with %v", err)
				}
				if took := time.Since(began); took != test.last+deadAfter {
					t.Errorf("it ended after %v", took)
				}
				l.Close()
			})
		})
	}
}

// After the machine has slept, which its timers do not notice, the carrier is given up at the next
// beat.
func TestSleepEndsTheCarrier(t *testing.T) {
	for _, test := range []struct {
		name  string
		slept time.Duration
		ends  bool
	}{
		{"short", deadAfter - beatEvery - 1, false},
		{"long", deadAfter - beatEvery, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newEnds(t)
				a, b := net.Pipe()
				wait := e.carry(context.Background(), a, b)
				time.Sleep(beatEvery + 1) //nolint:forbidigo // on the clock of synctest
				e.host.mu.Lock()
				e.host.carrier.ticked = e.host.carrier.ticked.Add(-test.slept)
				e.host.mu.Unlock()
				time.Sleep(beatEvery) //nolint:forbidigo // on the clock of synctest
				if ended := len(e.errs) > 0; ended != test.ends {
					t.Errorf("the carrier has ended: %v", ended)
				}
				e.host.Close()
				e.inside.Close()
				wait()
			})
		})
	}
}

// An idle carrier is kept while the other end answers, and unused memory is freed.
func TestIdleLinkIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnds(t)
		a, b := net.Pipe()
		wait := e.carry(context.Background(), a, b)
		if _, err := e.host.Bulk().Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(e.inside.Bulk(), make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour) //nolint:forbidigo // on the clock of synctest
		if since := time.Since(e.host.Carried()); since > beatEvery {
			t.Errorf("nothing has come for %v", since)
		}
		if len(e.errs) != 0 {
			t.Fatalf("the carrier ended: %v", <-e.errs)
		}
		e.host.mu.Lock()
		out := len(e.host.lanes[bulk].out.bytes)
		e.host.mu.Unlock()
		e.inside.mu.Lock()
		in := len(e.inside.lanes[bulk].in.bytes)
		e.inside.mu.Unlock()
		if out+in > 0 {
			t.Errorf("%d bytes are kept for nothing", out+in)
		}
		if e.host.RTT() == 0 || e.inside.RTT() == 0 {
			t.Error("the round trip is not known")
		}
		e.host.Close()
		wait()
	})
}

// The newest carrier is used, and the one before is closed.
func TestNewerCarrierTakesOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEnds(t)
		var waits []func()
		for range 3 {
			a, b := net.Pipe()
			waits = append(waits, e.carry(context.Background(), a, b))
			synctest.Wait() // it is used
			if _, err := e.host.Typed().Write([]byte("k")); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(e.inside.Typed(), make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
		}
		waits[0]()
		waits[1]()
		replaced := 0
		for range 4 {
			if errors.Is(<-e.errs, ErrReplaced) {
				replaced++
			}
		}
		if replaced < 2 { // the host says so of both
			t.Errorf("%d ends say that a newer carrier has taken over", replaced)
		}
		e.host.Close()
		waits[2]()
	})
}

// A context ends the carrier and not the link.
func TestContextEndsTheCarrier(t *testing.T) {
	e := newEnds(t)
	ctx, cancel := context.WithCancel(t.Context())
	a, b := net.Pipe()
	wait := e.carry(ctx, a, b)
	cancel()
	wait()
	if isClosed(e.host.Done()) || isClosed(e.inside.Done()) {
		t.Error("the link has ended")
	}
}

// Closing one end ends both, and the other end can still read what it received before.
func TestCloseIsToldToTheOtherEnd(t *testing.T) {
	e := newEnds(t)
	a, b := net.Pipe()
	wait := e.carry(context.Background(), a, b)
	if _, err := io.WriteString(e.host.Typed(), "goodbye"); err != nil {
		t.Fatal(err)
	}
	if err := e.host.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := e.host.Close(); err != nil {
		t.Fatal(err)
	}
	wait()
	<-e.inside.Done()
	if last, err := io.ReadAll(e.inside.Typed()); err != nil || string(last) != "goodbye" {
		t.Errorf("read %q, %v", last, err)
	}
	if _, err := e.inside.Bulk().Write([]byte("b")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("writing at the other end: %v", err)
	}
	if _, err := e.host.Typed().Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("reading at this end: %v", err)
	}
	c, d := net.Pipe()
	defer d.Close()
	if err := e.host.Carry(t.Context(), c, nil); !errors.Is(err, net.ErrClosed) {
		t.Errorf("another carrier was taken: %v", err)
	}
	if _, err := d.Write([]byte("b")); err == nil {
		t.Error("the other carrier was left open")
	}
}

// After Close, the carrier stays open until the other end has read that and closes it.
func TestCloseLeavesTheCarrierToTheOtherEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(NewID())
		p := newPeer(t, l)
		p.discard()
		synctest.Wait()
		closed := make(chan error, 1)
		go func() { closed <- l.Close() }()
		synctest.Wait()
		if _, err := p.Write(head{kind: frameBeat}.append(nil)); err != nil {
			t.Errorf("the other end cannot write any more: %v", err)
		}
		if synctest.Wait(); len(closed) > 0 {
			t.Error("Close did not wait for the other end")
		}
		_ = p.Close()
		if synctest.Wait(); len(closed) == 0 {
			t.Error("Close waits for more than the other end's")
		}
		<-p.result
	})
}

// A peer that reads nothing delays Close by at most a second.
func TestCloseDoesNotWaitForAStuckPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(NewID())
		p := newPeer(t, l)
		began := time.Now()
		l.Close()
		if err := <-p.result; !errors.Is(err, net.ErrClosed) {
			t.Errorf("the carrier ended with %v", err)
		}
		if took := time.Since(began); took > endWithin {
			t.Errorf("it took %v", took)
		}
	})
}

// Drain waits until the other end has received everything.
func TestDrain(t *testing.T) {
	t.Run("acknowledged", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := New(NewID())
			defer l.Close()
			l.Typed().Write([]byte("abc"))
			p := newPeer(t, l)
			p.discard()
			drained := make(chan error, 1)
			go func() { drained <- l.Drain(t.Context()) }()
			synctest.Wait()
			p.frame(head{kind: frameAck, offset: 2})
			synctest.Wait()
			if len(drained) > 0 {
				t.Error("it returned before all had come")
			}
			l.Typed().Write([]byte("later"))
			p.frame(head{kind: frameAck, offset: 3})
			if err := <-drained; err != nil {
				t.Error(err)
			}
			p.Close()
			<-p.result
		})
	})
	t.Run("by an end that has nothing to say", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			e := newEnds(t)
			a, b := net.Pipe()
			wait := e.carry(context.Background(), a, b)
			synctest.Wait()
			e.host.Typed().Write([]byte("abc"))
			began := time.Now()
			if err := e.host.Drain(t.Context()); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took > ackSoon {
				t.Errorf("it took %v", took)
			}
			e.host.Close()
			wait()
		})
	})
	t.Run("nothing written", func(t *testing.T) {
		l := New(NewID())
		defer l.Close()
		if err := l.Drain(t.Context()); err != nil {
			t.Error(err)
		}
	})
	t.Run("context", func(t *testing.T) {
		l := New(NewID())
		defer l.Close()
		l.Typed().Write([]byte("abc"))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := l.Drain(ctx); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	t.Run("closed", func(t *testing.T) {
		l := New(NewID())
		l.Typed().Write([]byte("abc"))
		l.Close()
		if err := l.Drain(t.Context()); !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	})
}
