package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// script is a model that answers what it was told to, one answer a request.
type script struct {
	answers []func(ctx context.Context) (llm.Reply, error)
	asked   []llm.Request
}

func (s *script) Name() string { return "test/script" }
func (s *script) Close()       {}

func (s *script) Reply(ctx context.Context, r llm.Request, said func(string)) (llm.Reply, error) {
	s.asked = append(s.asked, r)
	if len(s.asked) > len(s.answers) {
		return llm.Reply{Text: "Done."}, nil
	}
	reply, err := s.answers[len(s.asked)-1](ctx)
	said(reply.Text)
	return reply, err
}

func (s *script) then(answers ...func(context.Context) (llm.Reply, error)) *script {
	s.answers = append(s.answers, answers...)
	return s
}

func (s *script) last() []llm.Message { return s.asked[len(s.asked)-1].Messages }

func says(text string) func(context.Context) (llm.Reply, error) {
	return func(context.Context) (llm.Reply, error) {
		return llm.Reply{Text: text, Used: llm.Tokens{In: 100, Out: 10}}, nil
	}
}

func fails(err error) func(context.Context) (llm.Reply, error) {
	return func(context.Context) (llm.Reply, error) { return llm.Reply{}, err }
}

func wants(codes ...string) func(context.Context) (llm.Reply, error) {
	return func(context.Context) (llm.Reply, error) {
		r := llm.Reply{Text: "I will."}
		for i, code := range codes {
			arguments, _ := json.Marshal(map[string]string{"code": code})
			r.Calls = append(r.Calls, llm.Call{ID: fmt.Sprintf("%s-%d", code, i), Name: toolName, Arguments: arguments})
		}
		return r, nil
	}
}

// runner runs no programs: each does what the test says.
type runner struct {
	run     func(ctx context.Context, code string, call func(Call)) (Result, error)
	ran     []string
	resume  func(ctx context.Context, call func(Call)) (Result, error)
	resumed []string
}

func (r *runner) Find(context.Context) (Tool, error) {
	return Tool{name: "execute", Description: "tools"}, nil
}

func (r *runner) Run(ctx context.Context, _ Tool, code string, ticket func(string), call func(Call)) (Result, error) {
	r.ran = append(r.ran, code)
	ticket("ticket of " + code)
	if r.run != nil {
		return r.run(ctx, code, call)
	}
	call(Call{Index: 1, Tool: "files/write", About: code, State: CallDone})
	return Result{Text: "did " + code}, nil
}

func (r *runner) Resume(ctx context.Context, _ Tool, ticket, code string, call func(Call)) (Result, error) {
	r.resumed = append(r.resumed, ticket)
	if r.resume != nil {
		return r.resume(ctx, call)
	}
	return Result{Text: "INTERRUPTED: " + code, Failed: true}, nil
}

// file is a conversation's file, which fails when it is full.
type file struct {
	bytes.Buffer
	room int // bytes; 0: enough
}

func (f *file) Write(b []byte) (int, error) {
	if f.room > 0 && f.Len()+len(b) > f.room {
		n, _ := f.Buffer.Write(b[:f.room-f.Len()])
		return n, io.ErrShortWrite
	}
	return f.Buffer.Write(b)
}

