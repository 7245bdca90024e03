package scripted

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// schemaOf reads a schema as a request would bring it.
func schemaOf(t *testing.T, text string) schema {
	t.Helper()
	var s schema
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func tools(t *testing.T) []tool {
	t.Helper()
	path := schemaOf(t, `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)
	return []tool{
		{name: "Bash", input: schemaOf(t, `{"type":"object","properties":{"command":{}},"required":["command"]}`)},
		{name: "mcp__other__notfilesystem__read_file", input: path},
		{name: "mcp__ironcurtain__filesystem__read_text_file", input: path},
		{name: "mcp__ironcurtain__filesystem__read_file", input: path},
		{name: "mcp__ironcurtain__filesystem__write_file", input: schemaOf(t,
			`{"type":"object","properties":{"path":true,"content":{"type":"string"}},"required":["path","content"]}`)},
		{name: "mcp__ironcurtain__filesystem__list_directory", input: path},
		{name: "Bash", input: schemaOf(t, `{"type":"object","properties":{"command":{"type":"string"},"timeout":{"type":"number"}},"required":["command"]}`)},
		{name: "mcp__ironcurtain__git__git_push", input: schemaOf(t,
			`{"type":"object","properties":{"path":{"type":"string"},"remote":{"type":"string"},"force":{"type":"boolean"}}}`)},
	}
}

func TestOrdersBecomeCalls(t *testing.T) {
	tests := []struct {
		prompt string
		tool   string
		input  map[string]any
	}{
		{"read /workspace/a", "mcp__ironcurtain__filesystem__read_file", map[string]any{"path": "/workspace/a"}},
		{"write a hello you", "mcp__ironcurtain__filesystem__write_file", map[string]any{"path": "a", "content": "hello you"}},
		{"list .", "mcp__ironcurtain__filesystem__list_directory", map[string]any{"path": "."}},
		{"push", "mcp__ironcurtain__git__git_push", map[string]any{"path": "/workspace"}},
		{"run make test", "Bash", map[string]any{"command": "make test"}},
	}
	for _, tt := range tests {
		t.Run(tt.prompt, func(t *testing.T) {
			c := &conversation{system: "Environment\nWorking directory: /workspace\n", tools: tools(t)}
			c.said([]string{tt.prompt})
			got := reply(c)
			if got.call == nil {
				t.Fatalf("no call, only %q", got.text)
			}
			if diff := cmp.Diff(call{tool: tt.tool, input: tt.input}, *got.call, cmp.AllowUnexported(call{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A model that is offered nothing but programs writes one of one call.
func TestOrdersBecomePrograms(t *testing.T) {
	for prompt, want := range map[string]string{
		"read a \"b":                "",
		"read /workspace/a":         `return await filesystem.read_text_file({"path":"/workspace/a"});`,
		"write a hello you":         `return await filesystem.write_file({"content":"hello you","path":"a"});`,
		"push":                      `return await git.git_push({"path":"/workspace","remote":"origin"});`,
		"push my changes to mirror": `return await git.git_push({"path":"/workspace","remote":"mirror"});`,
		"run ls":                    "",
		"batch 3": "const all = await Promise.all(Array.from({ length: 3 }, (_, i) => " +
			"filesystem.read_text_file({ path: \"/workspace/hello.txt\", head: i + 1 })));\nreturn `${all.length} reads`;",
		"batch 3 /a/b": "const all = await Promise.all(Array.from({ length: 2 }, (_, i) => " +
			"filesystem.read_text_file({ path: \"/workspace/hello.txt\", head: i + 1 })));\n" +
			"await filesystem.write_file({\"content\":\"2 reads\\n\",\"path\":\"/a/b\"});\n" +
			"all.push(...await Promise.all(Array.from({ length: 1 }, (_, i) => " +
			"filesystem.read_text_file({ path: \"/workspace/hello.txt\", head: i + 3 }))));\nreturn `${all.length} reads`;",
	} {
		for _, name := range []string{"mcp__ironcurtain__proxy__execute", "execute_code"} {
			t.Run(prompt+"/"+name, func(t *testing.T) {
				code := schemaOf(t, `{"type":"object","properties":{"code":{"type":"string"}},"required":["code"]}`)
				c := &conversation{system: "Working directory: /workspace\n", tools: []tool{{name: name, input: code}}}
				c.said([]string{prompt})
				got := reply(c)
				if got.call == nil {
					if want != "" {
						t.Errorf("no call, only %q", got.text)
					}
					return
				}
				if got.call.tool != name || got.call.input["code"] != want {
					t.Errorf("the call is %+v", got.call)
				}
			})
		}
	}
}

func TestCallsFollowTheSchema(t *testing.T) {
	tests := []struct {
		name, schema, prompt string
		want                 map[string]any // nil: no call
	}{
		{"other names", `{"properties":{"file_path":{},"text":{}},"required":["file_path","text"]}`, "write a b", map[string]any{"file_path": "a", "text": "b"}},
		{"required before optional", `{"properties":{"path":{},"filename":{}},"required":["filename"]}`, "write a b", map[string]any{"filename": "a"}},
		{"no schema", `{}`, "write a b", map[string]any{"path": "a", "content": "b"}},
		{"a schema that is true", `true`, "write a b", map[string]any{"path": "a", "content": "b"}},
		{"something unknown is required", `{"properties":{"path":{},"mode":{}},"required":["path","mode"]}`, "write a b", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := &conversation{tools: []tool{{name: "filesystem__write_file", input: schemaOf(t, tt.schema)}}}
			c.said([]string{tt.prompt})
			got := reply(c)
			if tt.want == nil {
				if got.call != nil || !strings.Contains(got.text, `"mode"`) {
					t.Fatalf("got call %+v and %q, want an answer that names the argument", got.call, got.text)
				}
				return
			}
			if got.call == nil {
				t.Fatalf("no call, only %q", got.text)
			}
			if diff := cmp.Diff(tt.want, got.call.input); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAnswersWithoutCalls(t *testing.T) {
	tests := []struct {
		name   string
		prompt []string
		has    string
	}{
		{"a sentence", []string{"what can you do?"}, "`write PATH TEXT`"},
		{"says what it is", []string{"hello"}, "I am a script"},
		{"an order without its path", []string{"read"}, "needs a path"},
		{"say", []string{"say good morning"}, "good morning"},
		{"nothing at all", nil, "I am a script"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := &conversation{tools: tools(t)}
			c.said(tt.prompt)
			got := reply(c)
			if got.call != nil || !strings.Contains(got.text, tt.has) {
				t.Errorf("got call %+v and %q, want a text with %q", got.call, got.text, tt.has)
			}
		})
	}
}

func TestAMissingToolIsSaid(t *testing.T) {
	c := &conversation{tools: tools(t)[:2]}
	c.said([]string{"push"})
	if got := reply(c); got.call != nil || !strings.Contains(got.text, "none of the 2 tools") {
		t.Errorf("got %+v", got)
	}
}

func TestReports(t *testing.T) {
	long := strings.Repeat("ä", longestQuote+1)
	tests := []struct {
		name   string
		result result
		has    []string
	}{
		{"done", result{text: " hello\nworld\n"}, []string{"Done: read a.", "> hello\n> world"}},
		{"empty", result{}, []string{"returned nothing"}},
		{"long", result{text: long}, []string{strings.Repeat("ä", longestQuote) + " …"}},
		{"denied by rule", result{text: "DENIED: protected path", failed: true}, []string{"was denied.", "> DENIED: protected path"}},
		{"denied by a person", result{text: "ESCALATION DENIED: no", failed: true}, []string{"was denied by a person"}},
		{"expired", result{text: "ESCALATION EXPIRED: nobody decided about it within 5m0s. DENIED: do not repeat", failed: true}, []string{"nobody decided in time"}},
		{"withdrawn", result{text: "ESCALATION WITHDRAWN: the call was cancelled. DENIED", failed: true}, []string{"was withdrawn"}},
		{"nobody to ask", result{text: "ESCALATION REQUIRED: nobody can be asked. DENIED", failed: true}, []string{"was denied."}},
		{"failed", result{text: "ENOENT: no such file", failed: true}, []string{"the call failed.", "> ENOENT"}},
		{"failed in silence", result{failed: true}, []string{"no reason was given"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := &conversation{tools: tools(t)}
			c.said([]string{"read a"})
			c.results = append(c.results, tt.result)
			got := reply(c)
			if got.call != nil {
				t.Fatalf("a second call: %+v", got.call)
			}
			for _, part := range tt.has {
				if !strings.Contains(got.text, part) {
					t.Errorf("%q lacks %q", got.text, part)
				}
			}
		})
	}
}

func TestASummaryIsGivenInItsTags(t *testing.T) {
	c := &conversation{tools: tools(t)}
	c.said([]string{"Write a summary between tags, as here:\n<summary>\n…\n</summary>"})
	if got := reply(c); got.call != nil || !asksForSummary(got.text) {
		t.Errorf("got %+v, want a text with the tags", got)
	}
}

func TestSideAnswers(t *testing.T) {
	shape := schemaOf(t, `{"type":"object","properties":{"title":{"type":"string"},"fresh":{"type":["boolean","null"]},
		"score":{"type":"integer"},"kind":{"enum":["a","b"]},"tags":{"type":"array"},"extra":{"type":"string"}},
		"required":["title","fresh","score","kind","tags"]}`)
	tests := []struct {
		name string
		c    conversation
		want string
	}{
		{"a shape", conversation{schema: &shape}, `{"fresh":true,"kind":"a","score":1,"tags":[],"title":"Read a file"}`},
		{"a topic", conversation{system: `Answer {"isNewTopic": …}`}, `{"isNewTopic":true,"title":"Read a file"}`},
		{"a title in JSON", conversation{system: `Return JSON with a single "title" field`}, `{"title":"Read a file"}`},
		{"a title", conversation{system: "Write a title"}, "Read a file"},
		{"a probe", conversation{limit: 1}, "ok"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.c.said([]string{"read a.txt"})
			if got := reply(&tt.c); got.call != nil || got.text != tt.want {
				t.Errorf("got %+v, want %s", got, tt.want)
			}
		})
	}
}

// A picture that the person shows is described, so that tests see that it has arrived.
func TestPictureIsDescribed(t *testing.T) {
	r, err := decodeAnthropic([]byte(`{"model":"m","max_tokens":9000,"messages":[{"role":"user","content":[
		{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAEC"}},{"type":"text","text":"what is it"}]}]}`), false)
	if err != nil {
		t.Fatal(err)
	}
	const want = "I was shown a picture: image/png, 3 bytes, SHA-256 ae4b3280e56e2faf83f414a6e3dabe9d5fbe18976544c05fed121accb85b53fc."
	if got := reply(r.conversation()); got.text != want {
		t.Errorf("%q", got.text)
	}
}
