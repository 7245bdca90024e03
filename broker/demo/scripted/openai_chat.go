package scripted

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// OpenAI's Chat Completions API: POST /v1/chat/completions, streaming or not.

// chatRequest is what is read of a request's body.
type chatRequest struct {
	Model     string        `json:"model"`
	Messages  []chatMessage `json:"messages"`
	Tools     []chatTool    `json:"tools"`
	Stream    bool          `json:"stream"`
	MaxTokens int           `json:"max_tokens"`
	MaxNew    int           `json:"max_completion_tokens"`

	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	ResponseFormat struct {
		JSONSchema struct {
			Schema *schema `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
}

type chatMessage struct {
	Role    string        `json:"role"`
	Content openaiContent `json:"content"`
}

type chatTool struct {
	Function struct {
		Name       string `json:"name"`
		Parameters schema `json:"parameters"`
	} `json:"function"`
}

// decodeChat reads a body and refuses what the provider would refuse.
func decodeChat(body []byte) (*chatRequest, error) {
	var r chatRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, fmt.Errorf("the request body is not valid: %w", err)
	}
	switch {
	case r.Model == "":
		return nil, errors.New("you must provide a model parameter")
	case len(r.Messages) == 0:
		return nil, errors.New("Missing required parameter: 'messages'.") //nolint:revive,staticcheck // the provider's own words
	}
	return &r, nil
}

// conversation translates the request for the script.
func (r *chatRequest) conversation() *conversation {
	c := &conversation{limit: max(r.MaxTokens, r.MaxNew), schema: r.ResponseFormat.JSONSchema.Schema}
	for _, t := range r.Tools {
		if t.Function.Name != "" {
			c.tools = append(c.tools, tool{name: t.Function.Name, input: t.Function.Parameters})
		}
	}
	for _, m := range r.Messages {
		switch m.Role {
		case "system", "developer":
			c.system += "\n" + m.Content.text()
		case "user":
			c.said(m.Content)
		case "tool":
			c.results = append(c.results, m.Content.result())
		}
	}
	return c
}

// openaiChat answers POST /v1/chat/completions.
func (s *Server) openaiChat(w http.ResponseWriter, r *http.Request, body []byte, e *Request) {
	request, err := decodeChat(body)
	if err != nil {
		openaiError(w, http.StatusBadRequest, err.Error())
		return
	}
	c := request.conversation()
	a := reply(c)
	e.describe(request.Model, request.Stream, c, a)
	completion := &chatCompletion{id: "chatcmpl-" + rand.Text(), model: request.Model, input: tokens(len(body)), answer: a}
	if request.Stream {
		completion.stream(newEventWriter(r.Context(), w, s.delay), request.StreamOptions.IncludeUsage)
		return
	}
	writeJSON(w, http.StatusOK, completion.whole())
}

// chatCompletion is one answer that is being sent.
type chatCompletion struct {
	id     string
	model  string
	input  int // tokens of the request
	answer answer
}

// finish says why the answer ends.
func (c *chatCompletion) finish() string {
	if c.answer.call != nil {
		return "tool_calls"
	}
	return "stop"
}

func (c *chatCompletion) usage() map[string]any {
	size := len(c.answer.text)
	if c.answer.call != nil {
		size += len(encode(c.answer.call.input))
	}
	return map[string]any{
		"prompt_tokens": c.input, "completion_tokens": tokens(size), "total_tokens": c.input + tokens(size),
		"prompt_tokens_details": map[string]any{"cached_tokens": 0},
	}
}

func (c *chatCompletion) envelope(kind string) map[string]any {
	return map[string]any{"id": c.id, "object": kind, "created": time.Now().Unix(), "model": c.model}
}

// toolCall is the call in the provider's shape.
func (c *chatCompletion) toolCall(id, arguments string) map[string]any {
	return map[string]any{"index": 0, "id": id, "type": "function", "function": map[string]any{
		"name": c.answer.call.tool, "arguments": arguments,
	}}
}

// whole is the answer as one JSON object.
func (c *chatCompletion) whole() map[string]any {
	message := map[string]any{"role": "assistant", "content": c.answer.text}
	if c.answer.call != nil {
		message["tool_calls"] = []any{c.toolCall("call_"+rand.Text(), encode(c.answer.call.input))}
	}
	all := c.envelope("chat.completion")
	all["choices"] = []any{map[string]any{"index": 0, "message": message, "finish_reason": c.finish(), "logprobs": nil}}
	all["usage"] = c.usage()
	return all
}

// stream writes the answer as events; the last one only marks the end.
func (c *chatCompletion) stream(events *eventWriter, usage bool) {
	chunk := func(delta map[string]any, finish any) {
		all := c.envelope("chat.completion.chunk")
		all["choices"] = []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}
		events.data(all)
	}
	chunk(map[string]any{"role": "assistant", "content": ""}, nil)
	if c.answer.text != "" {
		for _, piece := range pieces(c.answer.text) {
			events.pause()
			chunk(map[string]any{"content": piece}, nil)
		}
	}
	if c.answer.call != nil {
		chunk(map[string]any{"tool_calls": []any{c.toolCall("call_"+rand.Text(), "")}}, nil)
		for _, piece := range pieces(encode(c.answer.call.input)) {
			events.pause()
			chunk(map[string]any{"tool_calls": []any{map[string]any{
				"index": 0, "function": map[string]any{"arguments": piece},
			}}}, nil)
		}
	}
	chunk(map[string]any{}, c.finish())
	if usage {
		all := c.envelope("chat.completion.chunk")
		all["choices"], all["usage"] = []any{}, c.usage()
		events.data(all)
	}
	events.write("data: [DONE]")
}