// opened makes an agent that goes on with what is in the file. The events are kept.
func opened(t *testing.T, f *file, s *script, r *runner) (*Agent, *[]Event) {
	t.Helper()
	h, err := OpenHistory(struct {
		io.Reader
		io.Writer
	}{bytes.NewReader(bytes.Clone(f.Bytes())), f})
	if err != nil {
		t.Fatal(err)
	}
	events := &[]Event{}
	a, err := New(Options{
		Models: func(string) (llm.Chat, error) { return s, nil }, Runner: r, History: h,
		Show: func(e Event) { *events = append(*events, e) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return a, events
}

func kinds(events []Event) string {
	var all []string
	for _, e := range events {
		all = append(all, string(e.Kind))
	}
	return strings.Join(all, " ")
}

func TestATurn(t *testing.T) {
	s, r, f := (&script{}).then(wants("one", "two"), says("All done.")), &runner{}, &file{}
	a, events := opened(t, f, s, r)
	if err := a.Turn(t.Context(), "do it"); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(r.ran, " "); got != "one two" {
		t.Errorf("ran %s", got)
	}
	sent := s.last()
	if len(sent) != 3 || sent[0].Text != "do it" || len(sent[1].Calls) != 2 || len(sent[2].Results) != 2 || sent[2].Results[1].Text != "did two" {
		t.Errorf("sent %+v", sent)
	}
	const want = "asked saying said used program-began call-changed program-ended program-began call-changed program-ended saying said used"
	if got := kinds(*events); got != want {
		t.Errorf("events %s", got)
	}
	if code, known := a.Program(2); code != "two" || !known {
		t.Errorf("program 2 is %q", code)
	}
	again, _ := opened(t, f, s, r)
	if got := kinds(again.Past()); got != "asked said program-ended program-ended said" {
		t.Errorf("past %s", got)
	}
	if err := again.Turn(t.Context(), "more"); err != nil {
		t.Fatal(err)
	}
	if sent := s.last(); len(sent) != 5 || sent[4].Text != "more" {
		t.Errorf("sent after a resume: %+v", sent)
	}
}

// Wherever the process is killed, the conversation goes on, with an answer to every call and
// without a program that runs twice.
func TestKilledAtEveryByte(t *testing.T) {
	whole := &file{}
	s, r := (&script{}).then(wants("one"), wants("two", "three"), says("Done.")), &runner{}
	a, _ := opened(t, whole, s, r)
	if err := a.Turn(t.Context(), "do it"); err != nil {
		t.Fatal(err)
	}
	for n := range whole.Len() + 1 {
		f := &file{}
		f.Buffer.Write(whole.Bytes()[:n])
		s, r := &script{}, &runner{}
		a, _ := opened(t, f, s, r)
		if err := a.Turn(t.Context(), "go on"); err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		if len(r.ran) > 0 {
			t.Fatalf("cut at %d: ran %v again", n, r.ran)
		}
		open := map[string]bool{}
		for i, m := range s.last() {
			for _, c := range m.Calls {
				open[c.ID] = true
			}
			for _, r := range m.Results {
				if !open[r.ID] {
					t.Fatalf("cut at %d: a result without its call in message %d", n, i)
				}
				delete(open, r.ID)
			}
			if i > 0 && m.Role == s.last()[i-1].Role {
				t.Fatalf("cut at %d: two messages of %s in a row", n, m.Role)
			}
		}
		if len(open) > 0 {
			t.Fatalf("cut at %d: no result of %v", n, open)
		}
	}
}

func TestAFullDisk(t *testing.T) {
	for room := 1; room < 900; room += 7 {
		f := &file{room: room}
		s, r := (&script{}).then(wants("one"), says("Done.")), &runner{}
		a, _ := opened(t, f, s, r)
		err := a.Turn(t.Context(), "do it")
		if whole := bytes.HasSuffix(f.Bytes(), []byte("Done.\"}}\n")); whole != (err == nil) {
			t.Fatalf("%d bytes: %v, kept %s", room, err, f.Bytes())
		}
		f.room = 0
		again, _ := opened(t, f, &script{}, r)
		if err := again.Turn(t.Context(), "go on"); err != nil {
			t.Fatalf("%d bytes: %v", room, err)
		}
		if len(r.ran) > 1 {
			t.Fatalf("%d bytes: ran %v", room, r.ran)
		}
	}
}

func TestAskedAgain(t *testing.T) {
	busy := &llm.StatusError{Code: 429, After: 20 * time.Second}
	for name, c := range map[string]struct {
		errs  []error
		takes time.Duration // at least
		ends  bool
	}{
		"once":            {[]error{&llm.StatusError{Code: 529}}, 750 * time.Millisecond, false},
		"as it was told":  {[]error{busy, busy}, 40 * time.Second, false},
		"but not for bad": {[]error{&llm.StatusError{Code: 400}}, 0, true},
		"nor for ever":    {[]error{busy, busy, busy, busy, busy, busy, busy, busy, busy, busy, busy, busy, busy, busy, busy, busy}, 5 * time.Minute, true},
		"nor when spent":  {[]error{&llm.StatusError{Code: 429, After: 20 * time.Second, Final: true}}, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{}
				for _, err := range c.errs {
					s.then(fails(err))
				}
				a, events := opened(t, &file{}, s, &runner{})
				began := time.Now()
				err := a.Turn(t.Context(), "do it")
				if took := time.Since(began); (err != nil) != c.ends || took < c.takes || took > c.takes+time.Minute {
					t.Errorf("%v after %s", err, took)
				}
				if n := strings.Count(kinds(*events), string(Retrying)); !c.ends && n != len(c.errs) {
					t.Errorf("told of %d retries", n)
				}
			})
		})
	}
}

