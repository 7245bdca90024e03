package provider_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm/provider"
)

// What is not an answer is an error that says why, and when to come back.
func TestChatStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the date is that of the first second then
		for about, c := range map[string]struct {
			code   int
			header http.Header
			body   string
			want   llm.StatusError
		}{
			"a reason": {400, nil, `{"error":{"message":"\nno such model\nand more"}}`, llm.StatusError{Code: 400, Said: "no such model"}},
			"a text":   {403, nil, "the budget is spent", llm.StatusError{Code: 403, Said: "the budget is spent"}},
			"a word":   {404, nil, `{"error":"gone"}`, llm.StatusError{Code: 404, Said: "gone"}},
			"nothing":  {401, nil, "", llm.StatusError{Code: 401}},
			"long":     {500, nil, strings.Repeat("x", 1<<20), llm.StatusError{Code: 500, Said: strings.Repeat("x", 300) + "…"}},
			"busy":     {429, nil, `{"error":{"message":"slow"}}`, llm.StatusError{Code: 429, Said: "slow"}},
			"seconds":  {429, http.Header{"Retry-After": {"7"}}, "", llm.StatusError{Code: 429, After: 7 * time.Second}},
			"a date":   {503, http.Header{"Retry-After": {"Sat, 01 Jan 2000 00:01:00 GMT"}}, "", llm.StatusError{Code: 503, After: time.Minute}},
			"the past": {503, http.Header{"Retry-After": {"Sat, 01 Jan 1999 00:01:00 GMT"}}, "", llm.StatusError{Code: 503}},
			"millis":   {529, http.Header{"Retry-After-Ms": {"1500"}, "Retry-After": {"9"}}, "", llm.StatusError{Code: 529, After: 1500 * time.Millisecond}},
			"nonsense": {429, http.Header{"Retry-After": {"soon"}}, "", llm.StatusError{Code: 429}},
			"negative": {429, http.Header{"Retry-After": {"-3"}}, "", llm.StatusError{Code: 429}},
			"no bound": {429, http.Header{"Retry-After": {"1e300"}}, "", llm.StatusError{Code: 429, After: 24 * time.Hour}},
			"redirect": {307, http.Header{"Location": {"https://example.com/"}}, "", llm.StatusError{Code: 307}},
			"an object": {
				200,
				http.Header{"Content-Type": {"application/json"}},
				`{"error":{"message":"upstream","code":502}}`,
				llm.StatusError{Code: 502, Said: "upstream"},
			},
		} {
			for name := range recorded {
				asked := 0
				answer := answering(c.code, c.header, func(*http.Request) io.Reader { return strings.NewReader(c.body) })
				chat := newChat(t, name, carrier(func(r *http.Request) (*http.Response, error) {
					asked++
					return answer(r)
				}))
				_, err := chat.Reply(t.Context(), newRequest(says("x")), func(string) {})
				var got *llm.StatusError
				if !errors.As(err, &got) || asked != 1 {
					t.Errorf("%s, %s: %v, asked %d times", about, name, err, asked)
					continue
				}
				if about == "long" { // a few bytes less are no fault
					got.Said = got.Said[:min(200, len(got.Said))]
					c.want.Said = c.want.Said[:200]
				}
				if *got != c.want {
					t.Errorf("%s, %s: %+v, want %+v", about, name, *got, c.want)
				}
			}
		}
	})
}

// replaced is a recorded answer in which one text stands for another.
func replaced(name, old, with string) string {
	text := strings.Replace(recorded[name], old, with, 1)
	if text == recorded[name] {
		panic(name + " does not contain " + old)
	}
	return text
}

// before is a recorded answer up to a text, and another behind.
func before(name, until, with string) string {
	text, _, found := strings.Cut(recorded[name], until)
	if !found {
		panic(name + " does not contain " + until)
	}
	return text + with
}

