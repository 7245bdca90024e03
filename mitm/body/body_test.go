package body

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// outcome judges a body. It returns "" if the body is unchanged, "refused", "invalid", or
// the changed body.
func outcome(f Format, text string) string {
	r, err := Judge(f, []byte(text))
	var refusal *Refusal
	switch {
	case errors.As(err, &refusal):
		return "refused"
	case err != nil:
		return "invalid"
	case string(r.Body) == text:
		return ""
	}
	return string(r.Body)
}

func TestJudge(t *testing.T) {
	const (
		A, R, C, G = AnthropicMessages, OpenAIResponses, OpenAIChat, GoogleGenerate
		OC, OM, OR = OpenRouterChat, OpenRouterMessages, OpenRouterResponses
	)
	block := func(b string) string { return `{"messages":[{"role":"user","content":[` + b + `]}]}` }
	system := func(b string) string { return `{"messages":[{"role":"system","content":[` + b + `]}]}` }
	input := func(b string) string { return `{"input":[{"type":"message","role":"user","content":[` + b + `]}]}` }
	part := func(b string) string { return `{"contents":[{"role":"user","parts":[` + b + `]}]}` }
	for _, c := range []struct {
		format     Format
		body, want string
	}{
		// Anthropic: tools.
		{A, `{"model":"m","tools":[{"name":"a"},{"type":"custom","name":"b"}]}`, ""},
		{A, `{"tools":[{"type":"web_search_20250305","name":"w"}]}`, `{"tools":[]}`},
		{A, `{"tools":[{"type":"web_fetch_20250910"}, {"name":"a"} ,{"type":"code_execution_20250825"}]}`, `{"tools":[{"name":"a"}]}`},
		{A, `{"tools":[{"name":"a"},{"type":"bash_20250124"},{"type":"mcp_toolset"},{"name":"b"}]}`, `{"tools":[{"name":"a"},{"name":"b"}]}`},
		{A, `{"tools":[{"t\u0079pe":"web_search_20250305"}]}`, `{"tools":[]}`},
		{A, `{"t\u006fols":[{"type":"computer_20250124"}]}`, `{"t\u006fols":[]}`},
		{A, `{"tools":[{"type":1}]}`, "invalid"},
		{A, `{"tools":[{"type":null}]}`, "invalid"},
		{A, `{"tools":{"type":"web_search"}}`, "invalid"},
		{A, `{"tools":["web_search"]}`, "invalid"},
		{A, `{"tools":null}`, ""},
		{A, `{"tools":[{"Type":"web_search_20250305","name":"x"}]}`, "invalid"},
		{A, `{"TOOLS":[]}`, "invalid"},
		{A, `{"toolſ":[]}`, "invalid"},
		{A, `{"contaıner":"c"}`, "invalid"},
		{A, `{"sk\u0130lls":[1]}`, "invalid"},
		{OC, `{"plugıns":[{"id":"web"}]}`, "invalid"},
		{A, `{"tools":[{"name":"a","input_schema":{"type":"object","properties":{"type":{"type":"string"}}}}]}`, ""},
		{A, `{"tools":[{"type":"web_search_1","name":"w"}],"tool_choice":{"type":"tool","name":"w"}}`, "refused"},
		{A, `{"tool_choice":{"type":"tool","name":"w"},"tools":[{"type":"web_search_1","name":"w"}]}`, "refused"},
		{A, `{"tools":[{"type":"web_search_1","name":"w"},{"name":"w"}],"tool_choice":{"type":"tool","name":"w"}}`, `{"tools":[{"name":"w"}],"tool_choice":{"type":"tool","name":"w"}}`},
		// Anthropic: members that make the provider access the network.
		{A, `{"mcp_servers":[{"url":"https://x"}]}`, "refused"},
		{A, `{"mcp_servers":[]}`, ""},
		{A, `{"mcp_servers":null}`, ""},
		{A, `{"mcpServers":[{"url":"https://x"}]}`, "invalid"},
		{A, `{"model":"m","fallbacks":[{"model":"a","tools":[{"type":"web_search_1"}]}]}`, `{"model":"m","fallbacks":[{"model":"a","tools":[]}]}`},
		{A, `{"model":"m","fallbacks":[{"model":"a","mcp_servers":[{"url":"https://x"}]}]}`, "refused"},
		{A, `{"model":"m","fallbacks":[{"model":"a","fallbacks":[]}]}`, "invalid"},
		{A, `{"container":"c_1"}`, "refused"},
		{A, `{"skills":[{"id":1}]}`, "refused"},
		{A, `{"context_management":{"edits":[]},"metadata":{"user_id":"x"}}`, ""},
		{A, block(`{"type":"image","source":{"type":"base64","data":"AA=="}}`), ""},
		{A, block(`{"type":"image","source":{"type":"url","url":"https://x"}}`), "refused"},
		{A, block(`{"type":"image","source":{"url":"https://x","type":"base64"}}`), "refused"},
		{A, block(`{"type":"document","source":{"type":"file","file_id":"f"}}`), "refused"},
		{A, block(`{"type":"document","source":{"type":"new_kind"}}`), "refused"},
		{A, block(`{"type":"document","source":{"data":"x"}}`), "refused"},
		{A, block(`{"source":{"type":"url","url":"x"},"type":"image"}`), "refused"},
		{A, block(`{"type":"container_upload","file_id":"f"}`), "refused"},
		{A, block(`{"type":"search_result","source":"https://x","title":"t","content":[{"type":"text","text":"t"}]}`), ""},
		{A, block(`{"type":"tool_result","content":[{"type":"image","source":{"type":"url","url":"https://x"}}]}`), "refused"},
		{A, block(`{"type":"document","source":{"type":"content","content":[{"type":"image","source":{"type":"url","url":"x"}}]}}`), "refused"},
		{A, block(`{"type":"tool_use","input":{"source":{"type":"url"},"file_id":"f","tools":[{"type":"x"}]}}`), ""},
		{A, block(`{"type":"text","text":"{\"mcp_servers\":[1]}"}`), ""},
		{A, block(`{"type":"image","Source":{"type":"url"}}`), "invalid"},
		{A, `{"system":[{"type":"text","text":"t","cache_control":{"type":"ephemeral"}}]}`, ""},
		{A, `{"messages":{"role":"user"}}`, "invalid"},
		{A, `{"messages":["x"]}`, "invalid"},
		// OpenAI Responses.
		{R, `{"tools":[{"type":"function","name":"f"},{"type":"custom","name":"c"},{"type":"tool_search","execution":"client"}]}`, ""},
		{R, `{"tools":[{"type":"web_search"},{"type":"mcp","server_url":"https://x"},{"type":"code_interpreter"},{"type":"file_search"},{"type":"image_generation"},{"type":"computer_use_preview"},{"type":"shell"},{"type":"local_shell"},{"type":"apply_patch"},{"type":"tool_search"}]}`, `{"tools":[]}`},
		{R, `{"tools":[{"name":"f"}]}`, `{"tools":[]}`},
		{R, `{"tools":[{"type":"namespace","name":"n","tools":[{"type":"function","name":"f"},{"type":"web_search"}]}]}`, `{"tools":[{"type":"namespace","name":"n","tools":[{"type":"function","name":"f"}]}]}`},
		{R, `{"input":[{"type":"additional_tools","tools":[{"type":"web_search"},{"type":"function","name":"f"}]}]}`, `{"input":[{"type":"additional_tools","tools":[{"type":"function","name":"f"}]}]}`},
		{R, `{"tool_choice":{"type":"web_search"}}`, "refused"},
		{R, `{"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"f"},{"type":"mcp"}]}}`, "refused"},
		{R, `{"tool_choice":"auto","input":"hi"}`, ""},
		{R, input(`{"type":"input_image","image_url":"https://x"}`), "refused"},
		{R, input(`{"type":"input_image","image_url":"HTTPS://x"}`), "refused"},
		{R, input(`{"type":"input_image","image_url":"data:image/png;base64,AA"}`), ""},
		{R, input(`{"type":"input_file","file_url":"https://x"}`), "refused"},
		{R, input(`{"type":"input_file","file_id":"f"}`), "refused"},
		{R, input(`{"type":"input_file","fileId":"f"}`), "invalid"},
		{R, `{"input":[{"type":"function_call_output","output":[{"type":"input_image","image_url":"http://x"}]}]}`, "refused"},
		{R, `{"input":[{"type":"function_call","arguments":"{\"file_url\":\"https://x\"}"}]}`, ""},
		{R, `{"input":[{"type":"item_reference","id":"i"}]}`, "refused"},
		{R, `{"input":[{"id":"rs_1"}]}`, "refused"},
		{R, `{"input":[{"id":"m","role":"user","content":"hi"},{"id":"f","type":"function_call"}]}`, ""},
		{R, `{"input":[{"type":"mcp_approval_response","approve":true}]}`, "refused"},
		{R, input(`{"type":"input_file","file_data":"https://x"}`), "refused"},
		{R, input(`{"type":"input_file","file_data":"data:application/pdf;base64,AA"}`), ""},
		{R, input(`{"type":"file","file":{"file_id":"f"}}`), "refused"},
		{R, input(`{"type":"file","file":{"file_data":"https://x"}}`), "refused"},
		{R, input(`{"type":"file","file":"https://x"}`), "refused"},
		{R, input(`{"type":"file","file":{"file_data":"data:application/pdf;base64,AA"}}`), ""},
		{R, input(`{"type":"image","source":{"type":"url","url":"https://x"}}`), "refused"},
		{R, input(`{"type":"document","source":"a label"}`), ""},
		{R, `{"web_search_options":{}}`, "refused"},
		{R, `{"background":true}`, "refused"},
		{R, `{"background":false,"previous_response_id":null}`, ""},
		{R, `{"previous_response_id":"r"}`, "refused"},
		{R, `{"prompt":{"id":"p"}}`, "refused"},
		{R, `{"conversation":"c"}`, "refused"},
		{R, `{"store":true,"model":"m"}`, `{"store":false,"model":"m"}`},
		{R, `{"store":1}`, "invalid"},
		{R, `{"model":"o3-deep-research"}`, "refused"},
		// OpenAI Chat.
		{C, `{"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}]}`, ""},
		{C, `{"web_search_options":{}}`, "refused"},
		{C, `{"webSearchOptions":{}}`, "invalid"},
		{C, `{"model":"gpt-4o-search-preview"}`, "refused"},
		{C, block(`{"type":"image_url","image_url":{"url":"https://x"}}`), "refused"},
		{C, block(`{"type":"image_url","image_url":{"url":"data:image/png;base64,AA"}}`), ""},
		{C, block(`{"type":"file","file":{"file_id":"f"}}`), "refused"},
		{C, block(`{"type":"file","file":{"file_data":"https://x"}}`), "refused"},
		{C, block(`{"type":"file","file":{"file_data":"FTP://x"}}`), "refused"},
		{C, block(`{"type":"image_url","image_url":"https://x"}`), "refused"},
		{C, `{"tools":[{"type":"web_search"},{"type":"function","function":{"name":"f"}}]}`, `{"tools":[{"type":"function","function":{"name":"f"}}]}`},
		{C, `{"tools":[{"type":"mcp","function":{"name":"f"}}],"tool_choice":{"type":"mcp"}}`, "refused"},
		{C, `{"messages":[{"role":"user","content":"hi"}]}`, ""},
		// Google.
		{G, `{"tools":[{"functionDeclarations":[{"name":"f"}]}]}`, ""},
		{G, `{"tools":[{"googleSearch":{}}]}`, `{"tools":[]}`},
		{G, `{"tools":[{"google_search":{}},{"function_declarations":[]},{"urlContext":{}},{"codeExecution":{}},{"googleMaps":{}},{"google_search_retrieval":{}}]}`, `{"tools":[{"function_declarations":[]}]}`},
		{G, `{"tools":[{"functionDeclarations":[],"googleSearch":{}}]}`, "refused"},
		{G, part(`{"fileData":{"fileUri":"https://x"}}`), "refused"},
		{G, part(`{"file_data":{"file_uri":"https://x"}}`), "refused"},
		{G, part(`{"FileData":{"fileUri":"https://x"}}`), "invalid"},
		{G, part(`{"inlineData":{"mimeType":"image/png","data":"AA"}},{"text":"fileData"}`), ""},
		{G, part(`{"functionCall":{"name":"f","args":{"fileData":1}}}`), ""},
		{G, part(`{"functionResponse":{"name":"f","response":{"fileData":1},"parts":[{"fileData":{}}]}}`), ""},
		{G, part(`{"functionResponse":{"name":"f","parts":[{"fileData":{"fileUri":"x"}}]}}`), "refused"},
		{G, `{"cachedContent":"c"}`, "refused"},
		{G, `{"cached_content":"c"}`, "refused"},
		{G, `{"generateContentRequest":{"tools":[{"googleSearch":{}}]}}`, `{"generateContentRequest":{"tools":[]}}`},
		{G, `{"contents":{"parts":{"fileData":{"fileUri":"x"}}}}`, "refused"},
		// OpenRouter.
		{OC, `{"plugins":[{"id":"web"}]}`, "refused"},
		{OC, `{"model":"x/y:online"}`, "refused"},
		{OC, `{"models":["a","b:online"]}`, "refused"},
		{OC, `{"model":"x/y@preset/z"}`, "refused"},
		{OC, `{"model":"perplexity/sonar"}`, "refused"},
		{OC, `{"messages":[{"content":[{"input_audio":{"url":"https://e.org"}}]}]}`, "refused"},
		{OC, `{"messages":[{"content":[{"input_audio":{"data":"AAAA","format":"wav"}}]}]}`, ""},
		{OC, `{"model":"x/y","models":["a"],"provider":{"order":["z"]}}`, ""},
		{OC, `{"model":"openrouter/fusion"}`, "refused"},
		{OC, `{"models":["a","openrouter/auto"]}`, "refused"},
		{OC, `{"models":{"a":"b:online"}}`, "invalid"},
		{OC, `{"models":[{"id":"b:online"}]}`, "invalid"},
		{OC, `{"models":["a"` + strings.Repeat(`,"a"`, 32) + `]}`, "invalid"},
		{OC, `{"models":null}`, ""},
		{OC, `{"search_parameters":{"mode":"on"}}`, "refused"},
		{OC, `{"enable_search":true}`, "refused"},
		{OC, `{"enable_search":false}`, ""},
		// Tools that a message adds to the conversation.
		{A, system(`{"type":"tool_addition","tool":{"type":"tool_definition","definition":{"type":"web_fetch_20260209","name":"web_fetch"}}}`), "refused"},
		{OM, system(`{"type":"tool_addition","tool":{"definition":{"name":"w","type":"web_search_20260209"},"type":"tool_definition"}}`), "refused"},
		{A, system(`{"type":"tool_addition","tool":{"type":"tool_definition","definition":{"type":"mcp_toolset","mcp_server_name":"x"}}}`), "refused"},
		{A, system(`{"type":"tool_addition","tool":{"type":"tool_definition","definition":[{"type":"web_search_20260209"}]}}`), "invalid"},
		{A, system(`{"type":"tool_addition","Tool":{"type":"tool_definition","definition":{"type":"web_search_20260209"}}}`), "invalid"},
		{A, system(`{"type":"tool_addition","tool":{"type":"tool_definition","Definition":{"type":"web_search_20260209"}}}`), "invalid"},
		{A, system(`{"type":"tool_addition","tool":{"type":"tool_definition","definition":{"name":"mcp__a__b","description":"x","input_schema":{"type":"object"}}}}`), ""},
		{A, system(`{"type":"tool_addition","tool":{"type":"tool_reference","name":"b"}},{"type":"tool_removal","tool":{"type":"tool_reference","name":"a"}}`), ""},
		{A, block(`{"type":"compaction","content":"s","tool_changes":[{"type":"tool_addition","tool":{"type":"tool_definition","definition":{"type":"code_execution_20250825","name":"c"}}}]}`), "refused"},
		{A, `{"messages":[{"role":"user","content":"x","tool_changes":[{"type":"tool_addition","tool":{"definition":{"type":"web_search_20260209"}}}]}]}`, "refused"},
		{A, `{"system":[{"type":"tool_addition","tool":{"definition":{"type":"web_search_20260209"}}}]}`, "refused"},
		{A, block(`{"type":"mcp_tool_listing","mcp_server_name":"x","tools":[]}`), "refused"},
		{A, block(`{"type":"tool_use","id":"1","name":"n","input":{"tool":{"definition":{"type":"web_search"}},"tool_changes":[1]}}`), ""},
		{OC, `{"enable_search":false,"web_search":null}`, ""},
		{OC, `{"web_search":{"enable":true}}`, "refused"},
		{OC, `{"search_options":{}}`, "refused"},
		{OC, `{"Web-\u017fearch":1}`, "refused"},
		{OM, `{"search_settings":{"include_domains":[]}}`, "refused"},
		{OC, `{"connectors":[{"id":"web-search"}]}`, "refused"},
		{OC, `{"connectors":[]}`, ""},
		{OC, `{"compound_custom":{"tools":{"enabled_tools":["visit_website"]}}}`, "refused"},
		{OR, `{"provider":{"order":["a"],"options":{"a":{"enable_search":true}}}}`, "refused"},
		{OC, `{"provider":{"order":["a"],"sort":"price","data_collection":"deny"}}`, ""},
		{C, `{"search_options":{}}`, ""}, // OpenAI has no such member
		// Data that providers also read as a URL, in odd spellings.
		{OC, block(`{"type":"file","file":{"file_data":"https:/evil.example/a.pdf"}}`), "refused"},
		{OC, block(`{"type":"file","file":{"file_data":"https:\\\\evil.example"}}`), "refused"},
		{OC, block(`{"type":"file","file":{"file_data":" data:text/plain,x"}}`), "refused"},
		{C, block(`{"type":"file","file":{"file_data":"JVBERi0xLjQK"}}`), ""},
		{C, block(`{"type":"file","file":{"file_data":"data:application/pdf;base64,JVBERi0="}}`), ""},
		{OC, block(`{"type":"input_audio","input_audio":{"data":"https://evil.example/a.wav","format":"wav"}}`), "refused"},
		{C, block(`{"type":"input_audio","input_audio":{"data":"UklGRg==","format":"wav"}}`), ""},
		{OC, block(`{"type":"video","video":["https://evil.example/1.jpg"]}`), "refused"},
		{OC, block(`{"type":"image","image":"https://evil.example/1.jpg"}`), "refused"},
		{OC, block(`{"type":"image","image":"//uQxAAA"}`), ""},
		{OR, input(`{"type":"input_audio","audio":{"url":"https://evil.example/a.wav"}}`), "refused"},
		// Requests to store the conversation at the provider.
		{G, `{"store":true}`, `{"store":false}`},
		{G, `{"contents":[],"store":false}`, ""},
		{OC, `{"enableSearch":true}`, "refused"},
		{C, `{"search_parameters":{}}`, ""}, // OpenAI has no such member
		{OC, block(`{"type":"image","source":{"type":"url","url":"https://x"}}`), "refused"},
		{OC, block(`{"type":"input_video","video_url":{"url":"https://x"}}`), "refused"},
		{OC, `{"messages":[{"role":"assistant","content":"","images":[{"type":"image_url","image_url":{"url":"https://x"}}]}]}`, "refused"},
		{OC, `{"messages":[{"role":"assistant","content":"","images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AA"}}]}]}`, ""},
		{OM, `{"plugins":[{"id":"web"}],"model":"m"}`, "refused"},
		{OM, `{"model":"m","fallbacks":[{"model":"a"},{"model":"b","max_tokens":5}]}`, ""},
		{OM, `{"model":"m","fallbacks":"default"}`, ""},
		{OM, `{"model":"m","fallbacks":[{"model":"a"},{"model":"b:online"}]}`, "refused"},
		{OM, `{"model":"m","fallbacks":["perplexity/sonar"]}`, "refused"},
		{OM, `{"model":"m","fallbacks":[{"model":"a","plugins":[{"id":"web"}]}]}`, "refused"},
		{OM, `{"model":"m","fallbacks":{"model":"b:online"}}`, "invalid"},
		{OM, `{"model":"m","Fallbacks":[{"model":"b:online"}]}`, "invalid"},
		{OM, `{"model":"m","fallbacks":[{"Model":"b:online"}]}`, "invalid"},
		{OM, block(`{"type":"image_url","image_url":{"url":"https://x"}}`), "refused"},
		{OR, input(`{"type":"input_video","video_url":"https://x"}`), "refused"},
		{OR, input(`{"type":"input_video","video_url":"data:video/mp4;base64,AA"}`), ""},
		{OR, input(`{"type":"input_audio","input_audio":{"data":"AA","format":"wav"}}`), ""},
		{OM, `{"tools":[{"type":"web_search_20250305"}]}`, `{"tools":[]}`},
		{OR, `{"tools":[{"type":"openrouter:web_search"}]}`, `{"tools":[]}`},
		{OR, `{"preset":"p"}`, "refused"},
		// The encoding, for all formats.
		{A, "", "invalid"},
		{A, "[]", "invalid"},
		{A, "null", "invalid"},
		{A, "{} {}", "invalid"},
		{A, "{}x", "invalid"},
		{A, "\xef\xbb\xbf{}", "invalid"},
		{A, "\xff\xfe{\x00}\x00", "invalid"},
		{A, `{"a":1,"a":2}`, "invalid"},
		{A, `{"a":1,"\u0061":2}`, "invalid"},
		{A, `{"x":{"y":[{"a":1,"a":1}]}}`, "invalid"},
		{A, `{"a":"` + "\xc3\x28" + `"}`, "invalid"},
		{A, "{\"a\":\"\n\"}", "invalid"},
		{A, `{"a":01}`, "invalid"},
		{A, `{"a":NaN}`, "invalid"},
		{A, `{"a":.5}`, "invalid"},
		{A, `{"a":1e400,"b":9007199254740993,"c":-0.0E+1}`, ""},
		{A, `{'a':1}`, "invalid"},
		{A, `{"a":1,}`, "invalid"},
		{A, `{"a":[1,]}`, "invalid"},
		{A, `{"a":"\x"}`, "invalid"},
		{A, `{"a":"\ud800"}`, ""},
		{A, `{"\ud800":1}`, "invalid"},
		{A, `{"mcp_servers\u0000":[1]}`, "invalid"},
		{A, `{/**/}`, "invalid"},
		{A, " \n{ }\t", ""},
		{A, `{"a":tru}`, "invalid"},
		{A, `{"a"`, "invalid"},
		{A, `{"a":"`, "invalid"},
		{A, `{"a":"\u00`, "invalid"},
		{A, `{"a":` + strings.Repeat("[", 63) + strings.Repeat("]", 63) + `}`, ""},
		{A, `{"a":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`, "invalid"},
	} {
		if got := outcome(c.format, c.body); got != c.want {
			_, err := Judge(c.format, []byte(c.body))
			t.Errorf("%s %s\n got %q (%v)\nwant %q", c.format, c.body, got, err, c.want)
		}
	}
}