func TestInterrupted(t *testing.T) {
	for name, c := range map[string]struct {
		model func(interrupt func()) *script
		run   func(interrupt func()) func(context.Context, string, func(Call)) (Result, error)
		keeps string
	}{
		"within an answer": {func(interrupt func()) *script {
			return (&script{}).then(func(ctx context.Context) (llm.Reply, error) {
				interrupt()
				return llm.Reply{}, ctx.Err()
			})
		}, nil, "(The person interrupted you here.)"},
		"within a wait": {func(interrupt func()) *script {
			return (&script{}).then(func(context.Context) (llm.Reply, error) {
				time.AfterFunc(time.Millisecond, interrupt)
				return llm.Reply{}, &llm.StatusError{Code: 503, After: time.Hour / 20}
			})
		}, nil, "(The person interrupted you here.)"},
		"within a program": {
			func(func()) *script { return (&script{}).then(wants("one", "two")) },
			func(interrupt func()) func(context.Context, string, func(Call)) (Result, error) {
				return func(ctx context.Context, _ string, call func(Call)) (Result, error) {
					call(Call{Index: 1, Tool: "files/write", About: "a", State: CallDone})
					call(Call{Index: 2, Tool: "files/write", About: "b", State: CallRefused})
					call(Call{Index: 3, Tool: "files/write", About: "c", State: CallWaits})
					interrupt()
					<-ctx.Done()
					return Result{}, ctx.Err()
				}
			}, "- files/write a\n- files/write c (cut off: not known)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, interrupt := context.WithCancel(t.Context())
				s, r := c.model(interrupt), &runner{}
				if c.run != nil {
					r.run = c.run(interrupt)
				}
				a, _ := opened(t, &file{}, s, r)
				if err := a.Turn(ctx, "do it"); !errors.Is(err, ErrInterrupted) {
					t.Fatal(err)
				}
				if err := a.Turn(t.Context(), "go on"); err != nil {
					t.Fatal(err)
				}
				sent, _ := json.Marshal(s.last())
				keeps, _ := json.Marshal(c.keeps)
				if !bytes.Contains(sent, bytes.Trim(keeps, `"`)) || len(r.ran) > 1 {
					t.Errorf("sent %s, ran %v", sent, r.ran)
				}
			})
		})
	}
}

