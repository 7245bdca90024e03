package builtin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm"
)

// When a conversation becomes too long for its model.
const (
	fullTokens   = window * 3 / 4
	keptPrograms = 6  // whose results stay whole at first
	keptMessages = 10 // that stay when the rest is summed up
)

// wanted is what a model is asked for a summary.
const wanted = `Sum up this conversation for somebody who goes on with it and sees nothing else of it but the first message and the last ones: what the person wants, what was found out, what was done and how, what is left to do, and what the person said about how to do it. Facts, names and paths, no more than 1000 words.`

// makeRoom makes the conversation shorter when it is nearly too long: first by the results of
// old programs, and when that was done already by a summary.
func (a *Agent) makeRoom(ctx context.Context) error {
	if a.tokens < fullTokens {
		return nil
	}
	if short := a.shortBefore(); short > a.o.History.now.Short {
		now := a.o.History.now
		now.Short = short
		if err := a.o.History.add(entry{Compacted: &now}); err != nil {
			return err
		}
		a.o.Show(Event{Kind: Compacting, Text: "results of old programs are not sent to the model any more"})
		if a.tokens = estimate(a.o.History.sent()); a.tokens < fullTokens {
			return nil
		}
	}
	if err := a.sumUp(ctx); !errors.Is(err, errShort) {
		return err
	}
	return nil // it may be that the tokens were counted oddly
}

// errShort means that there is nothing to be summed up.
var errShort = errors.New("the conversation is too short to be summed up")

// shortBefore is the first message whose results still have to be whole.
func (a *Agent) shortBefore() int {
	left := keptPrograms
	for i := len(a.o.History.all) - 1; i >= 0; i-- {
		if len(a.o.History.all[i].Results) == 0 {
			continue
		}
		if left--; left < 0 {
			return i + 1
		}
	}
	return 0
}

// Compact sums the conversation up because the person wants that.
func (a *Agent) Compact(ctx context.Context) error {
	a.turns.Lock()
	defer a.turns.Unlock()
	if len(a.o.History.open()) > 0 {
		if _, err := a.prepare(ctx); err != nil {
			return err
		}
	}
	return a.sumUp(ctx)
}

// sumUp replaces what lies between the first message and the last ones by a summary. The list
// of calls that took effect stays, word for word.
func (a *Agent) sumUp(ctx context.Context) error {
	h := a.o.History
	from := len(h.all) - keptMessages
	for from > 0 && len(h.all[from].Results) > 0 { // whose calls would be missing
		from--
	}
	if from <= max(h.now.From, 1) {
		return errShort
	}
	a.o.Show(Event{Kind: Compacting, Text: "the conversation is summed up"})
	until := *h
	until.all = append(slices.Clip(h.all[:from]), llm.Message{Role: llm.User, Text: wanted})
	reply, err := a.request(ctx, until.sent(), false)
	if err != nil {
		return fmt.Errorf("sum the conversation up: %w", err)
	}
	summary := strings.TrimSpace(reply.Text)
	if summary == "" {
		return errors.New("sum the conversation up: the model wrote nothing")
	}
	if err := h.add(entry{Compacted: &compacted{Summary: summary, From: from, Short: h.now.Short}}); err != nil {
		return err
	}
	a.tokens = estimate(h.sent())
	a.o.Show(Event{Kind: Used, Tokens: a.tokens, Window: window, Model: a.Model()})
	return nil
}

// estimate is about how many tokens messages are.
func estimate(messages []llm.Message) int {
	bytes := 0
	for _, m := range messages {
		bytes += len(m.Text)
		for _, c := range m.Calls {
			bytes += len(c.Arguments)
		}
		for _, r := range m.Results {
			bytes += len(r.Text)
		}
	}
	return bytes / 4
}
