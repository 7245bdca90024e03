package scripted

import (
	"context"
	"crypto/rand"
	"net/http"
	"time"
)

// anthropicAnswer is one answer that is being sent.
type anthropicAnswer struct {
	id      string
	model   string
	input   int // tokens of the request
	answer  answer
	content []anthropicPart
}

// anthropicPart is one content block of an answer.
type anthropicPart struct {
	start  map[string]any // as content_block_start announces it
	whole  map[string]any // as a message that is not streamed holds it
	delta  string         // type of its deltas
	member string         // of a delta, that holds a piece
	text   string         // what the deltas add up to
}

func newAnthropicMessage(model string, input int, a answer) *anthropicAnswer {
	m := &anthropicAnswer{id: "msg_" + rand.Text(), model: model, input: input, answer: a}
	if a.text != "" || a.call == nil {
		m.content = append(m.content, anthropicPart{
			start: map[string]any{"type": "text", "text": ""},
			whole: map[string]any{"type": "text", "text": a.text},
			delta: "text_delta", member: "text", text: a.text,
		})
	}
	if a.call != nil {
		id := "toolu_" + rand.Text()
		m.content = append(m.content, anthropicPart{
			start: map[string]any{"type": "tool_use", "id": id, "name": a.call.tool, "input": map[string]any{}},
			whole: map[string]any{"type": "tool_use", "id": id, "name": a.call.tool, "input": a.call.input},
			delta: "input_json_delta", member: "partial_json", text: encode(a.call.input),
		})
	}
	return m
}

// stopReason says why the answer ends: it is over, or a tool must run first.
func (m *anthropicAnswer) stopReason() string {
	if m.answer.call != nil {
		return "tool_use"
	}
	return "end_turn"
}

// output is the number of tokens in the answer.
func (m *anthropicAnswer) output() int {
	size := 0
	for _, p := range m.content {
		size += len(p.text)
	}
	return tokens(size)
}

func (m *anthropicAnswer) usage(output int) map[string]any {
	return map[string]any{
		"input_tokens":                m.input,
		"cache_creation_input_tokens": 0,
		"cache_read_input_tokens":     0,
		"output_tokens":               output,
		"service_tier":                "standard",
	}
}

// message is the envelope of an answer.
func (m *anthropicAnswer) message(content []any, stop any, output int) map[string]any {
	return map[string]any{
		"id": m.id, "type": "message", "role": "assistant", "model": m.model,
		"content": content, "stop_reason": stop, "stop_sequence": nil,
		"usage": m.usage(output),
	}
}

// whole is the answer as one JSON object.
func (m *anthropicAnswer) whole() map[string]any {
	content := []any{}
	for _, p := range m.content {
		content = append(content, p.whole)
	}
	return m.message(content, m.stopReason(), m.output())
}

// stream writes the answer as server-sent events, a few characters each with
// delay in between. It stops early when the client goes away.
func (m *anthropicAnswer) stream(ctx context.Context, w http.ResponseWriter, delay time.Duration) {
	events := newEventWriter(ctx, w, delay)
	events.send("message_start", map[string]any{"message": m.message([]any{}, nil, 1)})
	events.send("ping", map[string]any{})
	for i, p := range m.content {
		events.send("content_block_start", map[string]any{"index": i, "content_block": p.start})
		for _, piece := range pieces(p.text) {
			events.pause()
			events.send("content_block_delta", map[string]any{"index": i, "delta": map[string]any{"type": p.delta, p.member: piece}})
		}
		events.send("content_block_stop", map[string]any{"index": i})
	}
	events.send("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": m.stopReason(), "stop_sequence": nil},
		"usage": map[string]any{"output_tokens": m.output()},
	})
	events.send("message_stop", map[string]any{})
}