// A model that does the same again and again is told, and then its turn ends.
func TestTheSameAgainAndAgain(t *testing.T) {
	for name, c := range map[string]struct {
		code       func(n int) string
		warn, ends int
	}{
		"the same program":                   {func(int) string { return "same" }, warnSame, endSame},
		"other programs with one outcome":    {func(n int) string { return fmt.Sprint(n) }, warnSimilar, endSimilar},
		"programs with outcomes of each own": {nil, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s, r := &script{}, &runner{}
			r.run = func(context.Context, string, func(Call)) (Result, error) { return Result{Text: "nothing"}, nil }
			code := c.code
			if code == nil {
				code, r.run = func(n int) string { return fmt.Sprint(n) }, nil
			}
			for n := range 12 {
				s.then(wants(code(n)))
			}
			a, _ := opened(t, &file{}, s, r)
			err := a.Turn(t.Context(), "do it")
			if (err != nil) != (c.ends > 0) || c.ends > 0 && len(r.ran) != c.ends {
				t.Fatalf("%v after %d programs", err, len(r.ran))
			}
			for i, m := range s.last() {
				for _, r := range m.Results {
					if warned := strings.Contains(r.Text, "Do something else"); warned != (c.warn > 0 && (i+1)/2 >= c.warn) {
						t.Errorf("program %d: %q", (i+1)/2, r.Text)
					}
				}
			}
		})
	}
}

// The beginning of a conversation that becomes too long is replaced. The first message, the
// list of effects and the last messages stay.
func TestALongConversation(t *testing.T) {
	s, r, f := &script{}, &runner{}, &file{}
	r.run = func(_ context.Context, code string, call func(Call)) (Result, error) {
		call(Call{Index: 1, Tool: "files/write", About: code, State: CallDone})
		return Result{Text: strings.Repeat(code, 500)}, nil
	}
	long := func(code string, tokens int) func(context.Context) (llm.Reply, error) {
		return func(ctx context.Context) (llm.Reply, error) {
			reply, err := wants(code)(ctx)
			reply.Used.In = tokens
			return reply, err
		}
	}
	for n := range 12 {
		s.then(long(fmt.Sprintf("p%02d", n), 1000))
	}
	s.then(long("p12", fullTokens), says("Done."))
	a, _ := opened(t, f, s, r)
	if err := a.Turn(t.Context(), "the task"); err != nil {
		t.Fatal(err)
	}
	short := 0
	for _, m := range s.last() {
		for _, r := range m.Results {
			if r.Text == "(1500 bytes, no longer shown)" {
				short++
			}
		}
	}
	if short != 13-keptPrograms {
		t.Errorf("%d results are short", short)
	}
	s.then(says("what happened"))
	if err := a.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if asked := s.last(); asked[len(asked)-1].Text != summaryPrompt {
		t.Errorf("asked for a summary: %+v", asked[len(asked)-1])
	}
	again, _ := opened(t, f, s, r) // the file knows
	if err := again.Turn(t.Context(), "more"); err != nil {
		t.Fatal(err)
	}
	sent := s.last()
	first := sent[0].Text
	if !strings.HasPrefix(first, "the task") || !strings.Contains(first, "what happened") || !strings.Contains(first, "- files/write p00 and 12 more of it") ||
		len(sent) > keptMessages+3 || sent[len(sent)-1].Text != "more" {
		t.Errorf("sent %d messages, first %q", len(sent), first)
	}
	if err := again.Compact(t.Context()); err != nil {
		t.Error(err)
	}
	if err := again.Compact(t.Context()); err == nil {
		t.Error("a short conversation is summed up")
	}
}

