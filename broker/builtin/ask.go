package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm"
)

// How a request is repeated after an error that may pass.
const (
	firstWait = time.Second
	maxWait   = time.Minute
	patience  = 5 * time.Minute // in all, for one answer
)

// Bounds of the calls of one answer.
const (
	maxCalls = 64
	maxID    = 64 // bytes of an ID, and of a name
)

// nothing replaces an empty text, which no provider accepts.
const nothing = "(nothing)"

// notInName matches the characters that the name of a tool may not have.
var notInName = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// normalize changes calls so that every provider accepts them, with their results, in later requests:
// with unique IDs, names that a tool could have, and valid UTF-8.
func (h *History) normalize(calls []llm.Call) []llm.Call {
	calls = slices.Clone(calls)
	for i := range calls {
		c := &calls[i]
		for n := len(h.ids); h.ids[c.ID] || len(c.ID) > maxID; n++ {
			c.ID = fmt.Sprintf("call-%d", n)
		}
		h.ids[c.ID] = true
		c.Name = notInName.ReplaceAllString(c.Name, "_")
		c.Name = c.Name[:min(len(c.Name), maxID)]
		var arguments map[string]any
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false) // escapes would make it harder to read for the model
		if json.Unmarshal(c.Arguments, &arguments) == nil && e.Encode(arguments) == nil {
			c.Arguments = bytes.TrimSpace(b.Bytes())
		}
	}
	return calls
}

// ask sends the conversation to the model and adds its answer.
func (a *Agent) ask(ctx context.Context) (llm.Reply, error) {
	if err := a.makeRoom(ctx); err != nil {
		return llm.Reply{}, err
	}
	reply, err := a.request(ctx, a.o.History.sent(), true)
	if err != nil {
		return reply, err
	}
	if n := len(reply.Calls); n > maxCalls {
		a.notice("the answer has %d programs; those after the first %d do not run", n, maxCalls)
		reply.Calls = reply.Calls[:maxCalls]
	}
	reply.Calls = a.o.History.normalize(reply.Calls)
	m := llm.Message{Role: llm.Assistant, Text: reply.Text, Calls: reply.Calls}
	if strings.TrimSpace(m.Text) == "" {
		m.Text = "" // no provider accepts a text of blanks
	}
	if m.Text == "" && len(m.Calls) == 0 {
		m.Text = nothing
	}
	if err := a.o.History.say(m); err != nil {
		return reply, err
	}
	a.o.Show(Event{Kind: Said, Text: reply.Text})
	if reply.Cut {
		a.notice("the answer reached its maximum length and ends here")
	}
	a.tokens = reply.Used.In + reply.Used.Out
	a.o.Show(Event{Kind: Used, Tokens: a.tokens, Window: window, Model: a.Model()})
	return reply, nil
}

// request sends the messages, and repeats that after errors that may pass. With shown, the answer is
// shown as it arrives.
func (a *Agent) request(ctx context.Context, messages []llm.Message, shown bool) (llm.Reply, error) {
	r := llm.Request{
		System: joined(system, a.notes), Messages: messages, MaxTokens: maxTokens,
		Tools: []llm.Tool{{Name: toolName, Description: a.tool.Description, Schema: toolSchema}},
	}
	said := func(string) {}
	if shown {
		said = func(piece string) { a.o.Show(Event{Kind: Saying, Text: piece}) }
	}
	var waited time.Duration
	for wait := firstWait; ; wait = min(2*wait, maxWait) {
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
			a.o.Show(Event{Kind: Said}) // discards what has arrived of the answer
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
