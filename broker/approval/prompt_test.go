package approval

import (
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// person is somebody at a terminal.
type person struct {
	mu   sync.Mutex
	text strings.Builder
	in   *io.PipeReader
	keys *io.PipeWriter
}

func newPerson() *person {
	p := &person{}
	p.in, p.keys = io.Pipe()
	return p
}

func (p *person) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *person) seen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// atPrompt runs work while a person answers the queue's questions.
func atPrompt(t *testing.T, work func(*testing.T, *Queue, *person)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		q, p := New(Options{}), newPerson()
		served := make(chan error, 1)
		go func() { served <- ServePrompt(t.Context(), q, p.in, p) }()
		synctest.Wait()
		work(t, q, p)
		_ = p.keys.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
		q.Close()
	})
}

func TestOnlyYesApprovesAtThePrompt(t *testing.T) {
	for answer, want := range map[string]Outcome{"y\n": Approved, "\n": Denied, "yes please\n": Denied} {
		atPrompt(t, func(t *testing.T, q *Queue, p *person) {
			t.Helper()
			r := request("s", 1)
			r.Reason = "\x1b[2Jrun \u202eaway"
			got := ask(t.Context(), q, r)
			<-time.After(time.Second) // of the bubble's time: the person reads
			_, _ = io.WriteString(p.keys, answer)
			if res := <-got; res.Outcome != want {
				t.Errorf("%q: %+v", answer, res)
			}
			if seen := p.seen(); strings.ContainsAny(seen, "\x1b\u202e") || !strings.Contains(seen, `\u202e`) {
				t.Errorf("shown: %q", seen)
			}
		})
	}
}

// What was typed before a call was on the screen for a moment is no answer to it.
func TestTypingAheadApprovesNothing(t *testing.T) {
	atPrompt(t, func(t *testing.T, q *Queue, p *person) {
		t.Helper()
		first := ask(t.Context(), q, request("s", 1))
		synctest.Wait()
		second := ask(t.Context(), q, request("s", 2))
		<-time.After(time.Second)
		_, _ = io.WriteString(p.keys, "y\ny\n")
		if res := <-first; res.Outcome != Approved {
			t.Errorf("the call on the screen: %+v", res)
		}
		synctest.Wait()
		if left := q.Pending(); len(left) != 1 {
			t.Errorf("%d calls wait:\n%s", len(left), p.seen())
			return
		}
		if seen := p.seen(); strings.Count(seen, "[y/N] ") != 3 {
			t.Errorf("the second call is not asked about again:\n%s", seen)
		}
		<-time.After(time.Second)
		_, _ = io.WriteString(p.keys, "n\n")
		if res := <-second; res.Outcome != Denied || res.By != "prompt" {
			t.Errorf("the call that came after it: %+v", res)
		}
	})
}
