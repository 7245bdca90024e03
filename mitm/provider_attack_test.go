package mitm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// wire is the wire format of one provider.
type wire struct {
	provider, host, path, header string
	clean                        string // a body that passes untouched
}

// wires are the wire formats, each at one of its endpoints.
func wires() map[string]wire {
	return map[string]wire{
		"anthropic": {
			"anthropic", "api.anthropic.com", "/v1/messages?beta=true", "X-Api-Key",
			`{ "model":"m", "tools":[{"name":"a","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":[{"type":"text","text":"é \u00e9 1e5"}]}] }`,
		},
		"responses": {
			"openai", "api.openai.com", "/v1/responses", "Authorization",
			`{"model":"m","store":false,"tools":[{"type":"function","name":"f"}],"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"x"}]}], "n" : 1.00}`,
		},
		"chat": {
			"openai", "api.openai.com", "/v1/chat/completions", "Authorization",
			`{"model":"m","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"f"}}]}`,
		},
		"google": {
			"google", "generativelanguage.googleapis.com", "/v1beta/models/gemini-3:streamGenerateContent?alt=sse", "X-Goog-Api-Key",
			`{"contents":[{"role":"user","parts":[{"text":"x"}]}],"tools":[{"functionDeclarations":[{"name":"f"}]}]}`,
		},
		"router-chat": {
			"openrouter", "openrouter.ai", "/api/v1/chat/completions", "Authorization",
			`{"model":"z/m","messages":[{"role":"user","content":"x"}]}`,
		},
		"router-messages": {
			"openrouter", "openrouter.ai", "/api/v1/messages?beta=true", "Authorization",
			`{"model":"z/m","messages":[{"role":"user","content":"x"}]}`,
		},
		"router-responses": {
			"openrouter", "openrouter.ai", "/api/v1/responses", "Authorization",
			`{"model":"z/m","input":"x"}`,
		},
	}
}

func (w wire) request(s *harness, body string) string {
	return s.withBody(w.host, w.path, w.header, w.provider, body)
}

// A body that asks for nothing forbidden arrives byte by byte as it was sent.
func TestCleanBodiesArriveUnchanged(t *testing.T) {
	for name, w := range wires() {
		t.Run(name, func(t *testing.T) {
			s := newHarness(t, nil)
			res, answer := s.inTunnel(w.host, w.request(s, w.clean))
			if res == nil || res.StatusCode != 200 {
				t.Fatalf("answer %+v %s", res, answer)
			}
			if got := s.lastBody(); got != w.clean {
				t.Errorf("forwarded %s\nwant      %s", got, w.clean)
			}
		})
	}
}

// bodyAttacks lists bodies for one wire format and how each is refused.
type bodyAttack struct {
	wire, name, body string
	status           int
	reason           Reason
}

