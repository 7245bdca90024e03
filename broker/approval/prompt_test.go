package approval

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/identity"
)

// person is somebody at a terminal that hands out whole lines.
type person struct {
	mu    sync.Mutex
	text  strings.Builder
	begun string // typed behind the last whole line
	in    *io.PipeReader
	keys  *io.PipeWriter
}

func (p *person) Read(b []byte) (int, error) { return p.in.Read(b) }

func (p *person) DropInput() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begun = ""
	return nil
}

// types presses keys.
func (p *person) types(keys string) {
	p.mu.Lock()
	whole := p.begun + keys
	end := strings.LastIndexByte(whole, '\n') + 1
	p.begun = whole[end:]
	p.mu.Unlock()
	if end > 0 {
		_, _ = io.WriteString(p.keys, whole[:end])
	}
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
		go func() { served <- ServePrompt(t.Context(), q, p, identity.Client{}) }()
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
	for answer, want := range map[string]Outcome{"y\n": Approved, "\n": Denied, "No\n": Denied} {
		t.Run(answer, func(t *testing.T) {
			atPrompt(t, func(t *testing.T, q *Queue, p *person) {
				t.Helper()
				r := request("s", 1)
				r.Reason = "\x1b[2Jrun \u202eaway \u3164\u05d0e\u0301" // the filler is a letter that shows nothing
				got := ask(t.Context(), q, r)
				<-time.After(time.Second) // of the bubble's time: the person reads
				p.types(answer)
				if res := <-got; res.Outcome != want {
					t.Errorf("%q: %+v", answer, res)
				}
				if seen := p.seen(); strings.ContainsFunc(seen, func(r rune) bool { return r > '~' || r == 0x1b }) || !strings.Contains(seen, `\u202e`) {
					t.Errorf("shown: %q", seen)
				}
			})
		})
	}
}

// A word that is neither yes nor no decides nothing: the call is asked about again.
func TestAnotherWordIsNoAnswerAtThePrompt(t *testing.T) {
	atPrompt(t, func(t *testing.T, q *Queue, p *person) {
		t.Helper()
		got := ask(t.Context(), q, request("s", 1))
		for _, word := range []string{"yes please\n", "/help\n"} {
			<-time.After(time.Second)
			p.types(word)
			synctest.Wait()
			if len(q.Pending()) != 1 {
				t.Errorf("%q decides the call", word)
			}
		}
		if seen := p.seen(); strings.Count(seen, "y approves, n denies; approve until ") != 2 {
			t.Errorf("shown: %s", seen)
		}
		<-time.After(time.Second)
		p.types("n\n")
		if res := <-got; res.Outcome != Denied {
			t.Errorf("%+v", res)
		}
		synctest.Wait()
		if seen := p.seen(); !strings.HasSuffix(seen, "    denied\n") {
			t.Errorf("shown: %s", seen)
		}
	})
}

// What was typed before a call was on the screen for a moment is no answer to it.
func TestTypingAheadApprovesNothing(t *testing.T) {
	atPrompt(t, func(t *testing.T, q *Queue, p *person) {
		t.Helper()
		first := ask(t.Context(), q, request("s", 1))
		synctest.Wait()
		second := ask(t.Context(), q, request("s", 2))
		<-time.After(time.Second)
		p.types("y\n") // a terminal hands out line by line
		p.types("y\n")
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
		p.types("n\n")
		if res := <-second; res.Outcome != Denied || res.By != "prompt" {
			t.Errorf("the call that came after it: %+v", res)
		}
	})
}

// What is typed for one call and not finished is no answer to the next one, however
// long that has been on the screen.
func TestABegunLineAnswersNoOtherCall(t *testing.T) {
	atPrompt(t, func(t *testing.T, q *Queue, p *person) {
		t.Helper()
		ctx, withdraw := context.WithCancel(t.Context())
		first := ask(ctx, q, request("s", 1))
		<-time.After(time.Second)
		p.types("y")
		withdraw()
		<-first
		second := ask(t.Context(), q, request("s", 2))
		<-time.After(time.Minute)
		p.types("\n")
		if res := <-second; res.Outcome != Denied {
			t.Errorf("the other call: %+v\n%s", res, p.seen())
		}
	})
}

// What became of an approved call is told where it was approved, also while another one
// is asked about; that question stands in full below it, since a reason may look like one.
func TestThePromptTellsWhatBecameOfACall(t *testing.T) {
	atPrompt(t, func(t *testing.T, q *Queue, p *person) {
		t.Helper()
		first := ask(t.Context(), q, request("s", 1))
		synctest.Wait()
		second := ask(t.Context(), q, request("s", 2))
		<-time.After(time.Second)
		p.types("y\n")
		res := <-first
		synctest.Wait()
		q.Ended(res.ID, EndRefused, "its record could not be written: \x1b[2Jfull")
		q.Ended(res.ID, EndDone, "")
		synctest.Wait()
		const want = "[1] the call was refused because its record could not be written: \\x1b[2Jfull\n\n[2] filesystem/read_file wants\n"
		if seen := p.seen(); !strings.Contains(seen, want) || strings.Contains(seen, "is done") {
			t.Errorf("shown: %s", seen)
		}
		<-time.After(time.Second)
		p.types("y\n")
		q.Ended((<-second).ID, EndDone, "")
		synctest.Wait()
		if seen := p.seen(); !strings.Contains(seen, "[2] the call is done\n") {
			t.Errorf("shown: %s", seen)
		}
	})
}
