package scripted

import (
	"crypto/rand"
	"time"
)

// response is one answer of the Responses API that is being sent.
type response struct {
	id     string
	model  string
	input  int // tokens of the request
	answer answer
	items  []responseItem
}

// responseItem is one item of an answer.
type responseItem struct {
	item  map[string]any // as the finished answer holds it
	text  string         // what its deltas add up to
	delta string         // name of its deltas; empty for an item that comes whole
}

func newResponse(model string, input int, a answer) *response {
	r := &response{id: "resp_" + rand.Text(), model: model, input: input, answer: a}
	if a.text != "" || a.call == nil && a.search == "" {
		r.items = append(r.items, responseItem{text: a.text, delta: "response.output_text", item: map[string]any{
			"id": "msg_" + rand.Text(), "type": "message", "role": "assistant",
			"content": []any{map[string]any{"type": "output_text", "text": a.text, "annotations": []any{}}},
		}})
	}
	if a.call != nil && a.call.code {
		r.items = append(r.items, responseItem{text: a.call.program(), delta: "response.custom_tool_call_input", item: map[string]any{
			"id": "ctc_" + rand.Text(), "type": "custom_tool_call", "call_id": "call_" + rand.Text(),
			"name": codeTool, "namespace": a.call.space, "input": a.call.program(),
		}})
	} else if a.call != nil {
		item := map[string]any{
			"id": "fc_" + rand.Text(), "type": "function_call", "call_id": "call_" + rand.Text(),
			"name": a.call.tool, "arguments": encode(a.call.input),
		}
		if a.call.space != "" {
			item["namespace"] = a.call.space
		}
		r.items = append(r.items, responseItem{text: encode(a.call.input), delta: "response.function_call_arguments", item: item})
	}
	if a.search != "" {
		r.items = append(r.items, responseItem{item: map[string]any{
			"id": "ts_" + rand.Text(), "type": "tool_search_call", "call_id": "call_" + rand.Text(),
			"execution": "client", "arguments": map[string]any{"query": a.search, "limit": 8},
		}})
	}
	return r
}

// with is a copy of the item with its status and other members.
func (i responseItem) with(status string, members map[string]any) map[string]any {
	item := map[string]any{"status": status}
	for _, from := range []map[string]any{i.item, members} {
		for name, value := range from {
			item[name] = value
		}
	}
	return item
}

// empty is the item before its first delta.
func (i responseItem) empty() map[string]any {
	switch i.item["type"] {
	case "message":
		return i.with("in_progress", map[string]any{"content": []any{}})
	case "function_call":
		return i.with("in_progress", map[string]any{"arguments": ""})
	case "custom_tool_call":
		return i.with("in_progress", map[string]any{"input": ""})
	}
	return i.with("in_progress", nil)
}

// whole is the answer as one JSON object.
func (r *response) whole(status string) map[string]any {
	output, size := []any{}, 0
	if status == "completed" {
		for _, i := range r.items {
			output = append(output, i.with("completed", nil))
			size += len(i.text)
		}
	}
	return map[string]any{
		"id": r.id, "object": "response", "created_at": time.Now().Unix(), "status": status, "model": r.model,
		"output": output, "parallel_tool_calls": false, "tool_choice": "auto", "tools": []any{},
		"error": nil, "incomplete_details": nil, "store": false,
		"usage": map[string]any{
			"input_tokens": r.input, "input_tokens_details": map[string]any{"cached_tokens": 0},
			"output_tokens": tokens(size), "output_tokens_details": map[string]any{"reasoning_tokens": 0},
			"total_tokens": r.input + tokens(size),
		},
	}
}

// stream writes the answer as events, each with its number.
func (r *response) stream(events *eventWriter) {
	number := 0
	send := func(name string, data map[string]any) {
		data["sequence_number"] = number
		number++
		events.send(name, data)
	}
	send("response.created", map[string]any{"response": r.whole("in_progress")})
	send("response.in_progress", map[string]any{"response": r.whole("in_progress")})
	for n, i := range r.items {
		send("response.output_item.added", map[string]any{"output_index": n, "item": i.empty()})
		at := func(members map[string]any) map[string]any {
			members["item_id"], members["output_index"] = i.item["id"], n
			if i.item["type"] == "message" {
				members["content_index"] = 0
			}
			return members
		}
		i.deltas(events, send, at)
		send("response.output_item.done", map[string]any{"output_index": n, "item": i.with("completed", nil)})
	}
	send("response.completed", map[string]any{"response": r.whole("completed")})
}

// deltas writes an item's text piece by piece.
func (i responseItem) deltas(events *eventWriter, send func(string, map[string]any), at func(map[string]any) map[string]any) {
	if i.delta == "" {
		return
	}
	part := func(text string) map[string]any {
		return at(map[string]any{"part": map[string]any{"type": "output_text", "text": text, "annotations": []any{}}})
	}
	message := i.item["type"] == "message"
	if message {
		send("response.content_part.added", part(""))
	}
	for _, piece := range pieces(i.text) {
		events.pause()
		send(i.delta+".delta", at(map[string]any{"delta": piece}))
	}
	if message {
		send(i.delta+".done", at(map[string]any{"text": i.text}))
		send("response.content_part.done", part(i.text))
		return
	}
	member := "arguments"
	if i.item["type"] == "custom_tool_call" {
		member = "input"
	}
	send(i.delta+".done", at(map[string]any{member: i.text}))
}
