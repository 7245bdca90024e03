package approval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func request(session string, n int) Escalation {
	return Escalation{
		Session: session, Plane: "tool", Server: "filesystem", Tool: "read_file",
		Arguments: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n)), Rule: "r", Digest: fmt.Sprintf("d%d", n),
	}
}

// ask asks in the background and returns where the answer will be.
func ask(ctx context.Context, q *Queue, r Escalation) <-chan Resolution {
	got := make(chan Resolution, 1)
	go func() {
		res, err := q.Ask(ctx, r)
		if err != nil {
			res = Resolution{Reason: err.Error()}
		}
		got <- res
	}()
	return got
}

func TestFirstAnswerWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Options{})
		defer q.Close()
		got := ask(t.Context(), q, request("s", 1))
		synctest.Wait()
		item := q.Pending()[0]
		if _, _, err := q.Decide(item.ID, "another", true, "tui", ""); !errors.Is(err, ErrDigest) {
			t.Fatal(err)
		}
		if _, _, err := q.Decide("nothing", item.Digest, true, "tui", ""); !errors.Is(err, ErrUnknown) {
			t.Fatal(err)
		}
		var wins atomic.Int32
		var group sync.WaitGroup
		for i := range 20 {
			group.Go(func() {
				_, won, err := q.Decide(item.ID, item.Digest, i%2 == 0, fmt.Sprint(i), "")
				if err != nil {
					t.Error(err)
				}
				if won {
					wins.Add(1)
				}
			})
		}
		group.Wait()
		res := <-got
		if wins.Load() != 1 {
			t.Fatalf("%d answers won", wins.Load())
		}
		late, won, err := q.Decide(item.ID, item.Digest, true, "late", "")
		if won || err != nil || !reflect.DeepEqual(late, res) {
			t.Fatalf("late answer: %+v %v %v", late, won, err)
		}
	})
}

func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Options{Timeout: time.Minute})
		defer q.Close()
		got := ask(t.Context(), q, request("s", 1))
		synctest.Wait()
		item := q.Pending()[0]
		if d := item.ExpiresAt.Sub(item.AskedAt); d != time.Minute {
			t.Fatal(d)
		}
		if res := <-got; res.Outcome != Expired || res.Waited != time.Minute {
			t.Fatalf("%+v", res)
		}
		if res, won, err := q.Decide(item.ID, item.Digest, true, "tui", ""); won || err != nil || res.Outcome != Expired {
			t.Fatalf("%+v %v %v", res, won, err)
		}
	})
}

func TestWaysToWithdraw(t *testing.T) {
	ways := map[string]func(*Queue, context.CancelFunc){
		"caller":  func(_ *Queue, cancel context.CancelFunc) { cancel() },
		"session": func(q *Queue, _ context.CancelFunc) { q.Withdraw("s", "closed") },
		"queue":   func(q *Queue, _ context.CancelFunc) { q.Close() },
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := New(Options{})
				defer q.Close()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				got := ask(ctx, q, request("s", 1))
				synctest.Wait()
				way(q, cancel)
				if res := <-got; res.Outcome != Withdrawn {
					t.Fatalf("%+v", res)
				}
				if len(q.Pending()) != 0 {
					t.Fatal("it still waits")
				}
			})
		})
	}
}

func TestLimitIsPerSessionAndNumbersGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Options{Limit: 2})
		for i := range 2 {
			ask(t.Context(), q, request("a", i))
			ask(t.Context(), q, request("b", i))
		}
		synctest.Wait()
		var full *FullError
		if _, err := q.Ask(t.Context(), request("a", 9)); !errors.As(err, &full) || full.Hint() == "" {
			t.Fatal(err)
		}
		seen := map[int]bool{}
		for _, i := range q.Pending() {
			seen[i.Number] = true
		}
		if len(seen) != 4 || !seen[1] || !seen[4] {
			t.Fatalf("numbers %v", seen)
		}
		q.Close()
		if _, err := q.Ask(t.Context(), request("c", 1)); !errors.Is(err, ErrClosed) {
			t.Fatal(err)
		}
		synctest.Wait()
	})
}

func TestSubscribersMissNothingOrAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Options{Limit: 1000})
		ask(t.Context(), q, request("s", 0))
		synctest.Wait()
		waiting, changes := q.Subscribe(t.Context())
		if len(waiting) != 1 {
			t.Fatal(waiting)
		}
		for i := range backlog + 1 {
			ask(t.Context(), q, request("s", i))
		}
		synctest.Wait()
		n := 0
		for range changes { // closed, because nobody read
			n++
		}
		if n != backlog {
			t.Fatalf("%d changes before the end", n)
		}
		q.Close()
		synctest.Wait()
	})
}

func TestFiles(t *testing.T) {
	q := New(Options{})
	defer q.Close()
	dir := filepath.Join(t.TempDir(), "escalations")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- ServeFiles(ctx, q, dir) }()
	answers := map[string]Outcome{
		`{"decision":"approved"}`:                              Approved,
		`{"decision":"denied","reason":"no"}`:                  Denied,
		`{"decision":"Approved"}`:                              Denied,
		`{"Decision":"approved"}`:                              Denied,
		`{"decision":"approved","whitelistSelection":"0"}`:     Approved,
		`{"decision":"approved","digest":"of something else"}`: Denied,
		`{"decision":"approved","dig`:                          Denied,
		`{"decision":"denied","decision":"approved"}`:          Denied,
		`{"decision":"approved"}{"decision":"denied"}`:         Denied,
		`{"decision":"approved","Decision":"denied"}`:          Denied,
	}
	n := 0
	for text, want := range answers {
		n++
		got := ask(t.Context(), q, request("s", n))
		var name string
		wait(t, func() bool {
			found, err := filepath.Glob(filepath.Join(dir, "request-*.json"))
			if err != nil || len(found) != 1 {
				return false
			}
			name = found[0]
			return true
		})
		response := strings.Replace(name, "request-", "response-", 1)
		if err := os.WriteFile(response, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if res := <-got; res.Outcome != want || res.By != "files" {
			t.Errorf("%s: %+v", text, res)
		}
		wait(t, func() bool {
			left, err := os.ReadDir(dir)
			return err == nil && len(left) == 0
		})
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func wait(t *testing.T, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-ctx.Done():
			t.Fatal("not in time")
		case <-tick.C:
		}
	}
}
