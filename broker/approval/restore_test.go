package approval

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/preview"
)

// former is request as another process left it.
func former(session string, n int) Escalation {
	r := request(session, n)
	r.Ticket, r.Effect = "t", &preview.Effect{Fingerprint: "f"}
	r.ID, r.Number, r.AskedAt = "id", 7, time.Now().Add(-time.Hour)
	return r
}

// restore puts it back and waits in the background.
func restore(t *testing.T, q *Queue, f Escalation) (*Held, <-chan Resolution) {
	t.Helper()
	h, err := q.Restore(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan Resolution, 1)
	go func() {
		if res, settled := h.Wait(t.Context()); settled {
			got <- res
		}
		close(got)
	}()
	return h, got
}

// The caller of the very same call takes a restored one over, with what was shown
// of it, and gets the answer; another call, another session and the same digest
// over other arguments do not.
func TestRestoredCallIsTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Options{})
		defer q.Close()
		_, held := restore(t, q, former("s", 1))
		item := q.Pending()[0]
		if item.Number != 7 || item.ID != "id" || !item.Restored || !item.Unclaimed || time.Until(item.ExpiresAt) != DefaultTimeout {
			t.Fatalf("%+v", item)
		}
		forged := request("s", 1)
		forged.Arguments = []byte(`{"n":2}`)
		for _, other := range []Escalation{request("s", 2), request("other", 1), forged} {
			ask(t.Context(), q, other)
		}
		synctest.Wait()
		if item, _ := q.Find("id"); !item.Unclaimed {
			t.Fatal("another call took it over")
		}
		got := ask(t.Context(), q, request("s", 1))
		synctest.Wait()
		if item, _ := q.Find("id"); item.Unclaimed || len(q.Pending()) != 4 {
			t.Fatalf("%+v", q.Pending())
		}
		if _, settled := <-held; settled {
			t.Error("the one that held it got its resolution")
		}
		if _, won, err := q.Answer("id", "d1", Answer{Approve: true, Effect: "f", By: "tui"}); !won || err != nil {
			t.Fatal(won, err)
		}
		if res := <-got; res.Outcome != Approved || !res.Restored || res.Kept || res.Shown.Fingerprint != "f" || res.Number != 7 {
			t.Errorf("%+v", res)
		}
		q.Close()
		synctest.Wait()
	})
}

// An answer that no caller waits for is kept for one call and some time.
func TestAnswerIsKept(t *testing.T) {
	for _, approve := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			q := New(Options{})
			h, held := restore(t, q, former("s", 1))
			if _, _, err := q.Answer("id", "d1", Answer{Approve: approve, Effect: "f", By: "cli", Reason: "because"}); err != nil {
				t.Fatal(err)
			}
			if res := <-held; !res.Kept || res.By != "cli" {
				t.Fatalf("%+v", res)
			}
			used := make(chan bool, 1)
			go func() { used <- h.Used(t.Context()) }()
			time.Sleep(AnswerHold - time.Second) //nolint:forbidigo // on the clock of synctest
			res := <-ask(t.Context(), q, request("s", 1))
			if want := map[bool]Outcome{true: Approved, false: Denied}[approve]; res.Outcome != want || res.ID != "id" || res.Reason != "because" || !<-used {
				t.Errorf("%+v", res)
			}
			second := ask(t.Context(), q, request("s", 1))
			synctest.Wait()
			if len(q.Pending()) != 1 || len(second) != 0 {
				t.Error("the answer was used twice")
			}
			q.Close()
			synctest.Wait()
		})
	}
}

func TestKeptAnswerEnds(t *testing.T) {
	ends := map[string]func(h *Held, cancel context.CancelFunc){
		"time":      func(*Held, context.CancelFunc) { time.Sleep(AnswerHold) }, //nolint:forbidigo // on the clock of synctest
		"session":   func(_ *Held, cancel context.CancelFunc) { cancel() },
		"forgotten": func(h *Held, _ context.CancelFunc) { h.Forget() },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := New(Options{})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				h, held := restore(t, q, former("s", 1))
				if _, _, err := q.Answer("id", "d1", Answer{Approve: true, Effect: "f", By: "cli"}); err != nil {
					t.Fatal(err)
				}
				<-held
				used := make(chan bool, 1)
				go func() { used <- h.Used(ctx) }()
				end(h, cancel)
				synctest.Wait()
				ask(t.Context(), q, request("s", 1))
				synctest.Wait()
				if len(q.Pending()) != 1 || <-used {
					t.Error("it stands for longer")
				}
				q.Close()
				synctest.Wait()
			})
		})
	}
}

