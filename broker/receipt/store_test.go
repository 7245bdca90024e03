package receipt

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/identity"
)

// clock is a time that tests move.
type clock struct{ at atomic.Int64 }

func (c *clock) now() time.Time {
	return time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(c.at.Load()))
}
func (c *clock) pass(d time.Duration) { c.at.Add(int64(d)) }

func typed(text string) []Span { return []Span{{0, len(text), false}} }

func add(t *testing.T, s *Store, session, text string) Receipt {
	t.Helper()
	r, err := s.Add(session, text, typed(text), Head{Branch: "main"}, identity.Client{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func call(c *clock, session, id string) Call {
	return Call{ID: id, Session: session, Digest: "digest of " + id, AskedAt: c.now()}
}

func want(t *testing.T, err, wanted error) {
	t.Helper()
	if !errors.Is(err, wanted) {
		t.Fatalf("got %v, want %v", err, wanted)
	}
}

func TestOneApprovalForItsOwnSession(t *testing.T) {
	c := &clock{}
	s := New(Options{Now: c.now})
	r := add(t, s, "a", "push my changes to origin")
	if r.Number != 1 || r.Left != 1 {
		t.Fatalf("%+v", r)
	}
	if _, ok := s.Current("b"); ok {
		t.Fatal("another session sees the receipt")
	}
	_, err := s.Spend(1, call(c, "b", "x"))
	want(t, err, ErrNone)
	after, err := s.Spend(1, call(c, "a", "x"))
	if err != nil || after.Left != 0 {
		t.Fatal(after, err)
	}
	_, err = s.Spend(1, call(c, "a", "x"))
	want(t, err, ErrAgain)
	_, err = s.Spend(1, call(c, "a", "y"))
	want(t, err, ErrSpent)
	if _, ok := s.Current("a"); ok {
		t.Fatal("a spent receipt is current")
	}
}

func TestTheNextInputReplaces(t *testing.T) {
	c := &clock{}
	s := New(Options{Now: c.now})
	add(t, s, "a", "push to origin")
	add(t, s, "a", "thanks")
	_, err := s.Spend(1, call(c, "a", "x"))
	want(t, err, ErrNone)
	if r, ok := s.Current("a"); !ok || r.Number != 2 {
		t.Fatal(r, ok)
	}
}

func TestTime(t *testing.T) {
	c := &clock{}
	s := New(Options{Now: c.now, Hold: 10 * time.Second})
	before := call(c, "a", "before")
	c.pass(time.Millisecond)
	add(t, s, "a", "push to origin")
	_, err := s.Spend(1, before)
	want(t, err, ErrEarlier)
	c.pass(10*time.Second - 1)
	if _, ok := s.Current("a"); !ok {
		t.Fatal("ended before its time")
	}
	c.pass(1)
	_, err = s.Spend(1, call(c, "a", "x"))
	want(t, err, ErrExpired)
	if _, ok := s.Current("a"); ok {
		t.Fatal("holds after its time")
	}
	add(t, s, "a", "push to origin")
	c.pass(-time.Hour)
	_, err = s.Spend(2, call(c, "a", "x"))
	want(t, err, ErrExpired) // a clock that was set back makes nothing last longer
}

// A machine that slept has a wall clock that went on and a monotonic one that
// did not.
func TestSleepingMachine(t *testing.T) {
	k := &kept{Receipt: Receipt{Left: 1, Uses: 1, At: time.Now()}}
	k.ExpiresAt = k.At.Add(DefaultHold)
	if k.overdue(time.Now()) {
		t.Fatal("a fresh receipt is overdue")
	}
	if !k.overdue(time.Now().Round(0).Add(time.Hour)) {
		t.Fatal("an hour of sleep did not end it")
	}
}

func TestWhatAClientTypedIsForgotten(t *testing.T) {
	c := &clock{}
	var told []Receipt
	s := New(Options{Now: c.now, Changed: func(r Receipt) { told = append(told, r) }})
	for session, client := range map[string]string{"a": "kicked", "b": "other", "c": "kicked"} {
		if _, err := s.Add(session, "push", typed("push"), Head{}, identity.Client{ID: client}); err != nil {
			t.Fatal(err)
		}
	}
	s.ForgetClient("kicked")
	for session, want := range map[string]bool{"a": false, "b": true, "c": false} {
		if _, ok := s.Current(session); ok != want {
			t.Errorf("session %s has a receipt: %t", session, ok)
		}
	}
	if len(told) != 5 || told[4].Left != 0 {
		t.Errorf("told %+v", told)
	}
}

func TestForgetAndClose(t *testing.T) {
	c := &clock{}
	var told []Receipt
	s := New(Options{Now: c.now, Changed: func(r Receipt) { told = append(told, r) }})
	add(t, s, "a", "push to origin")
	if r, held := s.Forget("a"); !held || r.Number != 1 {
		t.Fatal(r, held)
	}
	if _, held := s.Forget("a"); held {
		t.Fatal("forgotten twice")
	}
	_, err := s.Spend(1, call(c, "a", "x"))
	want(t, err, ErrNone)
	if r := add(t, s, "a", "again"); r.Number != 2 {
		t.Fatalf("number %d was used before", r.Number)
	}
	s.Close("a")
	if _, ok := s.Current("a"); ok {
		t.Fatal("a closed session has a receipt")
	}
	if len(told) != 3 || told[1].Left != 0 {
		t.Fatalf("told %+v", told)
	}
}

func TestIncompleteCallsSpendNothing(t *testing.T) {
	c := &clock{}
	s := New(Options{Now: c.now})
	add(t, s, "a", "push to origin")
	whole := call(c, "a", "x")
	for _, broken := range []func(*Call){
		func(c *Call) { c.ID = "" }, func(c *Call) { c.Digest = "" },
		func(c *Call) { c.Session = "" }, func(c *Call) { c.AskedAt = time.Time{} },
	} {
		one := whole
		broken(&one)
		if _, err := s.Spend(1, one); err == nil {
			t.Errorf("%+v was taken", one)
		}
	}
	if r, _ := s.Current("a"); r.Left != 1 {
		t.Fatalf("%d left", r.Left)
	}
}

func TestSpansWithoutOrigin(t *testing.T) {
	s := New(Options{})
	for _, spans := range [][]Span{nil, {{0, 3, false}}, {{1, 4, false}}, {{0, 2, false}, {3, 4, false}}, {{0, 5, false}}, {{0, 0, false}, {0, 4, false}}} {
		t.Run(fmt.Sprint(spans), func(t *testing.T) {
			if _, err := s.Add("a", "text", spans, Head{}, identity.Client{}); err == nil {
				t.Errorf("%v was taken", spans)
			}
		})
	}
	if _, err := s.Add("", "text", typed("text"), Head{}, identity.Client{}); err == nil {
		t.Error("no session")
	}
}

func TestPastedTextIsNoIntent(t *testing.T) {
	s := New(Options{})
	text := "look at push to origin please"
	r, err := s.Add("a", text, []Span{{0, 8, false}, {8, 22, true}, {22, len(text), false}}, Head{}, identity.Client{})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(r.Typed(), "|"); got != "look at | please" {
		t.Fatalf("typed %q", got)
	}
	if r.Quote() != "look at […] please" {
		t.Fatalf("quote %q", r.Quote())
	}
	if _, err := s.Add("b", text, []Span{{0, len(text), true}}, Head{}, identity.Client{}); err != nil {
		t.Fatal(err)
	}
	if r, ok := s.Current("b"); ok {
		t.Fatalf("a paste is worth %d approvals", r.Left)
	}
}

// Whatever happens at once, a receipt is spent as often as it says and on no
// call twice.
func TestSpentExactlyOnce(t *testing.T) {
	c := &clock{}
	for _, tc := range []struct {
		text string
		uses int64
	}{{"push to origin", 1}, {"write 3 files", 3}} {
		t.Run(tc.text, func(t *testing.T) {
			s := New(Options{Now: c.now})
			add(t, s, "a", tc.text)
			var won, again atomic.Int64
			var group sync.WaitGroup
			for i := range 200 {
				group.Go(func() {
					_, err := s.Spend(1, call(c, "a", fmt.Sprint(i%20)))
					switch {
					case err == nil:
						won.Add(1)
					case errors.Is(err, ErrAgain):
						again.Add(1)
					}
				})
			}
			group.Wait()
			if won.Load() != tc.uses {
				t.Errorf("%q was spent %d times", tc.text, won.Load())
			}
		})
	}
}

func TestUses(t *testing.T) {
	for text, n := range map[string]int{
		"":                                    0,
		"  ":                                  0,
		"push my changes to origin":           1,
		"push all my changes to origin":       1,
		"fix issue 42":                        1,
		"write 50 lines to notes.txt":         1,
		"write 3 files to ../outside":         3,
		"write three files":                   3,
		"read all files in ../outside":        maxUses,
		"read all of the files":               maxUses,
		"push twice":                          2,
		"push 2 times":                        2,
		"fetch the 4 pages, then 2 files":     4,
		"fetch 100000 pages":                  maxUses,
		"fetch 99999999999999999999 pages":    1,
		"fetch -3 pages":                      1,
		"fetch 0 pages":                       1,
		"call all":                            1,
		"write to all.files":                  1,
		"that is all. Files are elsewhere":    1,
		"in step 2 files are read":            2,
		"I want it all, files and everything": 1,
	} {
		t.Run(text, func(t *testing.T) {
			if got := uses([]string{text}); got != n {
				t.Errorf("%q: %d, want %d", text, got, n)
			}
		})
	}
	if got := uses([]string{"all", "files"}); got != 1 {
		t.Errorf("words on both sides of a paste were joined: %d", got)
	}
}
