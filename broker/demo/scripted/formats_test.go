package scripted

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// said is what a client makes of an answer, whatever format it came in.
type said struct {
	Text, Space, Tool, Input, Stop string
}

// format is one way to ask, as an agent would: the body of a request, with the
// result of a call when there is one, and the client that reads the answers.
type format struct {
	name    string
	path    string // of a streaming request
	whole   string // of one that is not
	key     func(*Server) []string
	body    func(stream bool, prompt, result string) string
	stream  func(events []map[string]any) (said, error)
	object  func(v map[string]any) (said, error)
	trailer string // the stream's last line, when it is no JSON
}

const toolSchema = `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`

func quoted(s string) string { return encode(s) }

var formats = []format{
	{
		name: "responses", path: "/v1/responses", whole: "/v1/responses",
		key: func(s *Server) []string { return []string{"Authorization", "Bearer " + s.Keys()["openai"]} },
		body: func(stream bool, prompt, result string) string {
			more := ""
			if result != "" {
				more = `,{"type":"reasoning","summary":[],"content":null},{"type":"function_call","call_id":"c","namespace":"mcp__ironcurtain","name":"filesystem__read_file","arguments":"{}"},
					{"type":"function_call_output","call_id":"c","output":` + quoted(result) + `}`
			}
			return fmt.Sprintf(`{"model":"m","instructions":"be good","stream":%v,"input":[
				{"type":"message","role":"developer","content":[{"type":"input_text","text":"read nothing"}]},
				{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\n  <cwd>/workspace</cwd>\n</environment_context>"}]},
				{"type":"message","role":"user","content":[{"type":"input_text","text":%s}]}%s],
				"tools":[{"type":"function","name":"exec_command","parameters":{}},{"type":"custom","name":"apply_patch"},
				{"type":"namespace","name":"mcp__ironcurtain","tools":[{"type":"function","name":"filesystem__read_file","parameters":%s}]}]}`,
				stream, quoted(prompt), more, toolSchema)
		},
		stream: readResponses,
		object: func(v map[string]any) (said, error) { return responseSaid(v) },
	},
	{
		name: "chat", path: "/v1/chat/completions", whole: "/v1/chat/completions",
		key: func(s *Server) []string { return []string{"Authorization", "Bearer " + s.Keys()["openai"]} },
		body: func(stream bool, prompt, result string) string {
			more := ""
			if result != "" {
				more = `,{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"ironcurtain_filesystem__read_file","arguments":"{}"}}]},
					{"role":"tool","tool_call_id":"c","content":` + quoted(result) + `}`
			}
			return fmt.Sprintf(`{"model":"m","stream":%v,"stream_options":{"include_usage":true},"messages":[
				{"role":"system","content":"Working directory: /workspace"},
				{"role":"user","content":[{"type":"text","text":%s}]}%s],
				"tools":[{"type":"function","function":{"name":"ironcurtain_filesystem__read_file","parameters":%s}}]}`,
				stream, quoted(prompt), more, toolSchema)
		},
		stream: readChat, trailer: "[DONE]",
		object: func(v map[string]any) (said, error) {
			choice := v["choices"].([]any)[0].(map[string]any)
			message := choice["message"].(map[string]any)
			got := said{Text: message["content"].(string), Stop: choice["finish_reason"].(string)}
			if calls, ok := message["tool_calls"].([]any); ok {
				function := calls[0].(map[string]any)["function"].(map[string]any)
				got.Tool, got.Input = function["name"].(string), function["arguments"].(string)
			}
			return got, nil
		},
	},
	{
		name: "google", path: "/v1beta/models/m:streamGenerateContent?alt=sse", whole: "/v1beta/models/m:generateContent",
		key: func(s *Server) []string { return []string{"X-Goog-Api-Key", s.Keys()["google"]} },
		body: func(_ bool, prompt, result string) string {
			more := ""
			if result != "" {
				member := "output"
				if strings.HasPrefix(result, "DENIED") {
					member = "error"
				}
				more = `,{"role":"model","parts":[{"functionCall":{"name":"mcp_ironcurtain_filesystem__read_file","args":{}}}]},
					{"role":"user","parts":[{"functionResponse":{"name":"x","response":{"` + member + `":` + quoted(result) + `}}}]}`
			}
			return fmt.Sprintf(`{"systemInstruction":{"role":"user","parts":[{"text":"be good"}]},"contents":[
				{"role":"user","parts":[{"text":"<session_context>\nread nothing\n</session_context>"}]},
				{"role":"user","parts":[{"text":%s}]}%s],
				"tools":[{"functionDeclarations":[{"name":"mcp_ironcurtain_filesystem__read_file","parametersJsonSchema":%s}]}]}`,
				quoted(prompt), more, toolSchema)
		},
		stream: func(events []map[string]any) (said, error) {
			var got said
			for _, e := range events {
				one, err := googleSaid(e)
				if err != nil {
					return got, err
				}
				got.Text += one.Text
				if one.Tool != "" {
					got.Tool, got.Input = one.Tool, one.Input
				}
				got.Stop += one.Stop
			}
			return got, nil
		},
		object: googleSaid,
	},
}

