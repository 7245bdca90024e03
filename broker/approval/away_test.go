package approval

import (
	"testing"
	"testing/synctest"
	"time"
)

// While nobody is there, the time of a tool call is paused, for a while at most. That of a
// model request runs on.
func TestTheTimeStandsStillWhileNobodyIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Options{Timeout: 5 * time.Minute, Away: 8 * time.Hour})
		defer q.Close()
		began := time.Now()
		call := ask(t.Context(), q, request("s", 1))
		model := request("s", 2)
		model.Plane = "http"
		asked := ask(t.Context(), q, model)
		<-time.After(4 * time.Minute)
		q.SetAway(true)
		q.SetAway(true)
		if res := <-asked; res.Outcome != Expired || time.Since(began) != 5*time.Minute {
			t.Errorf("the model request: %s after %v", res.Outcome, time.Since(began))
		}
		late := ask(t.Context(), q, request("s", 3)) // asked while nobody is there
		<-time.After(2 * time.Hour)
		for i, want := range []time.Duration{time.Minute, 5 * time.Minute} {
			if left := time.Until(q.Pending()[i].ExpiresAt); left != want {
				t.Errorf("call %d has %v left", i, left)
			}
		}
		q.SetAway(false)
		back := time.Now()
		if res := <-call; res.Outcome != Expired || time.Since(back) != time.Minute {
			t.Errorf("the call: %s, %v after somebody came", res.Outcome, time.Since(back))
		}
		item := q.Pending()[0]
		if _, won, err := q.Decide(item.ID, item.Digest, true, "tui", ""); !won || err != nil || (<-late).Outcome != Approved {
			t.Errorf("the later call cannot be approved: %v", err)
		}
		began = time.Now()
		q.SetAway(true)
		if res := <-ask(t.Context(), q, request("s", 4)); res.Outcome != Expired || time.Since(began) != 8*time.Hour+5*time.Minute {
			t.Errorf("nobody came: %s after %v", res.Outcome, time.Since(began))
		}
		strict := New(Options{Timeout: 5 * time.Minute})
		defer strict.Close()
		strict.SetAway(true)
		began = time.Now()
		if res := <-ask(t.Context(), strict, request("s", 5)); res.Outcome != Expired || time.Since(began) != 5*time.Minute {
			t.Errorf("without such a time: %s after %v", res.Outcome, time.Since(began))
		}
	})
}

// Whoever comes and goes all the time lengthens a call's time by what they were away, and no
// more in all than the limit.
func TestComingAndGoing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Options{Timeout: 4*time.Minute + 30*time.Second, Away: time.Hour})
		defer q.Close()
		began := time.Now()
		call := ask(t.Context(), q, request("s", 1))
		done := make(chan struct{})
		go func() {
			defer close(done)
			for i := range 40 {
				<-time.After(time.Minute)
				q.SetAway(i%2 == 0)
			}
			<-time.After(time.Minute)
			q.SetAway(true)
		}()
		res := <-call
		if took := time.Since(began); res.Outcome != Expired || took != 8*time.Minute+30*time.Second {
			t.Errorf("%s after %v", res.Outcome, took)
		}
		<-done
	})
}