// An answer that goes wrong on its way is an error, never half an answer.
func TestChatFaults(t *testing.T) {
	for about, c := range map[string]struct {
		name, stream string
		is           error
		code         int // of a StatusError
	}{
		"overloaded":        {"anthropic", before("anthropic", "event: message_delta", "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"), nil, 529},
		"an error":          {"anthropic", before("anthropic", "event: message_delta", "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"new_error\",\"message\":\"Overloaded\"}}\n\n"), nil, 500},
		"an error, openai":  {"openai", before("openai", "data: [DONE]", "data: {\"error\":{\"message\":\"Overloaded\",\"type\":\"rate_limit_error\",\"code\":null}}\n\n"), nil, 429},
		"a code, openai":    {"openai", before("openai", "data: [DONE]", "data: {\"error\":{\"message\":\"Overloaded\",\"code\":\"503\"}}\n\n"), nil, 503},
		"an error, google":  {"google", recorded["google"] + "data: {\"error\":{\"code\":503,\"message\":\"Overloaded\",\"status\":\"UNAVAILABLE\"}}\n\n", nil, 503},
		"half a call":       {"anthropic", replaced("anthropic", `\"x\"}`, `\"x`), llm.ErrFormat, 0},
		"an open call":      {"anthropic", replaced("anthropic", "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":2}\n\n", ""), llm.ErrFormat, 0},
		"half, openai":      {"openai", replaced("openai", `\"x\"}`, `\"x`), llm.ErrFormat, 0},
		"no object":         {"openai", replaced("openai", `"arguments":"{}"`, `"arguments":"null"`), llm.ErrFormat, 0},
		"a number":          {"openai", replaced("openai", `"arguments":"{}"`, `"arguments":7`), llm.ErrFormat, 0},
		"raw, anthropic":    {"anthropic", replaced("anthropic", `"partial_json":"\"x\"}"`, `"partial_json":{"a":1}`), llm.ErrFormat, 0},
		"number, anthropic": {"anthropic", replaced("anthropic", `"partial_json":""`, `"partial_json":7`), llm.ErrFormat, 0},
		"a list":            {"openai", replaced("openai", `"arguments":"{}"`, `"arguments":"[]"`), llm.ErrFormat, 0},
		"no name":           {"openai", replaced("openai", `"name":"now"`, `"name":""`), llm.ErrFormat, 0},
		"neither":           {"openai", replaced("openai", `"name":"now","arguments":"{}"`, `"name":"","arguments":""`), llm.ErrFormat, 0},
		"malformed, google": {"google", replaced("google", `"STOP"`, `"MALFORMED_FUNCTION_CALL"`), llm.ErrBroken, 0},
		"no id":             {"openai", replaced("openai", `"id":"c2"`, `"id":""`), llm.ErrFormat, 0},
		"another choice":    {"openai", replaced("openai", `[{"index":0,"delta":{},`, `[{"index":1,"delta":{},`), llm.ErrFormat, 0},
		"pieces of a call":  {"google", replaced("google", `"id":"c2"`, `"id":"c2","willContinue":true`), llm.ErrFormat, 0},
		"another candidate": {"google", replaced("google", `"finishReason":"STOP","index":0`, `"finishReason":"STOP","index":1`), llm.ErrFormat, 0},
		"nobody, google":    {"google", replaced("google", `"name":"now"`, `"name":""`), llm.ErrFormat, 0},
		"refused":           {"anthropic", replaced("anthropic", `"stop_reason":"tool_use"`, `"stop_reason":"refusal"`), llm.ErrRefused, 0},
		"refused, openai":   {"openai", replaced("openai", `"finish_reason":"tool_calls"`, `"finish_reason":"content_filter"`), llm.ErrRefused, 0},
		"declined, openai":  {"openai", replaced("openai", `"delta":{}`, `"delta":{"refusal":"no"}`), llm.ErrRefused, 0},
		"refused, google":   {"google", replaced("google", `"STOP"`, `"SAFETY"`), llm.ErrRefused, 0},
		"blocked, google":   {"google", "data: {\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}\n\n", llm.ErrRefused, 0},
		"no JSON":           {"anthropic", replaced("anthropic", `{"type":"ping"}`+"\n\n", "{}\n\nevent: message_start\ndata: {\n\n"), llm.ErrFormat, 0},
		"no JSON, openai":   {"openai", replaced("openai", ": a remark", "data: {"), llm.ErrFormat, 0},
		"no JSON, google":   {"google", "data: {\n\n" + recorded["google"], llm.ErrFormat, 0},
		"types, google":     {"google", "data: {\"candidates\":{}}\n\n", llm.ErrFormat, 0},
		"another delta":     {"anthropic", replaced("anthropic", `"index":2,"content_block"`, `"index":7,"content_block"`), llm.ErrFormat, 0},
		"nothing":           {"anthropic", "", llm.ErrBroken, 0},
		"nothing, openai":   {"openai", "data: [DONE]\n\n", llm.ErrBroken, 0},
		"nothing, google":   {"google", "", llm.ErrBroken, 0},
		"too long":          {"anthropic", before("anthropic", "event: message_delta", strings.Repeat("event: ping\ndata: {}\n\n", 5<<20/20)), llm.ErrTooLarge, 0},
		"too long, openai":  {"openai", strings.Repeat(": a remark\n\n", 5<<20/10) + recorded["openai"], llm.ErrTooLarge, 0},
		"too long, google":  {"google", strings.Repeat(strings.SplitAfter(recorded["google"], "\n\n")[1], 5<<20/100), llm.ErrTooLarge, 0},
		"a line":            {"anthropic", replaced("anthropic", "I will", strings.Repeat("x", 2<<20)), llm.ErrTooLarge, 0},
		"a line, openai":    {"openai", replaced("openai", "I will", strings.Repeat("x", 2<<20)), llm.ErrTooLarge, 0},
		"a line, google":    {"google", replaced("google", "I will", strings.Repeat("x", 2<<20)), llm.ErrTooLarge, 0},
	} {
		t.Run(about, func(t *testing.T) {
			reply, err := newChat(t, c.name, stream(c.stream)).Reply(t.Context(), newRequest(says("x")), func(string) {})
			var status *llm.StatusError
			switch {
			case err == nil || reply.Calls != nil || reply.Text != "":
				t.Errorf("%+v, %v", reply, err)
			case c.is != nil && !errors.Is(err, c.is):
				t.Errorf("%v, want %v", err, c.is)
			case c.code != 0 && (!errors.As(err, &status) || *status != llm.StatusError{Code: c.code, Said: "Overloaded"}):
				t.Errorf("%v, want %d", err, c.code)
			case llm.Transient(err) != (c.is == nil || errors.Is(c.is, llm.ErrBroken)):
				t.Errorf("transient %v: %v", llm.Transient(err), err)
			}
		})
	}
}

// What is unusual and right is taken.
func TestChatTakes(t *testing.T) {
	for about, c := range map[string]struct {
		name, stream string
		change       func(*llm.Reply)
	}{
		"cut":            {"anthropic", replaced("anthropic", `"stop_reason":"tool_use"`, `"stop_reason":"max_tokens"`), cutOff},
		"cut, half":      {"openai", strings.Replace(replaced("openai", `\"x\"}`, `\"x`), `"finish_reason":"tool_calls"`, `"finish_reason":"length"`, 1), cutOff},
		"cut, google":    {"google", replaced("google", `"STOP"`, `"MAX_TOKENS"`), cutOff},
		"all are call 0": {"openai", replaced("openai", `"index":1`, `"index":0`), nil},
		"no arguments":   {"openai", replaced("openai", `"arguments":"{}"`, `"arguments":""`), nil},
		"raw arguments": {"openai", replaced("openai", `"arguments":"{}"`, `"arguments":{"a":1}`), func(r *llm.Reply) {
			r.Calls[1].Arguments = json.RawMessage(`{"a":1}`)
		}},
		"no args":         {"google", replaced("google", `"args":{},`, ``), nil},
		"ids again":       {"openai", replaced("openai", `{"index":0,"function":{"arguments":"\"x`, `{"index":0,"id":"c1","function":{"name":"execute_code","arguments":"\"x`), nil},
		"stop":            {"openai", replaced("openai", `"finish_reason":"tool_calls"`, `"finish_reason":"stop"`), nil},
		"CRLF":            {"anthropic", strings.ReplaceAll(recorded["anthropic"], "\n", "\r\n"), nil},
		"CRLF, google":    {"google", strings.ReplaceAll(recorded["google"], "\n", "\r\n"), nil},
		"after the end":   {"anthropic", recorded["anthropic"] + strings.Repeat("x", 5<<20), nil},
		"behind [DONE]":   {"openai", recorded["openai"] + strings.Repeat("x", 5<<20), nil},
		"text in a start": {"anthropic", replaced("anthropic", `"text":""}}`, `"text":"So: "}}`), func(r *llm.Reply) { r.Text = "So: " + r.Text }},
	} {
		t.Run(about, func(t *testing.T) {
			want := whole(c.name)
			if c.change != nil {
				c.change(&want)
			}
			said := ""
			reply, err := newChat(t, c.name, stream(c.stream)).Reply(t.Context(), newRequest(says("x")), func(piece string) { said += piece })
			if got, wanted := encoded(t, reply), encoded(t, want); err != nil || got != wanted || said != want.Text {
				t.Errorf("%v, said %q\n%s\n%s", err, said, got, wanted)
			}
		})
	}
}

func cutOff(r *llm.Reply) { r.Calls, r.Cut = nil, true }

func encoded(tb testing.TB, v any) string {
	tb.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return string(b)
}

// stalled gives what it has, and then nothing until the request is given up.
func stalled(text string) carrier {
	return answering(http.StatusOK, nil, func(r *http.Request) io.Reader {
		return io.MultiReader(strings.NewReader(text), waiting{r.Context()})
	})
}

type waiting struct{ ctx context.Context }

func (w waiting) Read([]byte) (int, error) {
	<-w.ctx.Done()
	return 0, w.ctx.Err()
}

// A provider that says nothing for five minutes has been lost, in the middle of an answer
// and before it.
func TestChatIdle(t *testing.T) {
	for name := range recorded {
		for about, c := range map[string]carrier{
			"in the middle": stalled(before(name, "read ä.", "")),
			"at first": func(r *http.Request) (*http.Response, error) {
				<-r.Context().Done()
				return nil, r.Context().Err()
			},
		} {
			t.Run(name+"/"+about, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					began := time.Now()
					_, err := newChat(t, name, c).Reply(t.Context(), newRequest(says("x")), func(string) {})
					if !errors.Is(err, llm.ErrBroken) || !llm.Transient(err) || time.Since(began) != 5*time.Minute {
						t.Errorf("%v after %v", err, time.Since(began))
					}
				})
			})
		}
	}
}