func googleSaid(v map[string]any) (said, error) {
	var got said
	if v["usageMetadata"] == nil {
		return got, fmt.Errorf("no usage in %v", v)
	}
	candidate := v["candidates"].([]any)[0].(map[string]any)
	for _, p := range candidate["content"].(map[string]any)["parts"].([]any) {
		part := p.(map[string]any)
		if text, ok := part["text"].(string); ok {
			got.Text += text
		}
		if call, ok := part["functionCall"].(map[string]any); ok {
			got.Tool, got.Input = call["name"].(string), encode(call["args"])
		}
	}
	got.Stop, _ = candidate["finishReason"].(string)
	return got, nil
}

func responseSaid(v map[string]any) (said, error) {
	got := said{Stop: v["status"].(string)}
	for _, o := range v["output"].([]any) {
		item := o.(map[string]any)
		switch item["type"] {
		case "message":
			got.Text += item["content"].([]any)[0].(map[string]any)["text"].(string)
		case "function_call":
			got.Tool, got.Input = item["name"].(string), item["arguments"].(string)
			got.Space, _ = item["namespace"].(string)
		default:
			return got, fmt.Errorf("an item of type %v", item["type"])
		}
	}
	return got, nil
}

// readResponses plays a client that wants every event in its place and the
// deltas to add up to what the last event holds.
func readResponses(events []map[string]any) (said, error) {
	var got said
	var text, arguments string
	open := -1.0
	for n, e := range events {
		if e["sequence_number"] != float64(n) {
			return got, fmt.Errorf("event %d has the number %v", n, e["sequence_number"])
		}
		switch e["type"] {
		case "response.created", "response.in_progress":
			if n > 1 {
				return got, fmt.Errorf("%v came late", e["type"])
			}
		case "response.output_item.added":
			if open >= 0 {
				return got, fmt.Errorf("item %v is still open", open)
			}
			open = e["output_index"].(float64)
		case "response.output_text.delta":
			text += e["delta"].(string)
		case "response.function_call_arguments.delta":
			arguments += e["delta"].(string)
		case "response.output_item.done":
			open = -1
		case "response.completed":
			var err error
			if got, err = responseSaid(e["response"].(map[string]any)); err != nil {
				return got, err
			}
			if n != len(events)-1 || open >= 0 {
				return got, fmt.Errorf("completed in the middle")
			}
		}
	}
	if got.Text != text || got.Input != arguments {
		return got, fmt.Errorf("the deltas add up to %q and %q, the whole is %+v", text, arguments, got)
	}
	return got, nil
}

func readChat(events []map[string]any) (said, error) {
	var got said
	usage := false
	for _, e := range events {
		usage = e["usage"] != nil
		for _, c := range e["choices"].([]any) {
			choice := c.(map[string]any)
			delta := choice["delta"].(map[string]any)
			if text, ok := delta["content"].(string); ok {
				got.Text += text
			}
			if calls, ok := delta["tool_calls"].([]any); ok {
				function := calls[0].(map[string]any)["function"].(map[string]any)
				if name, ok := function["name"].(string); ok {
					got.Tool = name
				}
				got.Input += function["arguments"].(string)
			}
			if stop, ok := choice["finish_reason"].(string); ok {
				got.Stop = stop
			}
		}
	}
	if !usage {
		return got, fmt.Errorf("the stream does not end with the usage")
	}
	return got, nil
}

