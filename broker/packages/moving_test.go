package packages

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Counts are told at most twice a second, until nothing waits and 10 s have passed without a
// request; then zeros.
func TestMoving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var now Counts
		var told []Counts
		m := &moving{
			count: func() Counts {
				mu.Lock()
				defer mu.Unlock()
				return now
			},
			report: func(c Counts) {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, c)
			},
		}
		set := func(c Counts) {
			mu.Lock()
			defer mu.Unlock()
			now = c
		}
		expect := func(want ...Counts) {
			t.Helper()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if !slices.Equal(told, want) {
				t.Errorf("%+v, want %+v", told, want)
			}
			told = nil
		}
		for n := range 100 {
			set(Counts{Delivered: n + 1})
			m.touch()
			time.Sleep(10 * time.Millisecond) //nolint:forbidigo // on the clock of synctest
			synctest.Wait()
		}
		expect(Counts{Delivered: 50}, Counts{Delivered: 100})
		set(Counts{Delivered: 100, Waiting: 1})
		time.Sleep(time.Minute) //nolint:forbidigo // on the clock of synctest
		expect(Counts{Delivered: 100, Waiting: 1})
		set(Counts{Delivered: 100})
		time.Sleep(time.Second) //nolint:forbidigo // on the clock of synctest
		expect(Counts{})
		time.Sleep(time.Hour) //nolint:forbidigo // on the clock of synctest
		expect()
		m.touch()
		time.Sleep(5 * time.Second) //nolint:forbidigo // on the clock of synctest
		expect(Counts{Delivered: 100})
		time.Sleep(6 * time.Second) //nolint:forbidigo // on the clock of synctest
		expect(Counts{})
		m.touch()
		m.close()
		m.touch()
		time.Sleep(time.Hour) //nolint:forbidigo // on the clock of synctest
		expect()
	})
}
