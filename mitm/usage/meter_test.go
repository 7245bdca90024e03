package usage

import (
	"strings"
	"testing"
)

func TestMeter(t *testing.T) {
	const sse = "text/event-stream; charset=utf-8"
	for _, c := range []struct {
		name, media, body, model string
		want                     Count
	}{
		{"anthropic stream", sse, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"c\",\"usage\":{\"input_tokens\":3,\"cache_read_input_tokens\":20,\"cache_creation_input_tokens\":4,\"output_tokens\":1}}}\n\n" +
			"event: message_delta\r\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":9}}\r\n\r\n", "c", Count{3, 9, 20, 4}},
		{"anthropic", "application/json", `{"model":"c","usage":{"input_tokens":3,"output_tokens":5}}`, "c", Count{3, 5, 0, 0}},
		{"count_tokens", "application/json", `{"input_tokens":3}`, "", Count{}},
		{"responses stream", sse, "data: {\"type\":\"response.completed\",\"response\":{\"model\":\"g\",\"usage\":{\"input_tokens\":30,\"input_tokens_details\":{\"cached_tokens\":10},\"output_tokens\":5}}}\n\n", "g", Count{20, 5, 10, 0}},
		{"chat stream", sse, "data: {\"model\":\"g\",\"choices\":[],\"usage\":{\"prompt_tokens\":30,\"completion_tokens\":5,\"prompt_tokens_details\":{\"cached_tokens\":10}}}\n\ndata: [DONE]\n\n", "g", Count{20, 5, 10, 0}},
		{"google stream", sse, "data: {\"modelVersion\":\"f\",\"usageMetadata\":{\"promptTokenCount\":9,\"candidatesTokenCount\":2,\"thoughtsTokenCount\":3,\"cachedContentTokenCount\":4}}\n\n", "f", Count{5, 5, 4, 0}},
		{"google array", "application/json", `[{"usageMetadata":{"promptTokenCount":9}},{"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2}}]`, "", Count{9, 2, 0, 0}},
		{"in a text", sse, "data: {\"delta\":\"\\\"usage\\\":{\\\"input_tokens\\\":99}\"}\n\n", "", Count{}},
		{"too much to be true", sse, "data: {\"usage\":{\"input_tokens\":9223372036854775807,\"output_tokens\":9223372036854775807}}\n\n", "", Count{maxTokens, maxTokens, 0, 0}},
		{"overflow", "application/json", `{"usage":{"prompt_tokens":9223372036854775807,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":-9223372036854775807}}}`, "", Count{maxTokens, 1, 0, 0}},
		{"google overflow", "application/json", `{"usageMetadata":{"candidatesTokenCount":9223372036854775807,"thoughtsTokenCount":9223372036854775807,"cachedContentTokenCount":-9}}`, "", Count{0, maxTokens, 0, 0}},
		{"negative", sse, "data: {\"usage\":{\"input_tokens\":-5}}\n\n", "", Count{}},
		{"broken", sse, "data: {\"usage\":{\"input_tokens\":\n\n", "", Count{}},
	} {
		for size := 1; size <= len(c.body); size += 1 + size/3 {
			m := NewMeter(c.media)
			for i := 0; i < len(c.body); i += size {
				m.Write([]byte(c.body[i:min(i+size, len(c.body))]))
			}
			if got := m.Count(); got != c.want || m.Model() != c.model {
				t.Errorf("%s in pieces of %d: %+v of %q, want %+v of %q", c.name, size, got, m.Model(), c.want, c.model)
			}
		}
	}
}

func TestMeterHoldsABoundedAmount(t *testing.T) {
	m := NewMeter("text/event-stream")
	piece := make([]byte, 1<<20)
	for range 20 {
		m.Write(piece)
	}
	if m.long == nil || len(m.line)+cap(m.long.end) > 1<<20 {
		t.Errorf("%d bytes are held", len(m.line))
	}
	m.Write([]byte("\ndata: {\"usage\":{\"output_tokens\":2}}\n"))
	if got := m.Count(); got.Out != 2 {
		t.Errorf("after a line that is too long: %+v", got)
	}
}

func FuzzMeter(f *testing.F) {
	f.Add([]byte("data: {\"usage\":{\"output_tokens\":2}}\n"), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, size uint8) {
		one, many := NewMeter("text/event-stream"), NewMeter("text/event-stream")
		one.Write(data)
		step := int(size) + 1
		for i := 0; i < len(data); i += step {
			many.Write(data[i:min(i+step, len(data))])
		}
		if one.Count() != many.Count() {
			t.Fatalf("in one %+v, in pieces %+v", one.Count(), many.Count())
		}
	})
}

// What an answer reports counts however long the answer is: its end is read.
func TestMeterReadsTheEndOfALongAnswer(t *testing.T) {
	picture := strings.Repeat("iVBORw0KGgo", (maxEvent+1<<20)/11)
	for name, c := range map[string]struct {
		media, body string
		want        Count
		tells       bool
	}{
		"google": {"application/json", `{"candidates":[{"content":{"parts":[{"inlineData":{"data":"` + picture + `"}}]}}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":1290},"modelVersion":"g"}`, Count{In: 9, Out: 1290}, false},
		"chat":   {"application/json", `{"choices":[{"message":{"content":"\"usage\":{}"},"logprobs":"` + picture + `"}],"usage": {"prompt_tokens":7,"completion_tokens":128},"metadata":{"usage":"none"}}`, Count{In: 7, Out: 128}, false},
		"event":  {"text/event-stream", `data: {"type":"response.completed","response":{"output":"` + picture + `","usage":{"input_tokens":3,"output_tokens":4}}}` + "\n\n", Count{In: 3, Out: 4}, true},
		"none":   {"application/json", `{"usage":{"output_tokens":5},"data":"` + picture + `"}`, Count{}, true},
	} {
		for _, size := range []int{32 << 10, 1 << 30} {
			m := NewMeter(c.media)
			for rest := []byte(c.body); len(rest) > 0; {
				n := min(size, len(rest))
				m.Write(rest[:n])
				rest = rest[n:]
			}
			if got := m.Count(); got != c.want || m.Tells() != c.tells {
				t.Errorf("%s in pieces of %d: %+v, tells %v", name, size, got, m.Tells())
			}
			if guess := Guess(m, 400); name == "none" && (guess.In != 100 || guess.Out < maxEvent/4) {
				t.Errorf("guessed %+v", guess)
			}
		}
	}
}
