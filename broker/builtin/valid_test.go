package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm"
)

// named is what all providers take as the name of a tool.
var named = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// valid checks that every provider takes the messages: the person's first and then in turns,
// no empty text, to each call exactly one result in the next message, each id once.
func valid(t *testing.T, messages []llm.Message) {
	t.Helper()
	ids := map[string]bool{}
	var open []llm.Call
	for i, m := range messages {
		want := llm.User
		if i%2 == 1 {
			want = llm.Assistant
		}
		if m.Role != want {
			t.Errorf("message %d is of %s", i, m.Role)
		}
		if m.Text != "" && strings.TrimSpace(m.Text) == "" || m.Text == "" && len(m.Calls)+len(m.Results) == 0 {
			t.Errorf("message %d says %q", i, m.Text)
		}
		if len(m.Results) != len(open) {
			t.Errorf("message %d has %d results of %d calls", i, len(m.Results), len(open))
		}
		for n, r := range m.Results {
			if n < len(open) && (r.ID != open[n].ID || r.Name != open[n].Name) {
				t.Errorf("message %d: result %d is of %s", i, n, r.ID)
			}
			if strings.TrimSpace(r.Text) == "" {
				t.Errorf("message %d: result %d says nothing", i, n)
			}
		}
		for _, c := range m.Calls {
			if ids[c.ID] {
				t.Errorf("message %d: the id %q was there before", i, c.ID)
			}
			ids[c.ID] = true
			if !named.MatchString(c.Name) {
				t.Errorf("message %d calls %q", i, c.Name)
			}
			if strings.Contains(string(c.Arguments), `\ud8`) {
				t.Errorf("message %d: half a character in %s", i, c.Arguments)
			}
		}
		open = m.Calls
	}
	if len(open) > 0 {
		t.Errorf("%d calls have no result", len(open))
	}
}

func answers(r llm.Reply) func(context.Context) (llm.Reply, error) {
	return func(context.Context) (llm.Reply, error) { return r, nil }
}

func call(id, name, arguments string) llm.Call {
	return llm.Call{ID: id, Name: name, Arguments: json.RawMessage(arguments)}
}

// Whatever a model answers, the conversation stays one that each provider takes.
func TestWhateverAModelAnswers(t *testing.T) {
	many := llm.Reply{}
	for n := range 5000 {
		many.Calls = append(many.Calls, call(fmt.Sprint(n), toolName, fmt.Sprintf(`{"code":"%d"}`, n)))
	}
	for name, r := range map[string]llm.Reply{
		"nothing":              {},
		"blanks":               {Text: "\n\n "},
		"blanks and a call":    {Text: "\n\n", Calls: []llm.Call{call("a", toolName, `{"code":"one"}`)}},
		"calls with one id":    {Calls: []llm.Call{call("a", toolName, `{"code":"one"}`), call("a", toolName, `{"code":"two"}`)}},
		"tools with any names": {Calls: []llm.Call{call("a", "ls -la /", `{}`), call("b", strings.Repeat("x", 1000), `{}`), call("c", "bäh", `{}`)}},
		"a call of nothing":    {Calls: []llm.Call{call("a", toolName, `{"code":""}`), call("b", toolName, `{}`), call("c", toolName, `{"code":1}`)}},
		"half a character":     {Calls: []llm.Call{call("a", toolName, `{"code":"x\ud83d"}`)}},
		"a silent program":     {Calls: []llm.Call{call("a", toolName, `{"code":"silent"}`)}},
		"very many calls":      many,
	} {
		t.Run(name, func(t *testing.T) {
			s, r := (&script{}).then(answers(r), answers(r), says("Done.")), &runner{}
			ran := 0
			r.run = func(_ context.Context, code string, _ func(Call)) (Result, error) {
				ran++
				if code == "silent" {
					return Result{}, nil
				}
				return Result{Text: code}, nil
			}
			a, _ := opened(t, &file{}, s, r)
			for range 3 {
				if err := a.Turn(t.Context(), "do it"); err != nil && !errors.Is(err, errStuck) {
					t.Fatal(err)
				}
			}
			valid(t, s.last())
			if ran > 2*64 {
				t.Errorf("%d programs ran", ran)
			}
		})
	}
}

// A person who interrupts at the moment at which an answer has arrived leaves no call without
// a result.
func TestInterruptedAfterAnAnswer(t *testing.T) {
	ctx, interrupt := context.WithCancelCause(t.Context())
	s, r := &script{}, &runner{}
	s.then(func(ctx context.Context) (llm.Reply, error) {
		defer interrupt(ErrInterrupted)
		return wants("one", "two")(ctx)
	})
	a, _ := opened(t, &file{}, s, r)
	if err := a.Turn(ctx, "do it"); !errors.Is(err, ErrInterrupted) {
		t.Fatal(err)
	}
	if err := a.Turn(t.Context(), "go on"); err != nil {
		t.Fatal(err)
	}
	valid(t, s.last())
	if len(r.ran) > 0 {
		t.Errorf("ran %v", r.ran)
	}
}

// Many long results of one answer do not make a conversation that no model can read.
func TestManyLongResults(t *testing.T) {
	s, r := &script{}, &runner{}
	r.run = func(_ context.Context, code string, _ func(Call)) (Result, error) {
		return Result{Text: code + strings.Repeat(" long", 32<<10/5)}, nil
	}
	for turn := range 30 {
		var codes []string
		for n := range 64 {
			codes = append(codes, fmt.Sprintf("%d.%d", turn, n))
		}
		s.then(func(ctx context.Context) (llm.Reply, error) {
			reply, err := wants(codes...)(ctx)
			reply.Used.In = estimate(s.last())
			return reply, err
		})
		s.then(says("Done."))
	}
	a, _ := opened(t, &file{}, s, r)
	for range 30 {
		if err := a.Turn(t.Context(), "do it"); err != nil {
			t.Fatal(err)
		}
		if n := estimate(s.last()); n > window {
			t.Fatalf("%d tokens are sent", n)
		}
	}
	valid(t, s.last())
}

// A provider that counts oddly does not end a short conversation.
func TestOddCounts(t *testing.T) {
	s := &script{}
	for range 3 {
		s.then(answers(llm.Reply{Text: "Here.", Used: llm.Tokens{In: 1 << 40}}))
	}
	a, _ := opened(t, &file{}, s, &runner{})
	for range 3 {
		if err := a.Turn(t.Context(), "do it"); err != nil {
			t.Fatal(err)
		}
	}
}