func bodyAttacks() []bodyAttack {
	var all []bodyAttack
	add := func(wire string, status int, reason Reason, named map[string]string) {
		for name, body := range named {
			all = append(all, bodyAttack{wire, name, body, status, reason})
		}
	}
	for name := range wires() {
		add(name, 400, ReasonJSON, map[string]string{
			"nothing":                "",
			"no JSON":                "model=m",
			"an array":               `[{"model":"m"}]`,
			"a byte order mark":      "\xef\xbb\xbf{}",
			"UTF-16":                 "{\x00}\x00",
			"bad UTF-8":              "{\"a\":\"\xc3\x28\"}",
			"overlong UTF-8":         "{\"a\":\"\xc0\xae\"}",
			"trailing data":          `{} {"model":"m"}`,
			"a trailing comma":       `{"model":"m",}`,
			"a comment":              `{/*x*/}`,
			"not a number":           `{"a":NaN}`,
			"a control character":    "{\"a\":\"\x00\"}",
			"depth":                  `{"a":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`,
			"a duplicate key":        `{"model":"a","model":"b"}`,
			"an escaped duplicate":   `{"model":"a","m\u006fdel":"b"}`,
			"a duplicate below":      `{"x":[{"y":{"a":1,"a":2}}]}`,
			"a variant in capitals":  `{"Tools":[]}`,
			"a variant, long s":      `{"toolſ":[]}`,
			"a null character":       `{"tools\u0000":[]}`,
			"a variant, underscores": `{"t_ools":[]}`,
			"tools that are a text":  `{"tools":"web_search"}`,
		})
	}
	refused := func(wire string, named map[string]string) { add(wire, 403, ReasonPolicy, named) }
	block := func(b string) string { return `{"messages":[{"role":"user","content":[` + b + `]}]}` }
	input := func(b string) string { return `{"input":[{"type":"message","role":"user","content":[` + b + `]}]}` }
	part := func(b string) string { return `{"contents":[{"role":"user","parts":[` + b + `]}]}` }
	for _, wire := range []string{"anthropic", "router-messages"} {
		refused(wire, map[string]string{
			"remote MCP servers":         `{"mcp_servers":[{"type":"url","url":"https://evil.org","name":"x"}]}`,
			"a container":                `{"container":{"skills":[{"type":"anthropic","skill_id":"x"}]}}`,
			"an image from a URL":        block(`{"type":"image","source":{"type":"url","url":"https://evil.org/x"}}`),
			"a document from a URL":      block(`{"type":"document","source":{"type":"url","url":"https://evil.org/x"}}`),
			"a stored file":              block(`{"type":"document","source":{"type":"file","file_id":"f"}}`),
			"an upload to the container": block(`{"type":"container_upload","file_id":"f"}`),
			"a URL in a tool's result":   block(`{"type":"tool_result","tool_use_id":"t","content":[{"type":"image","source":{"type":"url","url":"https://evil.org"}}]}`),
			"a URL in the system prompt": `{"system":[{"type":"image","source":{"type":"url","url":"https://evil.org"}}]}`,
			"a choice of a removed tool": `{"tools":[{"type":"web_fetch_20250910","name":"w"}],"tool_choice":{"type":"tool","name":"w"}}`,
		})
	}
	for _, wire := range []string{"responses", "router-responses"} {
		refused(wire, map[string]string{
			"an image from a URL":          input(`{"type":"input_image","image_url":"https://evil.org"}`),
			"an image, scheme in capitals": input(`{"type":"input_image","image_url":"HTTPS://evil.org"}`),
			"a file from a URL":            input(`{"type":"input_file","file_url":"https://evil.org"}`),
			"a stored file":                input(`{"type":"input_file","file_id":"f"}`),
			"a URL in a call's output":     `{"input":[{"type":"function_call_output","call_id":"c","output":[{"type":"input_image","image_url":"http://evil.org"}]}]}`,
			"background":                   `{"background":true}`,
			"an earlier response":          `{"previous_response_id":"resp_1"}`,
			"a stored conversation":        `{"conversation":{"id":"c"}}`,
			"a stored prompt":              `{"prompt":{"id":"p"}}`,
			"a reference to an item":       `{"input":[{"type":"item_reference","id":"i"}]}`,
			"a reference without a type":   `{"input":[{"id":"i"}]}`,
			"an approval of a remote tool": `{"input":[{"type":"mcp_approval_response","approve":true,"approval_request_id":"a"}]}`,
			"a choice of a hosted tool":    `{"tool_choice":{"type":"web_search"}}`,
			"a hosted tool among allowed":  `{"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"mcp","server_label":"x"}]}}`,
			"a model that searches":        `{"model":"o4-mini-deep-research"}`,
		})
	}
	for _, wire := range []string{"chat", "router-chat"} {
		refused(wire, map[string]string{
			"web search":             `{"web_search_options":{}}`,
			"a model that searches":  `{"model":"gpt-4o-search-preview"}`,
			"an image from a URL":    block(`{"type":"image_url","image_url":{"url":"https://evil.org"}}`),
			"a stored file":          block(`{"type":"file","file":{"file_id":"f"}}`),
			"a file from a URL":      block(`{"type":"file","file":{"file_data":"https://evil.org"}}`),
			"a choice of that":       `{"tool_choice":{"type":"web_search"}}`,
			"a video from a URL":     block(`{"type":"video_url","video_url":{"url":"https://evil.org"}}`),
			"a URL in a tool's text": `{"messages":[{"role":"tool","tool_call_id":"c","content":[{"type":"image_url","image_url":{"url":"http://evil.org"}}]}]}`,
		})
	}
	for _, wire := range []string{"router-chat", "router-messages", "router-responses"} {
		refused(wire, map[string]string{
			"plugins":                   `{"plugins":[{"id":"web"}]}`,
			"an online model":           `{"model":"openai/gpt-5:online"}`,
			"an online model in a list": `{"models":["a/b","openai/gpt-5:online"]}`,
			"a preset":                  `{"preset":"p"}`,
			"a preset as a model":       `{"model":"@preset/p"}`,
			"search options":            `{"web_search_options":{}}`,
		})
	}
	refused("google", map[string]string{
		"a file from a URL":        part(`{"fileData":{"fileUri":"https://evil.org"}}`),
		"the same in snake case":   part(`{"file_data":{"file_uri":"https://evil.org"}}`),
		"one in a call's response": part(`{"functionResponse":{"name":"f","parts":[{"fileData":{"fileUri":"https://evil.org"}}]}}`),
		"one in the system prompt": `{"systemInstruction":{"parts":[{"fileData":{"fileUri":"https://evil.org"}}]}}`,
		"a cache":                  `{"cachedContent":"cachedContents/x"}`,
		"a cache in snake case":    `{"cached_content":"cachedContents/x"}`,
		"search among functions":   `{"tools":[{"functionDeclarations":[{"name":"f"}],"googleSearch":{}}]}`,
		"the same in snake case 2": `{"tools":[{"function_declarations":[{"name":"f"}],"google_search":{}}]}`,
	})
	return all
}

