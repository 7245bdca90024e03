package builtin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm"
)

// Bounds of one turn.
const (
	maxRequests = 100      // to the model, before the turn stops and the person is asked
	maxTokens   = 16384    // that the model may write in one answer
	maxResults  = 64 << 10 // bytes of results of one answer, after which no more of its programs run
	window      = 200_000  // tokens that the model can read
)

// ErrInterrupted is the error of a turn that the person has interrupted.
var ErrInterrupted = errors.New("interrupted")

// errStuck is the error of a turn whose model makes no progress.
var errStuck = errors.New("the model did the same again and again, so its turn was ended: tell it what to do differently")

// Runner runs programs; *Programs is one.
type Runner interface {
	Find(ctx context.Context) (Tool, error)
	Run(ctx context.Context, t Tool, code string, ticket func(string), call func(Call)) (Result, error)
	Resume(ctx context.Context, t Tool, ticket, code string, call func(Call)) (Result, error)
}

// Options are the parts of an agent.
type Options struct {
	Models  func(name string) (llm.Chat, error) // connects to a model
	Model   string                              // the first one to use
	Runner  Runner
	History *History
	// Show is called with each event, one after the other. It may block.
	Show func(Event)
}

// Agent is a running conversation. One turn or compaction runs at a time; another one waits for its
// end.
type Agent struct {
	o      Options
	past   []Event
	turns  sync.Mutex // held during a turn
	tool   Tool       // empty before the first turn
	notes  string     // added to the system prompt
	tokens int        // of the last request and its answer, plus an estimate of what was added since

	mu    sync.Mutex // guards what is below
	chat  llm.Chat
	codes []string // of all the model's calls; empty for a call without a program
}

// New makes an agent that continues a conversation.
func New(o Options) (*Agent, error) {
	chat, err := o.Models(o.Model)
	if err != nil {
		return nil, err
	}
	return &Agent{o: o, past: o.History.past(), chat: chat, codes: o.History.programs(), tokens: estimate(o.History.sent())}, nil
}

// Model returns the name of the model in use.
func (a *Agent) Model() string { return a.model().Name() }

func (a *Agent) model() llm.Chat {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.chat
}

// UseModel uses another model from the next request on.
func (a *Agent) UseModel(name string) error {
	chat, err := a.o.Models(name)
	if err != nil {
		return err
	}
	a.mu.Lock()
	a.chat, chat = chat, a.chat
	a.mu.Unlock()
	chat.Close()
	return nil
}

// Program returns the code of a program by its number, from 1.
func (a *Agent) Program(n int) (code string, known bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if n < 1 || n > len(a.codes) || a.codes[n-1] == "" {
		return "", false
	}
	return a.codes[n-1], true
}

// Past returns the conversation before this process, to be shown again.
func (a *Agent) Past() []Event { return a.past }

// past returns the conversation so far.
func (h *History) past() []Event {
	var all []Event
	n := 0
	for _, m := range h.all {
		for _, r := range m.Results {
			n++
			all = append(all, Event{Kind: ProgramEnded, Program: n, Failed: r.Failed, Text: firstLine(r.Text)})
		}
		switch {
		case m.Text == "":
		case m.Role == llm.User:
			all = append(all, Event{Kind: Asked, Text: m.Text})
		default:
			all = append(all, Event{Kind: Said, Text: m.Text})
		}
	}
	return all
}

func (a *Agent) notice(format string, args ...any) {
	a.o.Show(Event{Kind: Notice, Text: fmt.Sprintf(format, args...)})
}

// Turn sends the person's text to the model and runs its programs until the model wants no more. The
// end of ctx interrupts the turn; the model then learns which calls took effect. An empty text
// continues what is Unfinished.
func (a *Agent) Turn(ctx context.Context, text string) error {
	a.turns.Lock()
	defer a.turns.Unlock()
	resumed, err := a.prepare(ctx)
	if err != nil || text == "" && !resumed {
		return err
	}
	if text != "" {
		if err := a.say(llm.Message{Role: llm.User, Text: text}); err != nil {
			return err
		}
		a.o.Show(Event{Kind: Asked, Text: text})
	}
	guard := newGuard()
	for range maxRequests {
		reply, err := a.ask(ctx)
		switch {
		case gone(ctx, err):
			return ErrGone
		case ctx.Err() != nil:
			return a.interrupted()
		case err != nil:
			return err
		case len(reply.Calls) == 0:
			return nil
		}
		if err := a.carryOut(ctx, reply.Calls, guard); err != nil {
			return err
		}
	}
	a.notice("the model was asked %d times, so the turn ends here: say whether it shall continue", maxRequests)
	return nil
}

// gone reports whether the connection to the host is lost, so that the process must end.
func gone(ctx context.Context, err error) bool {
	return errors.Is(err, ErrGone) || errors.Is(context.Cause(ctx), ErrGone)
}

// interrupted adds a message for the model that the person interrupted it. Calls of its last answer
// get results that say so.
func (a *Agent) interrupted() error {
	m := llm.Message{Role: llm.User, Text: "(The person interrupted you here.)"}
	for _, c := range a.o.History.openCalls() {
		m.Results = append(m.Results, resultOf(c, Result{Text: notBegun + "the person interrupted you.", Failed: true}))
	}
	return errors.Join(ErrInterrupted, a.say(m))
}

// notBegun is the beginning of the result of a program that was not started.
const notBegun = "The program did not begin: "

// say adds a message for the model to the conversation.
func (a *Agent) say(m llm.Message) error {
	a.tokens += estimate([]llm.Message{m})
	return a.o.History.say(m)
}