// dataOf reads the JSON of every event and checks the trailer.
func dataOf(t *testing.T, stream, trailer string) []map[string]any {
	t.Helper()
	if !strings.HasSuffix(stream, "\n\n") {
		t.Fatalf("the stream does not end with an empty line: %q", stream)
	}
	var all []map[string]any
	parts := strings.Split(strings.TrimSuffix(stream, "\n\n"), "\n\n")
	for i, part := range parts {
		lines := strings.Split(part, "\n")
		data, ok := strings.CutPrefix(lines[len(lines)-1], "data: ")
		if !ok {
			t.Fatalf("event %d is %q", i, part)
		}
		if i == len(parts)-1 && trailer != "" {
			if data != trailer {
				t.Fatalf("the stream ends with %q", data)
			}
			continue
		}
		var v map[string]any
		if err := json.Unmarshal([]byte(data), &v); err != nil {
			t.Fatalf("event %d: %v", i, err)
		}
		if len(lines) == 2 && lines[0] != "event: "+v["type"].(string) {
			t.Fatalf("event %d says it is of type %v: %q", i, v["type"], lines[0])
		}
		all = append(all, v)
	}
	return all
}

// The same script, whatever the agent speaks: a call, then a report of what came
// of it.
func TestEveryFormatSpeaksTheScript(t *testing.T) {
	s, c := start(t)
	tests := []struct {
		name, prompt, result string
		want                 said
	}{
		{"a call", "read notes.txt", "", said{Text: "I will read notes.txt.", Input: `{"path":"notes.txt"}`}},
		{"its result", "read notes.txt", "found", said{Text: "Done: read notes.txt. The tool returned:\n\n> found"}},
		{"its refusal", "read notes.txt", "DENIED: protected path", said{Text: "I could not read notes.txt: the call was denied. I was told:\n\n> DENIED: protected path"}},
		{"a text", "say grüße, 世界 and more", "", said{Text: "grüße, 世界 and more"}},
	}
	for _, f := range formats {
		for _, tt := range tests {
			for _, stream := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s/%s/%v", f.name, tt.name, stream), func(t *testing.T) {
					path := f.whole
					if stream {
						path = f.path
					}
					r := post(t, c, s.URL()+path, []byte(f.body(stream, tt.prompt, tt.result)), f.key(s)...)
					text, err := io.ReadAll(r.Body)
					if err != nil || r.StatusCode != http.StatusOK {
						t.Fatalf("status %d, %v: %s", r.StatusCode, err, text)
					}
					var got said
					if stream {
						got, err = f.stream(dataOf(t, string(text), f.trailer))
					} else {
						var v map[string]any
						if err := json.Unmarshal(text, &v); err != nil {
							t.Fatal(err)
						}
						got, err = f.object(v)
					}
					if err != nil {
						t.Fatal(err)
					}
					if got.Stop == "" || (got.Tool != "") != (tt.want.Input != "") || got.Tool != "" && !strings.HasSuffix(got.Tool, "filesystem__read_file") {
						t.Errorf("got %+v", got)
					}
					if f.name == "responses" && got.Tool != "" && got.Space != "mcp__ironcurtain" {
						t.Errorf("the call does not name the tool's group: %+v", got)
					}
					got.Stop, got.Tool, got.Space = "", "", ""
					if diff := cmp.Diff(tt.want, got); diff != "" {
						t.Error(diff)
					}
				})
			}
		}
	}
}

// A provider's format is opened by that provider's key alone, in its own
// place, and says no in its own shape.
func TestEveryFormatHasItsKey(t *testing.T) {
	s, c := start(t)
	for _, f := range formats {
		t.Run(f.name, func(t *testing.T) {
			for _, tt := range []struct {
				name    string
				headers []string
				status  int
			}{
				{"the key", f.key(s), http.StatusOK},
				{"no key", nil, http.StatusUnauthorized},
				{"the key twice", append(f.key(s), f.key(s)...), http.StatusUnauthorized},
				{"another provider's key", []string{f.key(s)[0], s.Keys()["anthropic"]}, http.StatusUnauthorized},
				{"the key where it does not belong", []string{"X-Api-Key", f.key(s)[1]}, http.StatusUnauthorized},
			} {
				r := post(t, c, s.URL()+f.whole, []byte(f.body(false, "say x", "")), tt.headers...)
				v := object(t, r.Body)
				if r.StatusCode != tt.status || (v["error"] != nil) != (tt.status != http.StatusOK) {
					t.Errorf("%s, %s: status %d, %v", f.name, tt.name, r.StatusCode, v)
				}
			}
			r := post(t, c, s.URL()+f.whole, []byte("{"), f.key(s)...)
			if e, ok := object(t, r.Body)["error"].(map[string]any); r.StatusCode != http.StatusBadRequest || !ok || e["message"] == "" {
				t.Errorf("%s, a bad body: status %d, %v", f.name, r.StatusCode, e)
			}
		})
	}
	if text := encode(s.Requests()); strings.Contains(text, "-scripted-") {
		t.Errorf("the log holds a key: %s", text)
	}
}