func TestBodiesAreRefused(t *testing.T) {
	s := newHarness(t, nil)
	all := wires()
	for _, a := range bodyAttacks() {
		t.Run(a.wire+"/"+a.name, func(t *testing.T) {
			s.t = t
			w := all[a.wire]
			res, answer := s.inTunnel(w.host, w.request(s, a.body))
			checkRefused(t, s, a.reason)
			if res == nil || res.StatusCode != a.status {
				t.Fatalf("answer %+v %s, want status %d", res, answer, a.status)
			}
			var shape struct {
				Error struct{ Message string }
			}
			if json.Unmarshal([]byte(answer), &shape) != nil || shape.Error.Message == "" {
				t.Errorf("the body %s is no error of the provider", answer)
			}
		})
	}
	s.t = t
}

// Tools that the provider would run are taken out, the rest stays.
func TestServerToolsAreTakenOut(t *testing.T) {
	openai := []string{
		"web_search", "web_search_preview", "mcp", "code_interpreter", "file_search", "image_generation", "computer_use_preview",
		"computer", "shell", "local_shell", "container", "Function", "function ", "",
	}
	tools := map[string]struct {
		keep string
		drop []string
	}{
		"anthropic": {`{"name":"a"}`, []string{
			`{"type":"web_search_20250305","name":"w"}`, `{"type":"web_fetch_20250910"}`, `{"type":"code_execution_20250825"}`,
			`{"type":"computer_20250124"}`, `{"type":"bash_20250124"}`, `{"type":"text_editor_20250728"}`, `{"type":"mcp_toolset"}`,
			`{"type":"memory_20250818"}`, `{"type":"tool_search_tool_regex_20251119"}`, `{"type":"Custom"}`, `{"t\u0079pe":"web_search_20250305"}`,
		}},
		"google": {`{"functionDeclarations":[{"name":"f"}]}`, []string{
			`{"googleSearch":{}}`, `{"google_search":{}}`, `{"googleSearchRetrieval":{}}`, `{"google_search_retrieval":{}}`, `{"urlContext":{}}`,
			`{"url_context":{}}`, `{"codeExecution":{}}`, `{"code_execution":{}}`, `{"googleMaps":{}}`, `{"google_maps":{}}`, `{"computerUse":{}}`,
			`{"fileSearch":{}}`, `{"somethingNew":{}}`,
		}},
	}
	for _, name := range []string{"responses", "router-responses"} {
		entry := tools[name]
		entry.keep = `{"type":"function","name":"f"}`
		for _, kind := range openai {
			entry.drop = append(entry.drop, fmt.Sprintf(`{"type":%q,"server_url":"https://evil.org","name":"x"}`, kind))
		}
		tools[name] = entry
	}
	for name, c := range tools {
		t.Run(name, func(t *testing.T) {
			s := newHarness(t, nil)
			w := wires()[name]
			for _, drop := range c.drop {
				body := `{"tools":[` + drop + `,` + c.keep + `],"model":"m"}`
				res, answer := s.inTunnel(w.host, w.request(s, body))
				if res == nil || res.StatusCode != 200 {
					t.Errorf("%s %s: answer %+v %s", name, drop, res, answer)
					continue
				}
				if got, want := s.lastBody(), `{"tools":[`+c.keep+`],"model":"m"}`; got != want {
					t.Errorf("%s: forwarded %s, want %s", name, got, want)
				}
				if r := s.awaitRecords(2)[0]; len(r.Stripped) != 1 {
					t.Errorf("%s %s: the record says %v was taken out", name, drop, r.Stripped)
				}
				s.takeRecords()
			}
		})
	}
}

