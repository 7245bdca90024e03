package builtin

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm"
)

// How a model is asked again that could not answer.
const (
	firstWait = time.Second
	longest   = time.Minute
	patience  = 5 * time.Minute // in all, for one answer
)

// ask asks the model to go on, and keeps what it answers.
func (a *Agent) ask(ctx context.Context) (llm.Reply, error) {
	if err := a.makeRoom(ctx); err != nil {
		return llm.Reply{}, err
	}
	reply, err := a.request(ctx, a.o.History.sent(), true)
	if err != nil {
		return reply, err
	}
	m := llm.Message{Role: llm.Assistant, Text: reply.Text, Calls: reply.Calls}
	if m.Text == "" && len(m.Calls) == 0 {
		m.Text = "(nothing)" // a message has to have something in it
	}
	if err := a.o.History.say(m); err != nil {
		return reply, err
	}
	a.o.Show(Event{Kind: Said, Text: reply.Text})
	if reply.Cut {
		a.notice("the answer is longer than it may be, so it ends here")
	}
	a.tokens = reply.Used.In + reply.Used.Out
	a.o.Show(Event{Kind: Used, Tokens: a.tokens, Window: window, Model: a.Model()})
	return reply, nil
}

// request sends the messages, and again where that can help. shown says whether the model's
// words are shown as they arrive.
func (a *Agent) request(ctx context.Context, messages []llm.Message, shown bool) (llm.Reply, error) {
	r := llm.Request{
		System: joined(system, a.o.Notes), Messages: messages, MaxTokens: maxTokens,
		Tools: []llm.Tool{{Name: toolName, Description: a.tool.Description, Schema: toolSchema}},
	}
	said := func(string) {}
	if shown {
		said = func(piece string) { a.o.Show(Event{Kind: Saying, Text: piece}) }
	}
	var waited time.Duration
	for wait := firstWait; ; wait = min(2*wait, longest) {
		reply, err := a.model().Reply(ctx, r, said)
		if err == nil || ctx.Err() != nil || !llm.Transient(err) {
			return reply, err
		}
		pause := wait*3/4 + rand.N(wait/2) //nolint:gosec // no secret depends on it
		var status *llm.StatusError
		if errors.As(err, &status) && status.After > 0 {
			pause = status.After
		}
		if waited += pause; waited > patience {
			return reply, err
		}
		if shown {
			a.o.Show(Event{Kind: Said}) // what arrived of the answer does not count
		}
		a.o.Show(Event{Kind: Retrying, Text: err.Error(), Until: time.Now().Add(pause)})
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return reply, context.Cause(ctx)
		}
	}
}
