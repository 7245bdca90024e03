package scripted

import "testing"

// What a tool said is found, whatever the agent has wrapped it in.
func TestResultsAreUnwrapped(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       result
	}{
		{"bare", "found\nit", result{text: "found\nit"}},
		{"a file that is JSON", `{"name":"x"}`, result{text: `{"name":"x"}`}},
		{"with the time it took", "Wall time: 0.0191 seconds\nOutput:\n{\"content\":\"hello\\nyou\"}", result{text: "hello\nyou"}},
		{
			"from a program", "Script completed\nWall time 0.2 seconds\nOutput:\n\n" +
				`{"content":[{"type":"text","text":"DENIED: x"}],"isError":true}`,
			result{text: "DENIED: x", failed: true},
		},
		{"refused, with the time it took", "Wall time: 1 seconds\nOutput:\nDENIED: by a rule", result{text: "DENIED: by a rule", failed: true}},
		{"in tags", "<untrusted_context>\nhello\n\n</untrusted_context>", result{text: "hello\n"}},
		{"an answer", `{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, result{text: "a\nb"}},
		{"an answer that is an error", `{"content":[{"type":"text","text":"no such file"}],"isError":true}`, result{text: "no such file", failed: true}},
		{
			"an error that was reported",
			`MCP tool 'filesystem__read_file' reported tool error for function call: {"name":"x"} with response: [{"functionResponse":{"name":"x","response":{"content":[{"type":"text","text":"DENIED: y"}],"isError":true}}}]`,
			result{text: "DENIED: y", failed: true},
		},
		{"an error of the agent", "Error: connection closed", result{text: "Error: connection closed", failed: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := resultOf(tt.text); got != tt.want {
				t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
			}
		})
	}
}