// Tools that an agent keeps back are searched for, once.
func TestResponsesSearchForTools(t *testing.T) {
	ask := func(items string) answer {
		r, err := decodeResponses([]byte(`{"model":"m","tools":[{"type":"tool_search","execution":"client"}],"input":[
			{"role":"user","content":"read notes.txt"}` + items + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		return reply(r.conversation())
	}
	first := ask("")
	if first.call != nil || !strings.Contains(first.search, "filesystem__read_file") {
		t.Fatalf("got %+v", first)
	}
	if kind := newResponse("m", 1, first).items[1].item["type"]; kind != "tool_search_call" {
		t.Errorf("the search is a %v", kind)
	}
	second := ask(`,{"type":"tool_search_output","tools":[{"type":"namespace","name":"mcp__ironcurtain","tools":[
		{"type":"function","name":"filesystem__read_file","parameters":` + toolSchema + `}]}]}`)
	if second.call == nil || second.call.space != "mcp__ironcurtain" {
		t.Errorf("got %+v", second)
	}
	if nothing := ask(`,{"type":"tool_search_output","tools":[]}`); nothing.search != "" || !strings.Contains(nothing.text, "none of the 0 tools") {
		t.Errorf("got %+v", nothing)
	}
}

// Models that call tools by programs are given one that makes the same call.
func TestResponsesCallByPrograms(t *testing.T) {
	description := "Run JavaScript code\n\ndeclare const tools: { mcp__ironcurtain__filesystem__move_file(args: { destination: string; source: string; }): Promise<CallToolResult>; };\n" +
		"declare const tools: { mcp__ironcurtain__filesystem__read_file(args: {\n  // If provided: only the first N lines\n  head?: number;\n  path: string;\n}): Promise<CallToolResult>; };\n"
	r, err := decodeResponses([]byte(`{"model":"m","input":[{"type":"additional_tools","tools":[{"type":"namespace","name":"functions","tools":[
		{"type":"custom","name":"exec","description":` + quoted(description) + `}]}]},{"role":"user","content":"read notes.txt"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	a := reply(r.conversation())
	want := &call{space: "functions", tool: "mcp__ironcurtain__filesystem__read_file", input: map[string]any{"path": "notes.txt"}, code: true}
	if diff := cmp.Diff(want, a.call, cmp.AllowUnexported(call{})); diff != "" {
		t.Fatal(diff)
	}
	item := newResponse("m", 1, a).items[1].item
	if item["type"] != "custom_tool_call" || item["name"] != "exec" ||
		!strings.Contains(item["input"].(string), `await tools.mcp__ironcurtain__filesystem__read_file({"path":"notes.txt"})`) {
		t.Errorf("the call is %v", item)
	}
}

func TestOtherEndpoints(t *testing.T) {
	s, c := start(t)
	google := []string{"X-Goog-Api-Key", s.Keys()["google"]}
	r := post(t, c, s.URL()+"/v1beta/models/m:countTokens", []byte(`{"contents":[]}`), google...)
	if n, _ := object(t, r.Body)["totalTokens"].(float64); n < 1 {
		t.Errorf("%v tokens", n)
	}
	for _, path := range []string{"/v1beta/models/m:deleteEverything", "/v1beta/models/a/b:generateContent", "/v1beta/files"} {
		t.Run(path, func(t *testing.T) {
			if r := post(t, c, s.URL()+path, []byte(`{}`), google...); r.StatusCode != http.StatusNotFound {
				t.Errorf("%s: status %d", path, r.StatusCode)
			}
		})
	}
}

// Any body is either refused or answered, and a call only ever names a tool
// that the body itself offers.
func FuzzRequests(f *testing.F) {
	for _, format := range formats {
		f.Add([]byte(format.body(true, "read a", "")))
		f.Add([]byte(format.body(true, "push", "found")))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var all []*conversation
		if r, err := decodeResponses(body); err == nil {
			all = append(all, r.conversation())
		}
		if r, err := decodeChat(body); err == nil {
			all = append(all, r.conversation())
		}
		if r, err := decodeGoogle(body); err == nil {
			all = append(all, r.conversation())
		}
		for _, c := range all {
			a := reply(c)
			if a.call == nil {
				continue
			}
			found := false
			for _, tool := range c.tools {
				found = found || tool.name == a.call.tool && tool.space == a.call.space
			}
			if !found {
				t.Errorf("calls %+v, which is not on offer", a.call)
			}
		}
	})
}