// Who no longer wants an answer need not wait for it, and an end that is late costs a second.
func TestChatCancelled(t *testing.T) {
	for name := range recorded {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				reply, err := newChat(t, name, stalled(before(name, "read ä.", ""))).Reply(ctx, newRequest(says("x")), func(string) { cancel() })
				if !errors.Is(err, context.Canceled) || llm.Transient(err) || reply.Text != "" || time.Since(began) != 0 {
					t.Errorf("%+v, %v after %v", reply, err, time.Since(began))
				}
				began = time.Now()
				bad := map[string]string{"anthropic": "event: content_block_stop\n", "openai": "", "google": ""}[name] + "data: {\n\n"
				_, err = newChat(t, name, stalled(bad)).Reply(t.Context(), newRequest(says("x")), func(string) {})
				if !errors.Is(err, llm.ErrFormat) || time.Since(began) != time.Second {
					t.Errorf("%v after %v", err, time.Since(began))
				}
				began = time.Now()
				if name == "google" {
					return // only its connection says that the answer is at its end
				}
				if _, err := newChat(t, name, stalled(recorded[name])).Reply(t.Context(), newRequest(says("x")), func(string) {}); err != nil || time.Since(began) != time.Second {
					t.Errorf("%v after %v", err, time.Since(began))
				}
			})
		})
	}
}