// FuzzOpenHistory opens what an agent could have written. Whatever it is, each call gets an
// answer in the next turn and no program begins.
func FuzzOpenHistory(f *testing.F) {
	f.Add([]byte(`{"message":{"role":"user","text":"a"}}` + "\n" + `{"message":{"role":"assistant","calls":[{"id":"1","name":"execute_code","arguments":{"code":"x"}}]}}` + "\n" + `{"ticket":{"call":"1","ticket":"t"}}` + "\n"))
	f.Add([]byte(`{"compacted":{"summary":"s","from":1,"short":-1}}` + "\n" + `{"made":[{"index":1,"tool":"a","state":"done"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		file := &file{}
		file.Buffer.Write(data)
		s, r := &script{}, &runner{}
		a, _ := opened(t, file, s, r)
		a.Past()
		if err := a.Turn(t.Context(), "go on"); err != nil || len(r.ran) > 0 {
			t.Fatalf("%v, ran %v", err, r.ran)
		}
	})
}

// A host that goes away while a program runs is no person who interrupts: the call stays open,
// and the next process asks what became of it.
func TestTheHostGoes(t *testing.T) {
	f, s, r := &file{}, (&script{}).then(wants("one", "two")), &runner{}
	ctx, cancel := context.WithCancelCause(t.Context())
	r.run = func(context.Context, string, func(Call)) (Result, error) {
		cancel(ErrGone)
		return Result{}, context.Cause(ctx)
	}
	a, _ := opened(t, f, s, r)
	if err := a.Turn(ctx, "do it"); !errors.Is(err, ErrGone) {
		t.Fatal(err)
	}
	again, events := opened(t, f, s, r)
	if err := again.Begin(t.Context()); err != nil || kinds(*events) != "unfinished" {
		t.Fatal(err, *events)
	}
	if err := again.Turn(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if len(r.resumed) != 1 || r.resumed[0] != "ticket of one" || len(r.ran) != 1 {
		t.Errorf("asked for %v, ran %v", r.resumed, r.ran)
	}
}

// A program that goes on in the next process is shown under its number, and the conversation goes
// on with its result; also if the person interrupts it there. Its calls are kept once.
func TestAProgramGoesOn(t *testing.T) {
	for _, interrupts := range []bool{false, true} {
		f, s, r := &file{}, (&script{}).then(wants("one"), wants("two"), says("Done.")), &runner{}
		ctx, cancel := context.WithCancelCause(t.Context())
		r.run = func(_ context.Context, code string, call func(Call)) (Result, error) {
			call(Call{Index: 1, Tool: "files/write", About: code, State: CallDone})
			if code == "two" {
				cancel(ErrGone)
			}
			return Result{Text: "did " + code}, nil
		}
		a, _ := opened(t, f, s, r)
		if err := a.Turn(ctx, "do it"); !errors.Is(err, ErrGone) {
			t.Fatal(err)
		}
		again, interrupt := context.WithCancelCause(t.Context())
		r.resume = func(_ context.Context, call func(Call)) (Result, error) {
			call(Call{Index: 1, Tool: "files/write", About: "two", State: CallDone})
			if interrupts {
				interrupt(ErrInterrupted)
			}
			return Result{Text: "did two"}, context.Cause(again)
		}
		b, events := opened(t, f, s, r)
		err := b.Turn(again, "")
		interrupt(nil)
		at := slices.IndexFunc(*events, func(e Event) bool { return e.Kind == ProgramBegan })
		if len(r.resumed) != 1 || len(r.ran) != 2 || at < 0 || (*events)[at].Program != 2 || (*events)[at].Text != "two" {
			t.Fatalf("asked for %v, ran %v: %+v", r.resumed, r.ran, *events)
		}
		last := s.last()
		switch results := b.o.History.all[4].Results; {
		case len(b.o.History.made.calls) != 1 || b.o.History.made.calls[0].Alike != 1:
			t.Errorf("kept %+v", b.o.History.made)
		case interrupts && (!errors.Is(err, ErrInterrupted) || !strings.HasPrefix(results[0].Text, interrupted)):
			t.Errorf("%v, %+v", err, results)
		case !interrupts && (err != nil || results[0].Text != "did two" || last[len(last)-1].Results[0].Text != "did two"):
			t.Errorf("%v, %+v", err, results)
		}
		before := len(*events)
		if err := b.Turn(t.Context(), ""); err != nil || len(*events) != before {
			t.Errorf("nothing is unfinished: %v, %+v", err, (*events)[before:])
		}
	}
}