// Without a caller a restored call has a deadline and ends with its session; then
// nothing is kept.
func TestRestoredCallEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Options{Timeout: time.Minute})
		_, held := restore(t, q, former("s", 1))
		if res := <-held; res.Outcome != Expired || res.Kept {
			t.Errorf("%+v", res)
		}
		again := former("s", 1)
		again.ID = "other"
		h, err := q.Restore(again, nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if res, settled := h.Wait(ctx); !settled || res.Outcome != Withdrawn || res.Kept {
			t.Errorf("%+v", res)
		}
		ask(t.Context(), q, request("s", 1))
		synctest.Wait()
		if len(q.Pending()) != 1 {
			t.Error("a call was taken for one that has ended")
		}
		q.Close()
		synctest.Wait()
	})
}

// A ticket is good for once, and only while its call is held.
func TestResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Options{})
		_, held := restore(t, q, former("s", 1))
		if q.Resume("s", "") || q.Resume("s", "other") || q.Resume("other", "t") {
			t.Error("what is not held is resumed")
		}
		if !q.Resume("s", "t") || q.Resume("s", "t") {
			t.Error("a ticket is good for once")
		}
		q.Abandon("s", "t", "it came to another end")
		if res := <-held; res.Outcome != Withdrawn {
			t.Errorf("%+v", res)
		}
		q.Abandon("s", "t", "again")
		q.Close()
		synctest.Wait()
	})
}

// Restored calls keep their numbers where these are free, and no number is used
// twice.
func TestNumbersOfRestoredCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Options{})
		for i, c := range []struct{ former, want int }{{3, 3}, {7, 7}, {5, 5}, {5, 8}, {1 << 30, 9}, {0, 10}, {1, 1}} {
			f := former("s", i)
			f.ID, f.Number = f.Digest, c.former
			h, _ := restore(t, q, f)
			if n := h.w.item.Number; n != c.want {
				t.Errorf("#%d became #%d, want #%d", c.former, n, c.want)
			}
		}
		ask(t.Context(), q, request("fresh", 1))
		synctest.Wait()
		if items := q.Pending(); items[len(items)-1].Number != 11 {
			t.Errorf("the next number is %d", items[len(items)-1].Number)
		}
		q.Close()
		synctest.Wait()
	})
}

// A call that another program hands over goes on with what is left of its time, its half and its
// pause included.
func TestACallGoesOnWithItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := New(Options{Away: time.Hour})
		asked := request("s", 1)
		asked.ID = "id"
		ask(t.Context(), before, asked)
		synctest.Wait()
		before.SetAway(true)
		time.Sleep(50 * time.Minute) //nolint:forbidigo // on the clock of synctest
		before.SetAway(false)
		time.Sleep(200 * time.Second) //nolint:forbidigo // on the clock of synctest
		synctest.Wait()
		if other := before.Left("other"); len(other) != 0 {
			t.Errorf("of another session: %v", other)
		}
		left := before.Left("s")["id"]
		if want := (Left{Time: 100 * time.Second, Half: 150 * time.Second, HalfOver: true, Paused: 50 * time.Minute}); left != want {
			t.Fatalf("%+v, want %+v", left, want)
		}
		before.Close()
		q := New(Options{Away: time.Hour})
		defer q.Close()
		q.SetAway(true)
		_, changes := q.Subscribe(t.Context())
		h, err := q.Restore(former("s", 1), &left)
		if err != nil {
			t.Fatal(err)
		}
		if c := <-changes; c.Asked == nil || !c.Asked.HalfOver {
			t.Errorf("%+v", c)
		}
		began := time.Now()
		if res, settled := h.Wait(t.Context()); !settled || res.Outcome != Expired || time.Since(began) != 10*time.Minute+100*time.Second {
			t.Errorf("%+v, %v, after %v", res, settled, time.Since(began))
		}
		if c := <-changes; c.Settled == nil {
			t.Errorf("its half is announced again: %+v", c)
		}
	})
}
