package budget_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/budget"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/usage"
)

// model costs $3 and $15 for a million tokens in and out.
const model = "claude-sonnet-4-5"

func busy(err error) bool {
	var b *budget.BusyError
	return errors.As(err, &b) && b.RetryAfter() > 0 && strings.Contains(err.Error(), "/budget +")
}

func TestWhatRequestsMayCostIsHeldBack(t *testing.T) {
	for name, limits := range map[string]budget.Limits{
		"cost":   {Cost: budget.USD(1)},
		"tokens": {Tokens: 100_000},
		"both":   {Cost: budget.USD(1), Tokens: 100_000},
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t, filepath.Join(t.TempDir(), "budget.json"), limits, nil)
			want := func(id uint64, out int64, ok bool) {
				t.Helper()
				if err := b.Admit(id, usage.Count{Out: out}, model); ok && err != nil || !ok && !busy(err) {
					t.Errorf("request %d of up to %d tokens: %v", id, out, err)
				}
			}
			want(1, 40_000, true)
			want(2, 20_000, true)
			want(3, 50_000, false) // it does not fit beside the two
			b.Settle(1, model, usage.Count{Out: 10})
			want(3, 30_000, true)
			b.Release(2)
			b.Release(2)
			b.Settle(3, model, usage.Count{Out: 10})
			if got := b.Statement().Used; got.Requests != 2 || got.Out != 20 {
				t.Errorf("used %+v, want 2 requests", got)
			}
			want(4, 1_000_000, true) // alone it may try, and holds back all there is
			want(5, 1, false)
			b.Settle(4, model, usage.Count{Out: 100})
			want(6, 1, true)
		})
	}
}

func TestWithoutALimitNothingIsHeldBack(t *testing.T) {
	b := open(t, filepath.Join(t.TempDir(), "budget.json"), budget.Limits{Requests: 10}, nil)
	for id := range uint64(10) {
		if err := b.Admit(id, usage.Count{Out: 1 << 40}, model); err != nil {
			t.Error(err)
		}
	}
	if err := b.Admit(10, usage.Count{}, model); err == nil || busy(err) {
		t.Errorf("after all requests: %v", err)
	}
}

// A process that is killed takes its requests along, and what they held back.
func TestHoldsEndWithTheProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "budget.json")
	b := open(t, path, budget.Limits{Tokens: 1000}, nil)
	if err := b.Admit(1, usage.Count{Out: 1000}, model); err != nil {
		t.Fatal(err)
	}
	b.Close()
	b = open(t, path, budget.Limits{Tokens: 1000}, nil)
	if err := b.Admit(1, usage.Count{Out: 500}, model); err != nil {
		t.Error(err)
	}
	if err := b.Admit(2, usage.Count{Out: 500}, model); err != nil {
		t.Error(err)
	}
	if got := b.Statement().Used.Requests; got != 3 {
		t.Errorf("%d requests", got)
	}
}

// Whichever of its models answers, a request has held back enough.
func TestTheDearestModelIsHeldBack(t *testing.T) {
	for _, c := range []struct {
		models []string
		second bool // another request fits beside it
	}{
		{[]string{"claude-haiku-4-5"}, true},
		{[]string{"claude-haiku-4-5", "claude-opus-4-1"}, false},
		{[]string{"claude-opus-4-1", "claude-haiku-4-5"}, false},
	} {
		t.Run(fmt.Sprint(c.models), func(t *testing.T) {
			b := open(t, filepath.Join(t.TempDir(), "budget.json"), budget.Limits{Cost: 1e9}, nil)
			if err := b.Admit(1, usage.Count{Out: 20_000}, c.models...); err != nil {
				t.Fatal(err)
			}
			if err := b.Admit(2, usage.Count{Out: 1000}, "claude-haiku-4-5"); (err == nil) != c.second {
				t.Errorf("beside %v: %v", c.models, err)
			}
		})
	}
}

func TestParallelRequestsShareWhatIsLeft(t *testing.T) {
	b := open(t, filepath.Join(t.TempDir(), "budget.json"), budget.Limits{Tokens: 1000}, nil)
	var admitted atomic.Int64
	var all sync.WaitGroup
	for id := range uint64(64) {
		all.Go(func() {
			if err := b.Admit(id, usage.Count{In: 40, Out: 60}, model); err == nil {
				admitted.Add(1)
			} else if !busy(err) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := admitted.Load(); n != 10 {
		t.Errorf("%d requests of up to 100 tokens were admitted to 1000 tokens", n)
	}
}

func TestEachAnswerIsHeldBack(t *testing.T) {
	for _, c := range []struct{ bytes, answers, most, in, out int64 }{
		{4000, 1, 1000, 1000, 1000},
		{4000, 8, 1000, 1000, 8000},
		{0, 8, 0, 0, 8 * 4096},
		{0, 0, 5, 0, 5},
		{1 << 40, 1, 1, 200_000, 1},
		{0, 128, 1 << 62, 0, 10_000_000},
		{0, 1 << 62, 1 << 62, 0, 10_000_000},
	} {
		t.Run(fmt.Sprint(c.bytes), func(t *testing.T) {
			if got := budget.Expect(c.bytes, c.answers, c.most); got != (usage.Count{In: c.in, Out: c.out}) {
				t.Errorf("%+v: %+v", c, got)
			}
		})
	}
}
