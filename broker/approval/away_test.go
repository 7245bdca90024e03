package approval

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
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

// It is announced once when half of a call's time is over. While that is paused, it does not come
// nearer; nor is it announced of a call that was answered.
func TestHalfOfTheTimeIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Options{Timeout: 4 * time.Minute, Away: time.Hour})
		defer q.Close()
		began := time.Now()
		half := map[int][]time.Duration{} // when it was announced, by the number of the call
		_, changes := q.Subscribe(t.Context())
		followed := make(chan struct{})
		go func() {
			defer close(followed)
			was := map[int]bool{}
			for c := range changes {
				if e := c.Grown; e != nil && e.HalfOver && !was[e.Number] {
					was[e.Number] = true
					half[e.Number] = append(half[e.Number], time.Since(began))
				}
			}
		}()
		attended := ask(t.Context(), q, request("s", 1))
		<-time.After(time.Minute)
		answered := ask(t.Context(), q, request("s", 2))
		q.SetAway(true) // for ten minutes
		<-time.After(10 * time.Minute)
		q.SetAway(false)
		<-time.After(30 * time.Second)
		second := q.Pending()[1]
		if _, _, err := q.Decide(second.ID, second.Digest, true, "tui", ""); err != nil || (<-answered).Outcome != Approved {
			t.Error(err)
		}
		if res := <-attended; res.Outcome != Expired || time.Since(began) != 14*time.Minute {
			t.Errorf("the first call: %s after %v", res.Outcome, time.Since(began))
		}
		q.SetAway(true) // for good
		alone := ask(t.Context(), q, request("s", 3))
		if res := <-alone; res.Outcome != Expired || time.Since(began) != 78*time.Minute {
			t.Errorf("the call with nobody there: %s after %v", res.Outcome, time.Since(began))
		}
		q.Close()
		<-followed
		want := map[int][]time.Duration{1: {12 * time.Minute}, 3: {76 * time.Minute}}
		if diff := cmp.Diff(want, half); diff != "" {
			t.Error(diff)
		}
	})
}