func TestManyKeys(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"messages":[{"role":"user","content":[{"type":"tool_use","input":{`)
	for i := range 1000 {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"k` + string(rune('a'+i%26)) + strings.Repeat("x", i/26) + `":1`)
	}
	if got := outcome(AnthropicMessages, b.String()+"}}]}]}"); got != "" {
		t.Errorf("distinct keys: %s", got)
	}
	if got := outcome(AnthropicMessages, b.String()+`,"\u006bax":2}}]}]}`); got != "invalid" {
		t.Errorf("a duplicate among many keys: %.40s", got)
	}
}

func TestRemovedIsNotedAndPrintable(t *testing.T) {
	r, err := Judge(AnthropicMessages, []byte(`{"model":"m","tools":[{"type":"web\u001b[31m\u202e","name":"x"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"tools:web?[31m?"}, r.Removed); diff != "" || r.Model != "m" {
		t.Error(diff, r.Model)
	}
}

// The forwarded body is JSON from which nothing more would be removed, and in which a
// lenient decoder finds nothing that makes the provider access the network.
func fuzzFormat(f *testing.F, format Format, seeds ...string) {
	f.Helper()
	for _, s := range append(seeds, `{}`, `{"model":"m","tools":[{"type":"web_search"},{"name":"x"}]}`, `{"a":[1,2,{"b":"\u00e9\ud83d\ude00"}]}`) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Judge(format, data)
		if err != nil {
			return
		}
		if !json.Valid(r.Body) {
			t.Fatalf("%q became %q", data, r.Body)
		}
		again, err := Judge(format, r.Body)
		if err != nil || string(again.Body) != string(r.Body) {
			t.Fatalf("%q became %q, then %q, %v", data, r.Body, again.Body, err)
		}
		if bad := reachesOut(format, r.Body); bad != "" {
			t.Fatalf("%q became %q, in which a lenient reader finds %s", data, r.Body, bad)
		}
	})
}

// reachesOut looks for members that make a provider access the network, like a server that
// ignores the case of keys and uses the last of equal keys. It shares no code with the
// judge.
func reachesOut(format Format, text []byte) string {
	var r struct {
		Tools         []map[string]any
		McpServers    any `json:"mcp_servers"`
		Container     any
		Plugins       any
		Background    any
		Previous      any `json:"previous_response_id"`
		CachedContent any
		SearchOptions any `json:"web_search_options"`
		Messages      []struct{ Content any }
		Input         any
		Contents      []struct{ Parts any }
	}
	if json.Unmarshal(text, &r) != nil {
		return "" // no server would accept it
	}
	set := func(v any) bool {
		switch v := v.(type) {
		case nil:
			return false
		case string:
			return v != ""
		case bool:
			return v
		case []any:
			return len(v) > 0
		case map[string]any:
			return len(v) > 0
		}
		return true
	}
	if format == GoogleGenerate {
		if set(r.CachedContent) {
			return "cachedContent"
		}
		for _, c := range r.Contents {
			if bad := addressIn(c.Parts, []string{"filedata", "file_data"}, "fileuri", "file_uri"); bad != "" {
				return bad
			}
		}
		return ""
	}
	for _, tool := range r.Tools {
		for key, v := range tool {
			kind, _ := v.(string)
			if strings.EqualFold(key, "type") && !slices.Contains([]string{"custom", "function", "namespace", "tool_search"}, kind) {
				return "a tool of type " + kind
			}
		}
	}
	switch {
	case set(r.McpServers):
		return "mcp_servers"
	case set(r.Container):
		return "container"
	case format == OpenRouterMessages && set(r.Plugins):
		return "plugins"
	case format == OpenAIResponses && (set(r.Background) || set(r.Previous)):
		return "what the provider keeps"
	case format == OpenAIChat && r.SearchOptions != nil:
		return "web_search_options"
	}
	for _, m := range r.Messages {
		if format != OpenAIChat {
			break
		}
		if bad := addressIn(m.Content, []string{"image_url"}, "url"); bad != "" {
			return bad
		}
	}
	if format == OpenAIResponses {
		return addressIn(r.Input, []string{"content", "output"}, "file_url", "server_url", "file_id")
	}
	return ""
}

// addressIn looks for members of the given names, in any case, whose value is not just
// data. It searches objects and, in these, the members named in into.
func addressIn(v any, into []string, names ...string) string {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if bad := addressIn(e, into, names...); bad != "" {
				return bad
			}
		}
	case map[string]any:
		for key, e := range v {
			s, isText := e.(string)
			if isText && s != "" && !strings.HasPrefix(s, "data:") && slices.Contains(names, strings.ToLower(key)) {
				return key
			}
			if slices.Contains(into, strings.ToLower(key)) {
				if bad := addressIn(e, into, names...); bad != "" {
					return bad
				}
			}
		}
	}
	return ""
}

func FuzzAnthropic(f *testing.F) {
	fuzzFormat(f, AnthropicMessages, `{"messages":[{"content":[{"type":"image","source":{"type":"base64"}}]}]}`)
}

func FuzzResponses(f *testing.F) {
	fuzzFormat(f, OpenAIResponses, `{"store":true,"input":[{"tools":[{"type":"mcp"}]}]}`, `{"input":[{"content":[{"file_url":"x"}],"file_id":"f"}],"background":true}`)
}

func FuzzChat(f *testing.F) {
	fuzzFormat(f, OpenAIChat, `{"messages":[{"content":[{"image_url":{"url":"data:x"}}]}]}`, `{"messages":[{"content":[{"image_url":{"url":"https://x"}}]}],"web_search_options":{}}`)
}

func FuzzGoogle(f *testing.F) {
	fuzzFormat(f, GoogleGenerate, `{"tools":[{"googleSearch":{}},{"functionDeclarations":[]}]}`, `{"contents":[{"parts":[{"fileData":{"fileUri":"x"}}]}],"cachedContent":"c"}`)
}

func FuzzOpenRouter(f *testing.F) {
	fuzzFormat(f, OpenRouterMessages, `{"models":["a"],"plugins":[]}`)
}

func BenchmarkJudge(b *testing.B) {
	text := []byte(`{"model":"m","messages":[` + strings.TrimSuffix(strings.Repeat(`{"role":"user","content":[{"type":"text","text":"`+strings.Repeat(`some code \n and \"quotes\" `, 40)+`"}]},`, 50), ",") + `]}`)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Judge(AnthropicMessages, text); err != nil {
			b.Fatal(err)
		}
	}
}

func TestMostTokensOfTheAnswer(t *testing.T) {
	for _, c := range []struct {
		format Format
		body   string
		want   int64
	}{
		{AnthropicMessages, `{"model":"m","max_tokens":32000,"messages":[]}`, 32000},
		{AnthropicMessages, `{"messages":[{"role":"user","content":[{"type":"tool_use","input":{"max_tokens":5}}]}]}`, 0},
		{OpenAIResponses, `{"max_output_tokens": 7 }`, 7},
		{OpenAIChat, `{"max_tokens":5,"max_completion_tokens":9}`, 9},
		{GoogleGenerate, `{"generationConfig":{"temperature":1,"maxOutputTokens":11}}`, 11},
		{GoogleGenerate, `{"generation_config":{"max_output_tokens":12}}`, 12},
		{GoogleGenerate, `{"generationConfig":null}`, 0},
		{OpenRouterChat, `{"max_tokens":13}`, 13},
		{OpenAIChat, `{"max_tokens":null}`, 0},
		{OpenAIChat, `{"max_tokens":-1}`, math.MaxInt64},
		{OpenAIChat, `{"max_tokens":1e3}`, math.MaxInt64},
		{OpenAIChat, `{"max_tokens":"5"}`, math.MaxInt64},
		{OpenAIChat, `{"max_tokens":99999999999999999999}`, math.MaxInt64},
		{OpenAIChat, `{"max_tokens":{"a":[1]},"max_completion_tokens":3}`, math.MaxInt64},
	} {
		r, err := Judge(c.format, []byte(c.body))
		if err != nil || r.Most != c.want || string(r.Body) != c.body {
			t.Errorf("%s %s: %d, %v; want %d", c.format, c.body, r.Most, err, c.want)
		}
	}
}

// The name of a model is refused if a provider could read it as another name.
func TestNamesOfModels(t *testing.T) {
	for name, want := range map[string]string{
		`openrouter/auto`: "refused", `openrouter/auto-beta`: "refused", `OpenRouter/Fusion`: "refused", `openrouter/pareto-code`: "",
		`gpt-5.1-codex-mini`: "", `anthropic/claude-sonnet-4.5:beta`: "", `~anthropic/claude-opus-latest`: "", `ft:gpt-4o:org::id`: "", `@cf/meta/llama`: "",
		` perplexity/sonar`: "refused", `~perplexity/sonar`: "refused", `Perplexity/sonar`: "refused", `a:OnLine`: "refused",
		`gpt-4o-search-preview `: "refused", `gpt-4o-search\u0000-preview`: "refused", "gpt-4o-\u00adsearch": "refused", "gpt 5": "refused",
	} {
		for _, member := range []string{`"model":"` + name + `"`, `"models":["` + name + `"]`} {
			if got := outcome(OpenRouterChat, `{`+member+`,"messages":[]}`); got != want {
				t.Errorf("%s: %q, want %q", member, got, want)
			}
		}
	}
}

// Any of the models that a request names may answer.
func TestModels(t *testing.T) {
	for _, c := range []struct {
		format Format
		body   string
		want   []string // the first and the others
	}{
		{OpenRouterChat, `{"model":"a","models":["b","c"]}`, []string{"a", "b", "c"}},
		{OpenRouterChat, `{"models":["b","c"],"model":"a"}`, []string{"a", "b", "c"}},
		{OpenRouterChat, `{"models":["b","c"]}`, []string{"b", "c"}},
		{OpenRouterMessages, `{"model":"a","models":["b"],"fallbacks":[{"model":"c"},"d"]}`, []string{"a", "b", "c", "d"}},
		{AnthropicMessages, `{"model":"a","models":["b"],"fallbacks":[{"model":"c","max_tokens":1}]}`, []string{"a", "c"}},
		{AnthropicMessages, `{"model":"a","fallbacks":"default"}`, []string{"a"}},
		{OpenAIChat, `{"model":"a","models":["b"]}`, []string{"a"}},
		{OpenAIChat, `{}`, []string{""}},
	} {
		r, err := Judge(c.format, []byte(c.body))
		if got := append([]string{r.Model}, r.Others...); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s %s: %q, %v; want %q", c.format, c.body, got, err, c.want)
		}
	}
}

func TestHowManyAnswers(t *testing.T) {
	for _, c := range []struct {
		format Format
		body   string
		want   int64 // 0 when the body is not acceptable
	}{
		{AnthropicMessages, `{"n":5,"messages":[]}`, 1}, // n has no meaning in this format
		{OpenAIChat, `{"messages":[]}`, 1},
		{OpenAIChat, `{"n":null}`, 1},
		{OpenAIChat, `{"n":1}`, 1},
		{OpenAIChat, `{"n":128}`, 128},
		{OpenAIResponses, `{"n":3}`, 1}, // nor in this one
		{OpenRouterChat, `{"n":4}`, 4},
		{GoogleGenerate, `{"generationConfig":{"candidateCount":8,"maxOutputTokens":11}}`, 8},
		{GoogleGenerate, `{"generation_config":{"candidate_count":2}}`, 2},
		{GoogleGenerate, `{"generationConfig":{"candidateCount":2,"candidate_count":7}}`, 7},
		{GoogleGenerate, `{"generationConfig":{"candidateCount":2},"generation_config":{"candidate_count":7}}`, 7},
		{OpenAIChat, `{"n":0}`, 0},
		{OpenAIChat, `{"n":-1}`, 0},
		{OpenAIChat, `{"n":129}`, 0},
		{OpenAIChat, `{"n":1e2}`, 0},
		{OpenAIChat, `{"n":2.0}`, 0},
		{OpenAIChat, `{"n":"8"}`, 0},
		{OpenAIChat, `{"n":[8]}`, 0},
		{OpenAIChat, `{"n":true}`, 0},
		{OpenAIChat, `{"n":99999999999999999999}`, 0},
		{OpenAIChat, `{"N":8}`, 0},
		{OpenAIChat, `{"n":1,"n":8}`, 0},
		{GoogleGenerate, `{"generationConfig":{"candidateCount":"8"}}`, 0},
		{GoogleGenerate, `{"generationConfig":{"CandidateCount":8}}`, 0},
		{GoogleGenerate, `{"GenerationConfig":{"candidateCount":8}}`, 0},
	} {
		r, err := Judge(c.format, []byte(c.body))
		if (err != nil) != (c.want == 0) || err == nil && r.Answers != c.want {
			t.Errorf("%s %s: %d, %v; want %d", c.format, c.body, r.Answers, err, c.want)
		}
	}
}