// Begin waits for the tools, before the first turn. If a program ran when the former process ended,
// Begin shows the event Unfinished.
func (a *Agent) Begin(ctx context.Context) error {
	a.turns.Lock()
	defer a.turns.Unlock()
	if len(a.o.History.openCalls()) > 0 {
		defer a.o.Show(Event{Kind: Unfinished})
	}
	return a.find(ctx)
}

// find waits for the tools.
func (a *Agent) find(ctx context.Context) error {
	tool, err := a.o.Runner.Find(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return ErrInterrupted
		}
		return fmt.Errorf("find the tools: %w", err)
	}
	if a.notes == "" {
		a.notes = tool.Notes // never changed again: requests that begin alike cost less
	}
	a.tool = tool
	return nil
}

// prepare waits for the tools and gets results for the calls that were under way when the former
// process ended. It reports whether a program was resumed.
func (a *Agent) prepare(ctx context.Context) (resumed bool, err error) {
	if err := a.find(ctx); err != nil {
		return false, err
	}
	open := a.o.History.openCalls()
	if len(open) == 0 {
		return false, nil
	}
	results := llm.Message{Role: llm.User}
	var ends error
	for i, c := range open {
		r := Result{Text: interrupted + ": the program did not begin.", Failed: true}
		if t := a.o.History.tickets[c.ID]; t != "" && ends == nil {
			r, ends = a.run(ctx, len(a.codes)-len(open)+i+1, c.ID, codeOf(c), t)
		}
		if errors.Is(ends, ErrGone) {
			return false, ErrGone // the calls stay open
		}
		results.Results = append(results.Results, resultOf(c, r))
		if !strings.HasPrefix(r.Text, interrupted) {
			resumed = true
		} else if ends == nil {
			a.notice("a program was cut off when this session last ended; the model is told what took effect")
		}
	}
	return resumed, errors.Join(ends, a.say(results))
}

// interrupted is the beginning of the result of a program that was cut off.
const interrupted = "INTERRUPTED"

// carryOut runs the programs of an answer and adds their results to the conversation.
func (a *Agent) carryOut(ctx context.Context, wanted []llm.Call, guard *guard) error {
	results := llm.Message{Role: llm.User}
	var ends error
	size := 0
	for _, c := range wanted {
		code, full := codeOf(c), size > maxResults
		a.mu.Lock()
		a.codes = append(a.codes, code)
		n := len(a.codes)
		a.mu.Unlock()
		r := Result{Text: "There is one tool, " + toolName + ", and it needs {code}.", Failed: true}
		switch {
		case ends != nil:
			r.Text = notBegun + "the turn was ended."
		case full:
			r.Text = notBegun + "the results of those before it are too long together. Return less, or run it next."
		case code != "":
			r, ends = a.run(ctx, n, c.ID, code, "")
		}
		size += len(r.Text)
		if errors.Is(ends, ErrGone) {
			return ErrGone // the calls stay open
		}
		if ends == nil && !full {
			warning, end := guard.note(string(c.Arguments), r.Text)
			if warning != "" || end {
				a.o.Show(Event{Kind: Looping, Text: "the model does the same again and again"})
			}
			r.Text += warning
			if end {
				ends = errStuck
			}
		}
		results.Results = append(results.Results, resultOf(c, r))
	}
	return errors.Join(ends, a.say(results))
}

func resultOf(c llm.Call, r Result) llm.Result {
	if strings.TrimSpace(r.Text) == "" {
		r.Text = nothing
	}
	return llm.Result{ID: c.ID, Name: c.Name, Text: r.Text, Failed: r.Failed}
}

// run runs one program or, with a ticket in resumed, resumes it. It adds the calls that took effect to
// the conversation, however the program ends. An error ends the turn.
func (a *Agent) run(ctx context.Context, n int, call, code, resumed string) (Result, error) {
	a.o.Show(Event{Kind: ProgramBegan, Program: n, Text: code})
	var mu sync.Mutex // news may still arrive after the program was abandoned
	var made calls
	var kept error
	over := false
	news := func(c Call) {
		mu.Lock()
		defer mu.Unlock()
		if !over {
			made.report(c)
			a.o.Show(Event{Kind: CallChanged, Program: n, Call: c})
		}
	}
	var r Result
	var err error
	if resumed != "" {
		r, err = a.o.Runner.Resume(ctx, a.tool, resumed, code, news)
	} else {
		r, err = a.o.Runner.Run(ctx, a.tool, code, func(t string) {
			mu.Lock()
			defer mu.Unlock()
			if !over {
				kept = a.o.History.add(entry{Ticket: &ticket{Call: call, Ticket: t}})
			}
		}, news)
	}
	mu.Lock()
	over = true
	mu.Unlock()
	if err = errors.Join(err, kept); gone(ctx, err) {
		return Result{}, ErrGone
	}
	effective := made.effective()
	if len(effective.calls) > 0 {
		err = errors.Join(err, a.o.History.add(entry{Made: effective.calls, Left: effective.left}))
	}
	switch {
	case ctx.Err() != nil:
		r, err = Result{Text: interrupted + ": the person interrupted the program. " + effective.list(), Failed: true}, ErrInterrupted
	case err != nil:
		r = Result{Text: "The program was lost: " + err.Error() + ". " + effective.list(), Failed: true}
	}
	a.o.Show(Event{Kind: ProgramEnded, Program: n, Failed: r.Failed, Text: firstLine(r.Text)})
	return r, err
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