// seen is a carrier that keeps the bodies of requests.
func seen(tb testing.TB, name string, bodies *[]string) carrier {
	tb.Helper()
	answer := stream(recorded[name])
	return func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			tb.Error(err)
		}
		*bodies = append(*bodies, string(body))
		return answer(r)
	}
}

// A request says what the conversation was, in the provider's words, and what a cache may keep.
func TestChatRequests(t *testing.T) {
	call := llm.Call{ID: "c1", Name: "execute_code", Arguments: json.RawMessage(`{"code":"x <y>"}`), Signature: []byte("signed\x00\xff")}
	r := newRequest(
		says("first"), llm.Message{Role: llm.Assistant, Text: "I will", Calls: []llm.Call{call}},
		llm.Message{Role: llm.User, Results: []llm.Result{{ID: "c1", Name: "execute_code", Text: "no", Failed: true}}, Text: "and go on"},
	)
	const mark = `"cache_control":{"type":"ephemeral"}`
	for name, parts := range map[string][]string{
		"anthropic": {
			`"stream":true`, `"max_tokens":777`, `"system":[{"text":"Working directory: /workspace",` + mark,
			`"input_schema":` + codeSchema, `"tool_use_id":"c1"`, `"is_error":true`, `{"text":"and go on",` + mark, `"input":{"code":"x <y>"}`,
		},
		"openai": {
			`"stream":true`, `"stream_options":{"include_usage":true}`, `"max_completion_tokens":777`, `"tool_call_id":"c1"`,
			`"arguments":"{\"code\":\"x <y>\"}"`, `"content":"and go on"`, `"a <program>"`,
		},
		"google": {
			`"maxOutputTokens":777`, `"thoughtSignature":"c2lnbmVkAP8="`, `"id":"c1"`, `"error":"no"`, `"parametersJsonSchema":`,
			`"additionalProperties":false`, `"args":{"code":"x <y>"}`, `{"text":"and go on"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var bodies []string
			if _, err := newChat(t, name, seen(t, name, &bodies)).Reply(t.Context(), r, func(string) {}); err != nil {
				t.Fatal(err)
			}
			body := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(bodies[0])
			for _, part := range parts {
				if !strings.Contains(body, part) {
					t.Errorf("%s is missing in %s", part, body)
				}
			}
			if marks := strings.Count(body, mark); name == "anthropic" && marks != 4 || name != "anthropic" && marks != 0 {
				t.Errorf("%d marks in %s", marks, body)
			}
		})
	}
}

// Gemini's calls may have no ids: they get some, each its own, and the model never sees them.
// Their signatures go back.
func TestChatGoogleIDs(t *testing.T) {
	answer := stream(strings.NewReplacer(`,"id":"c1"`, "", `,"id":"c2"`, "").Replace(recorded["google"]))
	var body string
	chat := newChat(t, "google", carrier(func(r *http.Request) (*http.Response, error) {
		b, err := io.ReadAll(r.Body)
		body = string(b)
		if err != nil {
			t.Error(err)
		}
		return answer(r)
	}))
	r := newRequest(says("x"))
	var ids []string
	for range 2 {
		reply, err := chat.Reply(t.Context(), r, func(string) {})
		if err != nil {
			t.Fatal(err)
		}
		var results []llm.Result
		for _, call := range reply.Calls {
			if call.ID == "" || slices.Contains(ids, call.ID) {
				t.Errorf("the id %q, after %q", call.ID, ids)
			}
			ids = append(ids, call.ID)
			results = append(results, llm.Result{ID: call.ID, Name: call.Name, Text: "done"})
		}
		r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, Text: reply.Text, Calls: reply.Calls}, llm.Message{Role: llm.User, Results: results})
	}
	if strings.Contains(body, `"id"`) || strings.Count(body, `"thoughtSignature":"c2lnbmVkAP8="`) != 1 {
		t.Errorf("the second request is %s", body)
	}
}

// A provider that is none of the three needs to be described.
func TestChatOptions(t *testing.T) {
	good := provider.Options{Provider: "gateway", Format: "openai", Model: "m", Key: key, BaseURL: "https://example.com/v1"}
	for i, change := range []func(*provider.Options){
		func(*provider.Options) {},
		func(o *provider.Options) { o.Provider = "" },
		func(o *provider.Options) { o.Provider = "anthropic" },
		func(o *provider.Options) { o.Format = "" },
		func(o *provider.Options) { o.Format = "soap" },
		func(o *provider.Options) { o.Model = "" },
		func(o *provider.Options) { o.BaseURL = "" },
		func(o *provider.Options) { o.BaseURL = "http://example.com" },
		func(o *provider.Options) { o.Key = "" },
	} {
		o := good
		change(&o)
		if _, err := provider.NewChat(o); (err == nil) != (i == 0) {
			t.Errorf("%d: %+v gave %v", i, o, err)
		}
		if _, err := provider.New(o); err == nil {
			t.Errorf("%d: %+v is asked questions", i, o)
		}
	}
	var bodies []string
	good.HTTP = seen(t, "openai", &bodies)
	chat, err := provider.NewChat(good)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := chat.Reply(t.Context(), newRequest(says("x")), func(string) {}); err != nil || !strings.Contains(bodies[0], `"max_tokens":777`) {
		t.Errorf("%v, %s", err, strconv.Quote(bodies[0]))
	}
}

func fuzzStream(f *testing.F, name string) {
	f.Helper()
	f.Add([]byte(recorded[name]))
	f.Add([]byte("data: null\n\n"))
	f.Add([]byte("data: {\"candidates\":[null]}\n\n"))
	f.Add([]byte("event: error\ndata: {\"error\":null}\n\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		said := ""
		reply, err := newChat(t, name, stream(string(text))).Reply(t.Context(), newRequest(says("x")), func(piece string) { said += piece })
		if err != nil && (reply.Text != "" || reply.Calls != nil) || err == nil && said != reply.Text || reply.Cut && reply.Calls != nil {
			t.Errorf("%+v, said %q, %v", reply, said, err)
		}
		for _, call := range reply.Calls {
			var object map[string]any
			if json.Unmarshal(call.Arguments, &object) != nil || object == nil || call.ID == "" || call.Name == "" {
				t.Errorf("the call %+v", call)
			}
		}
	})
}

func FuzzChatAnthropic(f *testing.F) { fuzzStream(f, "anthropic") }
func FuzzChatOpenAI(f *testing.F)    { fuzzStream(f, "openai") }
func FuzzChatGoogle(f *testing.F)    { fuzzStream(f, "google") }
