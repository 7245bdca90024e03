package scripted

import (
	"strings"
	"testing"
)

// offer is a tools member with one tool that reads.
const offer = `"tools":[{"name":"mcp__ironcurtain__filesystem__read_file","input_schema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}]`

func TestDecodeAnthropicFindsThePrompt(t *testing.T) {
	tests := []struct {
		name, messages string
		prompt         string
		results        int
	}{
		{"a plain string", `{"role":"user","content":"read a"}`, "read a", 0},
		{"blocks", `{"role":"user","content":[{"type":"text","text":"read a"}]}`, "read a", 0},
		{
			"reminders around it",
			`{"role":"user","content":[{"type":"text","text":"<system-reminder>\nread nothing\n</system-reminder>"},{"type":"text","text":"read a <system-reminder>x</system-reminder>"}]}`,
			"read a", 0,
		},
		{"a paste", `{"role":"user","content":"<pasted_content id=\"fc8b\">\nread a\n</pasted_content>"}`, "read a", 0},
		{
			"a note of the role system after it",
			`{"role":"user","content":"read a"},{"role":"system","content":"read b"}`, "read a", 0,
		},
		{
			"an earlier turn", `{"role":"user","content":"read a"},
			{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"x","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"old"}]},
			{"role":"assistant","content":"done"},{"role":"user","content":"read b"}`, "read b", 0,
		},
		{
			"a result after it, with a reminder", `{"role":"user","content":"read a"},
			{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"x","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"found"}]},
			{"type":"text","text":"<system-reminder>tidy up</system-reminder>"}]}`, "read a", 1,
		},
		{
			"an interruption", `{"role":"user","content":"read a"},
			{"role":"user","content":"[Request interrupted by user]"}`, "read a", 0,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := decodeAnthropic([]byte(`{"model":"m","max_tokens":10,"messages":[`+tt.messages+`],`+offer+`}`), false)
			if err != nil {
				t.Fatal(err)
			}
			c := r.conversation()
			if len(c.prompts) == 0 || c.prompts[len(c.prompts)-1] != tt.prompt || len(c.results) != tt.results {
				t.Errorf("prompts %q and %d results, want %q and %d", c.prompts, len(c.results), tt.prompt, tt.results)
			}
		})
	}
}

// What the person says while an order is carried out is answered after it, one order after the other.
func TestQueuedOrdersAreCarriedOut(t *testing.T) {
	result := func(text string, queued ...string) string {
		blocks := `{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"` + text + `"}`
		for _, q := range queued {
			blocks += `,{"type":"text","text":"The user sent a new message while you were working:\n` + q +
				`\n\nThis is how Claude Code surfaces messages the user sends mid-turn. Address the message above.\n"}`
		}
		return blocks + `]}`
	}
	const called = `{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"x","input":{}}]}`
	messages := []string{`{"role":"user","content":"read a"}`, called}
	for _, step := range []struct {
		message, text string
		path          any // of the next call; nil: none
	}{
		{result("of a", "read b", "say hi", "read c"), "Done: read a. The tool returned:\n\n> of a\n\nI will read b.", "b"},
		{result("of b", "thanks"), "Done: read b. The tool returned:\n\n> of b\n\nhi\n\nI will read c.", "c"},
		{result("of c"), "Done: read c. The tool returned:\n\n> of c\n\n" + introduction(), nil},
		{`{"role":"user","content":"read d"}`, "I will read d.", "d"},
	} {
		messages = append(messages, step.message)
		r, err := decodeAnthropic([]byte(`{"model":"m","max_tokens":10,"messages":[`+strings.Join(messages, ",")+`],`+offer+`}`), false)
		if err != nil {
			t.Fatal(err)
		}
		a := reply(r.conversation())
		if a.text != step.text || (a.call == nil) != (step.path == nil) || a.call != nil && a.call.input["path"] != step.path {
			t.Errorf("%q and %+v, want %q and %v", a.text, a.call, step.text, step.path)
		}
		messages = append(messages, called)
	}
}

func TestDecodeAnthropicRefuses(t *testing.T) {
	tests := []struct{ name, body, fault string }{
		{"no JSON", `hello`, "not valid"},
		{"two values", `{} {}`, "not valid"},
		{"no model", `{"max_tokens":1,"messages":[{"role":"user","content":"a"}]}`, "model"},
		{"no limit", `{"model":"m","messages":[{"role":"user","content":"a"}]}`, "max_tokens"},
		{"negative limit", `{"model":"m","max_tokens":-1,"messages":[{"role":"user","content":"a"}]}`, "max_tokens"},
		{"no messages", `{"model":"m","max_tokens":1,"messages":[]}`, "messages"},
		{"an unknown role", `{"model":"m","max_tokens":1,"messages":[{"role":"root","content":"a"}]}`, "messages.0.role"},
		{"content that is a number", `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":1}]}`, "not valid"},
		{"a tool without a name", `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"a"}],"tools":[{}]}`, "tools.0.name"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := decodeAnthropic([]byte(tt.body), false)
			if err == nil || !strings.Contains(err.Error(), tt.fault) {
				t.Errorf("error = %v, want one about %q", err, tt.fault)
			}
		})
	}
	if _, err := decodeAnthropic([]byte(`{"model":"m","messages":[{"role":"user","content":"a"}]}`), true); err != nil {
		t.Errorf("counting needs no limit, yet: %v", err)
	}
}

// Any body is either refused or answered, and a call only ever names a tool
// that the body itself offers.
func FuzzAnthropicRequest(f *testing.F) {
	for _, body := range []string{
		`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"read a"}],` + offer + `}`,
		`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"tool_result","content":"x","is_error":true},{"type":"text","text":"push"}]}],` + offer + `}`,
		`{"model":"m","max_tokens":9,"system":[{"type":"text","text":"\"title\""}],"messages":[{"role":"user","content":"say x"}]}`,
		`{"model":"m","max_tokens":9,"output_config":{"format":{"schema":{"properties":{"a":{"properties":{}},"b":null}}}},"messages":[{"role":"user","content":"x"}]}`,
		`{"model":"m","max_tokens":1,"messages":[{"role":"system","content":[]}]}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := decodeAnthropic(body, false)
		if err != nil {
			return
		}
		a := reply(r.conversation())
		if a.call == nil {
			return
		}
		for _, tool := range r.Tools {
			if tool.Name == a.call.tool {
				return
			}
		}
		t.Errorf("calls %q, which is not on offer", a.call.tool)
	})
}
