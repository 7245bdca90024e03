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
	keptPrograms = 6  // the last messages with results, which are not shortened
	keptMessages = 10 // the last messages, which are not summed up
)

// summaryPrompt asks the model for a summary.
const summaryPrompt = `Sum up this conversation for somebody who goes on with it and sees nothing else of it but the first message and the last ones: what the person wants, what was found out, what was done and how, what is left to do, and what the person said about how to do it. Facts, names and paths, no more than 1000 words.`

// makeRoom makes the conversation shorter when it is nearly too long: it leaves out the results of
// old programs and, if that is not enough, replaces old messages by a summary.
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
		a.o.Show(Event{Kind: Compacting, Text: "the results of old programs are no longer sent to the model"})
		if a.tokens = estimate(a.o.History.sent()); a.tokens < fullTokens {
			return nil
		}
	}
	if err := a.sumUp(ctx); !errors.Is(err, errShort) {
		return err
	}
	return nil // too short after all: the provider may count tokens differently
}

// errShort means that there is nothing to sum up.
var errShort = errors.New("the conversation is too short to be summed up")

// shortBefore returns the index of the first message whose results are sent in full.
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

// Compact replaces old messages by a summary at the person's request.
func (a *Agent) Compact(ctx context.Context) error {
	a.turns.Lock()
	defer a.turns.Unlock()
	if len(a.o.History.openCalls()) > 0 {
		if _, err := a.prepare(ctx); err != nil {
			return err
		}
	}
	return a.sumUp(ctx)
}

// sumUp replaces the messages between the first and the last ones by a summary. The list of calls
// that took effect stays as it is.
func (a *Agent) sumUp(ctx context.Context) error {
	h := a.o.History
	from := len(h.all) - keptMessages
	for from > 0 && len(h.all[from].Results) > 0 { // results need the message with their calls
		from--
	}
	if from <= max(h.now.From, 1) {
		return errShort
	}
	a.o.Show(Event{Kind: Compacting, Text: "the conversation is summed up"})
	until := *h
	until.all = append(slices.Clip(h.all[:from]), llm.Message{Role: llm.User, Text: summaryPrompt})
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

// estimate returns roughly how many tokens messages have.
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