// Credentials of a login are checked as strictly as keys.
func TestBearerCredentials(t *testing.T) {
	s := newHarness(t, func(c *Config) {
		c.Providers = []string{"anthropic", "chatgpt"}
		c.Modes = map[string]string{"anthropic": KindBearer}
		c.Upstreams = map[string]*url.URL{"api.anthropic.com": c.Upstreams["api.anthropic.com"], "chatgpt.com": c.Upstreams["api.openai.com"]}
	})
	request := func(header string) string {
		text := s.withBody("api.anthropic.com", "/v1/messages", "X-Api-Key", "anthropic", `{"model":"m"}`)
		return strings.Replace(text, "X-Api-Key: "+s.proxy.Sentinel("anthropic")+"\r\n", header, 1)
	}
	own := s.proxy.Sentinel("anthropic")
	for name, header := range map[string]string{
		"none":                   "",
		"another token":          "Authorization: Bearer sk-ant-oat01-attacker\r\n",
		"no scheme":              "Authorization: " + own + "\r\n",
		"basic":                  "Authorization: Basic " + own + "\r\n",
		"two spaces":             "Authorization: Bearer  " + own + "\r\n",
		"a tab":                  "Authorization: Bearer\t" + own + "\r\n",
		"a list":                 "Authorization: Bearer " + own + ", Bearer x\r\n",
		"as a key":               "X-Api-Key: " + own + "\r\n",
		"in both places":         "X-Api-Key: " + own + "\r\nAuthorization: Bearer " + own + "\r\n",
		"twice":                  "Authorization: Bearer " + own + "\r\nAuthorization: Bearer " + own + "\r\n",
		"a key beside it":        "Authorization: Bearer " + own + "\r\nX-Api-Key: sk-attacker\r\n",
		"a cookie beside it":     "Authorization: Bearer " + own + "\r\nCookie: a=b\r\n",
		"another provider's":     "Authorization: Bearer " + s.proxy.Sentinel("chatgpt") + "\r\n",
		"another session's":      "Authorization: Bearer sk-ant-oat01-ironcurtain-" + strings.Repeat("A", 32) + "\r\n",
		"a proxy's beside it":    "Authorization: Bearer " + own + "\r\nProxy-Authorization: Bearer x\r\n",
		"Google's key beside it": "Authorization: Bearer " + own + "\r\nX-Goog-Api-Key: x\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			res, answer := s.inTunnel("api.anthropic.com", request(header))
			if res == nil || res.StatusCode != 403 || !strings.Contains(answer, keyRefusal) {
				t.Errorf("%s: answer %+v %s", name, res, answer)
			}
			state := s.takeRecords()[0].Key
			if another := strings.HasPrefix(name, "another "); another && (state == KeyForeign) != strings.HasSuffix(name, "'s") {
				t.Errorf("%s is recorded as %s", name, state)
			}
		})
	}
	if n := s.conns.Load(); n != 0 {
		t.Errorf("the upstream saw %d connections", n)
	}
	for _, scheme := range []string{"Bearer", "bearer"} {
		t.Run(scheme, func(t *testing.T) {
			if res, answer := s.inTunnel("api.anthropic.com", request("Authorization: "+scheme+" "+own+"\r\n")); res == nil || res.StatusCode != 200 {
				t.Errorf("%s: answer %+v %s", scheme, res, answer)
			}
		})
	}
}

