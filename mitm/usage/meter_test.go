package usage

import (
	"strings"
	"testing"
	"time"
)

func TestMeter(t *testing.T) {
	const sse = "text/event-stream; charset=utf-8"
	for _, c := range []struct {
		name, media, body, model string
		want                     Count
	}{
		{"anthropic stream", sse, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"c\",\"usage\":{\"input_tokens\":3,\"cache_read_input_tokens\":20,\"cache_creation_input_tokens\":4,\"output_tokens\":1}}}\n\n" +
			"event: message_delta\r\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":9}}\r\n\r\n", "c", Count{In: 3, Out: 9, CacheRead: 20, CacheWrite: 4}},
		{"anthropic", "application/json", `{"model":"c","usage":{"input_tokens":3,"output_tokens":5}}`, "c", Count{In: 3, Out: 5}},
		{"count_tokens", "application/json", `{"input_tokens":3}`, "", Count{}},
		{"responses stream", sse, "data: {\"type\":\"response.completed\",\"response\":{\"model\":\"g\",\"usage\":{\"input_tokens\":30,\"input_tokens_details\":{\"cached_tokens\":10},\"output_tokens\":5}}}\n\n", "g", Count{In: 20, Out: 5, CacheRead: 10}},
		{"chat stream", sse, "data: {\"model\":\"g\",\"choices\":[],\"usage\":{\"prompt_tokens\":30,\"completion_tokens\":5,\"prompt_tokens_details\":{\"cached_tokens\":10}}}\n\ndata: [DONE]\n\n", "g", Count{In: 20, Out: 5, CacheRead: 10}},
		{"google stream", sse, "data: {\"modelVersion\":\"f\",\"usageMetadata\":{\"promptTokenCount\":9,\"candidatesTokenCount\":2,\"thoughtsTokenCount\":3,\"cachedContentTokenCount\":4}}\n\n", "f", Count{In: 5, Out: 5, CacheRead: 4}},
		{"google array", "application/json", `[{"usageMetadata":{"promptTokenCount":9}},{"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2}}]`, "", Count{In: 9, Out: 2}},
		{"google with tools", "application/json", `{"usageMetadata":{"promptTokenCount":9,"toolUsePromptTokenCount":7,"candidatesTokenCount":2}}`, "", Count{In: 16, Out: 2}},
		{"written into the cache", "application/json", `{"usage":{"input_tokens":30,"input_tokens_details":{"cached_tokens":10,"cache_write_tokens":15},"output_tokens":5}}`, "", Count{In: 5, Out: 5, CacheRead: 10, CacheWrite: 15}},
		{"details twice", sse, "data: {\"usage\":{\"prompt_tokens\":30,\"prompt_tokens_details\":{\"cached_tokens\":10}}}\n\ndata: {\"usage\":{\"completion_tokens\":5,\"prompt_tokens_details\":{\"cached_tokens\":10}}}\n\n", "", Count{In: 20, Out: 5, CacheRead: 10}},
		{
			"compacted before the answer", sse, "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":500,\"output_tokens\":1}}}\n\n" +
				"data: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":50,\"iterations\":[{\"type\":\"compaction\",\"input_tokens\":80000,\"output_tokens\":300,\"cache_read_input_tokens\":4},{\"type\":\"message\",\"input_tokens\":500,\"output_tokens\":50}]}}\n\n",
			"",
			Count{In: 80500, Out: 350, CacheRead: 4},
		},
		{"nothing but compacted", "application/json", `{"usage":{"input_tokens":0,"output_tokens":0,"iterations":[{"type":"compaction","input_tokens":2930,"output_tokens":1313}]}}`, "", Count{In: 2930, Out: 1313}},
		{"rounds that are part of the whole", "application/json", `{"usage":{"input_tokens":9,"output_tokens":5,"iterations":[{"type":"message","input_tokens":9,"output_tokens":5}]}}`, "", Count{In: 9, Out: 5}},
		{"kept for an hour", "application/json", `{"usage":{"input_tokens":3,"cache_creation_input_tokens":9,"cache_creation":{"ephemeral_5m_input_tokens":2,"ephemeral_1h_input_tokens":7},"output_tokens":5}}`, "", Count{In: 3, Out: 5, CacheWrite: 9, CacheHour: 7}},
		{"anthropic, fast", "application/json", `{"usage":{"input_tokens":3,"output_tokens":5,"speed":"fast"}}`, "", Count{In: 3, Out: 5, Fast: true}},
		{"responses, with priority", sse, "data: {\"response\":{\"service_tier\":\"priority\",\"usage\":{\"input_tokens\":3,\"output_tokens\":5}}}\n\n", "", Count{In: 3, Out: 5, Fast: true}},
		{"billed", sse, "data: {\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":5,\"cost\":0.00125}}\n\n", "", Count{In: 3, Out: 5, Billed: 0.00125}},
		{"billed absurdly", "application/json", `{"usage":{"prompt_tokens":3,"cost":1e300}}`, "", Count{In: 3, Billed: maxBilled}},
		{"billed less than nothing", "application/json", `{"usage":{"prompt_tokens":3,"cost":-1}}`, "", Count{In: 3}},
		{"billed in words", "application/json", `{"usage":{"prompt_tokens":3,"cost":{"total":"much"}}}`, "", Count{In: 3}},
		{"chat, as usual", "application/json", `{"service_tier":"default","usage":{"prompt_tokens":3,"completion_tokens":5}}`, "", Count{In: 3, Out: 5}},
		{"in a text", sse, "data: {\"delta\":\"\\\"usage\\\":{\\\"input_tokens\\\":99}\"}\n\n", "", Count{}},
		{"too much to be true", sse, "data: {\"usage\":{\"input_tokens\":9223372036854775807,\"output_tokens\":9223372036854775807}}\n\n", "", Count{In: maxTokens, Out: maxTokens}},
		{"overflow", "application/json", `{"usage":{"prompt_tokens":9223372036854775807,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":-9223372036854775807}}}`, "", Count{In: maxTokens, Out: 1}},
		{"google overflow", "application/json", `{"usageMetadata":{"candidatesTokenCount":9223372036854775807,"thoughtsTokenCount":9223372036854775807,"cachedContentTokenCount":-9}}`, "", Count{Out: maxTokens}},
		{"negative", sse, "data: {\"usage\":{\"input_tokens\":-5}}\n\n", "", Count{}},
		{"broken", sse, "data: {\"usage\":{\"input_tokens\":\n\n", "", Count{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for size := 1; size <= len(c.body); size += 1 + size/3 {
				m := NewMeter(c.media)
				for i := 0; i < len(c.body); i += size {
					m.Write([]byte(c.body[i:min(i+size, len(c.body))]))
				}
				if got := m.Count(); got != c.want || m.Model() != c.model {
					t.Errorf("%s in pieces of %d: %+v of %q, want %+v of %q", c.name, size, got, m.Model(), c.want, c.model)
				}
			}
		})
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

// The report at the end of an answer counts, however long the answer is.
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
		t.Run(name, func(t *testing.T) {
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
				if guess := Guess(m, 400, 0); name == "none" && (guess.In != 100 || guess.Out < maxEvent/4) {
					t.Errorf("guessed %+v", guess)
				}
			}
		})
	}
}

// A thinking model sends nothing, and an answer that comes as a whole is sent at its end.
// If the connection closes before, what the model wrote until then counts.
func TestGuessOfWhatWasNotSeen(t *testing.T) {
	if got := Guess(nil, 400, 10*time.Second); got != (Count{In: 100, Out: 10 * perSecond}) {
		t.Errorf("without an answer: %+v", got)
	}
	m := NewMeter("text/event-stream")
	m.Write([]byte("data: {\"usage\":{\"input_tokens\":7,\"output_tokens\":1}}\n\ndata: {}\n\n"))
	if got := Guess(m, 400, 10*time.Second); got != (Count{In: 7, Out: 10 * perSecond}) {
		t.Errorf("after some events: %+v", got)
	}
	if got := Guess(m, 400, 0); got != (Count{In: 7, Out: 2}) {
		t.Errorf("when the answer broke off: %+v", got)
	}
}
