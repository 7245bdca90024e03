package scripted

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// flushRecorder collects a streamed answer; unlike the one in httptest it fails
// a test that never flushes.
type flushRecorder struct {
	bytes.Buffer
	header  http.Header
	flushes int
}

func (r *flushRecorder) Header() http.Header { return r.header }
func (r *flushRecorder) WriteHeader(int)     {}
func (r *flushRecorder) Flush()              { r.flushes++ }

// event is one server-sent event.
type event struct {
	name string
	data map[string]any
}

// parseEvents reads a stream by the letter: an event line, a data line, an
// empty line, nothing else.
func parseEvents(stream string) ([]event, error) {
	if !strings.HasSuffix(stream, "\n\n") {
		return nil, fmt.Errorf("the stream does not end with an empty line")
	}
	var events []event
	for i, part := range strings.Split(strings.TrimSuffix(stream, "\n\n"), "\n\n") {
		lines := strings.Split(part, "\n")
		if len(lines) != 2 {
			return nil, fmt.Errorf("event %d has %d lines: %q", i, len(lines), part)
		}
		name, ok1 := strings.CutPrefix(lines[0], "event: ")
		data, ok2 := strings.CutPrefix(lines[1], "data: ")
		if !ok1 || !ok2 {
			return nil, fmt.Errorf("event %d is %q", i, part)
		}
		e := event{name: name}
		if err := json.Unmarshal([]byte(data), &e.data); err != nil {
			return nil, fmt.Errorf("event %d: %w", i, err)
		}
		if e.data["type"] != name {
			return nil, fmt.Errorf("event %s says it is of type %v", name, e.data["type"])
		}
		events = append(events, e)
	}
	return events, nil
}

// assembled is what a client makes of a stream.
type assembled struct {
	text, tool, input, stop string
	output                  float64
}

// assemble plays a client that accepts nothing but the documented order:
// message_start, then per block start, deltas, stop with rising indexes, then
// message_delta and message_stop. Pings may come anywhere after the start.
func assemble(events []event) (assembled, error) {
	var got assembled
	open, next, state := -1, 0, "begin"
	for _, e := range events {
		index, _ := e.data["index"].(float64)
		delta, _ := e.data["delta"].(map[string]any)
		switch {
		case e.name == "message_start" && state == "begin":
			m, _ := e.data["message"].(map[string]any)
			usage, _ := m["usage"].(map[string]any)
			if m["role"] != "assistant" || m["id"] == "" || m["stop_reason"] != nil || usage["input_tokens"] == nil {
				return got, fmt.Errorf("message_start holds %v", m)
			}
			state = "message"
		case e.name == "ping" && state == "message":
		case e.name == "content_block_start" && state == "message" && open < 0 && int(index) == next:
			open, next = next, next+1
			block, _ := e.data["content_block"].(map[string]any)
			if block["type"] == "tool_use" {
				got.tool, _ = block["name"].(string)
			}
		case e.name == "content_block_delta" && open >= 0 && int(index) == open:
			text, _ := delta["text"].(string)
			piece, _ := delta["partial_json"].(string)
			switch delta["type"] {
			case "text_delta":
				got.text += text
			case "input_json_delta":
				got.input += piece
			default:
				return got, fmt.Errorf("a delta of type %v", delta["type"])
			}
		case e.name == "content_block_stop" && open >= 0 && int(index) == open:
			open = -1
		case e.name == "message_delta" && state == "message" && open < 0:
			got.stop, _ = delta["stop_reason"].(string)
			usage, _ := e.data["usage"].(map[string]any)
			got.output, _ = usage["output_tokens"].(float64)
			state = "delta"
		case e.name == "message_stop" && state == "delta":
			state = "stop"
		default:
			return got, fmt.Errorf("%s came in state %s with block %d open", e.name, state, open)
		}
	}
	if state != "stop" {
		return got, fmt.Errorf("the stream ends in state %s", state)
	}
	return got, nil
}

func TestStreamsConform(t *testing.T) {
	tests := []struct {
		name  string
		given answer
		want  assembled
	}{
		{"text", answer{text: "Grüße, 世界, and a bit more than one piece."}, assembled{text: "Grüße, 世界, and a bit more than one piece.", stop: "end_turn"}},
		{"nothing to say", answer{}, assembled{stop: "end_turn"}},
		{
			"a call",
			answer{text: "I will.", call: &call{tool: "a__b", input: map[string]any{"path": "ä\n\"<x>"}}},
			assembled{text: "I will.", tool: "a__b", input: `{"path":"ä\n\"\u003cx\u003e"}`, stop: "tool_use"},
		},
		{
			"a call alone",
			answer{call: &call{tool: "a__b", input: map[string]any{}}},
			assembled{tool: "a__b", input: `{}`, stop: "tool_use"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := &flushRecorder{header: http.Header{}}
			newAnthropicMessage("m", 3, tt.given).stream(t.Context(), w, 0)
			events, err := parseEvents(w.String())
			if err != nil {
				t.Fatal(err)
			}
			got, err := assemble(events)
			if err != nil {
				t.Fatal(err)
			}
			if w.flushes != len(events) {
				t.Errorf("%d flushes for %d events: something was held back", w.flushes, len(events))
			}
			if got.output < 1 {
				t.Error("no output tokens")
			}
			got.output = 0
			if got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// The client above would notice: streams that are not in order are refused.
func TestAssembleNoticesDisorder(t *testing.T) {
	w := &flushRecorder{header: http.Header{}}
	newAnthropicMessage("m", 3, answer{text: "one two three four"}).stream(t.Context(), w, 0)
	events, err := parseEvents(w.String())
	if err != nil {
		t.Fatal(err)
	}
	for i := range events {
		if events[i].name == "ping" || events[i].name == "content_block_delta" {
			continue // may be missing without breaking the order
		}
		without := append(append([]event(nil), events[:i]...), events[i+1:]...)
		if _, err := assemble(without); err == nil {
			t.Errorf("nobody missed %s", events[i].name)
		}
	}
}