// Query parameters, methods and paths of the other providers.
func TestOtherProvidersEndpoints(t *testing.T) {
	s := newHarness(t, nil)
	ask := func(provider, host, header, line string) (*http.Response, string) {
		key := s.proxy.Sentinel(provider)
		if header == "Authorization" {
			key = "Bearer " + key
		}
		return s.inTunnel(host, line+" HTTP/1.1\r\nHost: "+host+"\r\n"+header+": "+key+"\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
	}
	for _, c := range []struct {
		provider, host, header, line string
		reason                       Reason
	}{
		{"openai", "api.openai.com", "Authorization", "POST /v1/files", ReasonEndpoint},
		{"openai", "api.openai.com", "Authorization", "POST /v1/responses/resp_1/cancel", ReasonEndpoint},
		{"openai", "api.openai.com", "Authorization", "GET /v1/responses/resp_1", ReasonEndpoint},
		{"openai", "api.openai.com", "Authorization", "POST /v1/responses?include=x", ReasonQuery},
		{"openai", "api.openai.com", "Authorization", "POST /v1/chat/completions/", ReasonRawTarget},
		{"openai", "api.openai.com", "Authorization", "POST /v1/chat%2fcompletions", ReasonRawTarget},
		{"openai", "api.openai.com", "Authorization", "DELETE /v1/models", ReasonEndpoint},
		{"openai", "api.openai.com", "Authorization", "POST /v1/realtime", ReasonEndpoint},
		{"google", "generativelanguage.googleapis.com", "X-Goog-Api-Key", "POST /v1beta/models/m:generateContent?key=x", ReasonKey},
		{"google", "generativelanguage.googleapis.com", "X-Goog-Api-Key", "POST /v1beta/models/m:generateContent?$httpMethod=GET", ReasonQuery},
		{"google", "generativelanguage.googleapis.com", "X-Goog-Api-Key", "POST /v1beta/models/m:streamGenerateContent?alt=media", ReasonQuery},
		{"google", "generativelanguage.googleapis.com", "X-Goog-Api-Key", "POST /v1beta/models/a/b:generateContent", ReasonEndpoint},
		{"google", "generativelanguage.googleapis.com", "X-Goog-Api-Key", "POST /v1beta/models/m:batchGenerateContent", ReasonEndpoint},
		{"google", "generativelanguage.googleapis.com", "X-Goog-Api-Key", "POST /upload/v1beta/files", ReasonEndpoint},
		{"google", "generativelanguage.googleapis.com", "X-Goog-Api-Key", "POST /v1beta/cachedContents", ReasonEndpoint},
		{"google", "generativelanguage.googleapis.com", "X-Goog-Api-Key", "POST /v1beta/models/:generateContent", ReasonEndpoint},
		{"google", "generativelanguage.googleapis.com", "X-Goog-Api-Key", "POST /v1beta/models/..:generateContent", ReasonEndpoint},
		{"openrouter", "openrouter.ai", "Authorization", "POST /api/v1/completions", ReasonEndpoint},
		{"openrouter", "openrouter.ai", "Authorization", "GET /api/v1/keys", ReasonEndpoint},
		{"openrouter", "openrouter.ai", "Authorization", "POST /api/v1/keys", ReasonEndpoint},
		{"openrouter", "openrouter.ai", "Authorization", "POST /api/v1/chat/completions;x", ReasonRawTarget},
	} {
		t.Run(c.provider, func(t *testing.T) {
			if res, _ := ask(c.provider, c.host, c.header, c.line); res == nil || res.StatusCode/100 != 4 {
				t.Errorf("%s: answer %+v", c.line, res)
			}
			if all := s.awaitRecords(1); len(all) != 1 || all[0].Reason != c.reason {
				t.Errorf("%s: records %+v, want %s", c.line, all, c.reason)
			}
			s.takeRecords()
		})
	}
	if n := s.conns.Load(); n != 0 {
		t.Errorf("the upstream saw %d connections", n)
	}
}
