package provider_test

import (
	"crypto/tls"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/demo/scripted"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm/provider"
)

const codeSchema = `{"type":"object","properties":{"code":{"type":"string","description":"a <program>"}},"required":["code"],"additionalProperties":false}`

// newRequest is a conversation that begins, with the one tool there is.
func newRequest(messages ...llm.Message) llm.Request {
	return llm.Request{
		System: "Working directory: /workspace", MaxTokens: 777, Messages: messages,
		Tools: []llm.Tool{{Name: "execute_code", Description: "runs a program", Schema: json.RawMessage(codeSchema)}},
	}
}

func says(text string) llm.Message { return llm.Message{Role: llm.User, Text: text} }

// With the scripted model, over the network: a text, a call, its result, the next messages.
func TestChat(t *testing.T) {
	server, err := scripted.Start(t.Context(), scripted.WithDelay(0))
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: server.CAPool()}, ForceAttemptHTTP2: true}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	for name, o := range map[string]provider.Options{
		"anthropic": {Provider: "anthropic", BaseURL: server.URL()},
		"openai":    {Provider: "openai", BaseURL: server.URL() + "/v1/"},
		"google":    {Provider: "google", BaseURL: server.URL()},
		"gateway":   {Provider: "gateway", Format: "openai", BaseURL: server.URL() + "/v1"},
	} {
		t.Run(name, func(t *testing.T) {
			o.Model, o.HTTP, o.Key = "m", transport, server.Keys()[name]
			if o.Format != "" {
				o.Key = server.Keys()[o.Format]
			}
			chat, err := provider.NewChat(o)
			if err != nil {
				t.Fatal(err)
			}
			defer chat.Close()
			if chat.Name() != name+"/m" {
				t.Errorf("it is called %q", chat.Name())
			}
			r := newRequest()
			ask := func(m llm.Message) llm.Reply {
				t.Helper()
				r.Messages = append(r.Messages, m)
				var pieces []string
				reply, err := chat.Reply(t.Context(), r, func(piece string) { pieces = append(pieces, piece) })
				if err != nil {
					t.Fatal(err)
				}
				if strings.Join(pieces, "") != reply.Text || len(pieces) < 2 || reply.Cut || reply.Used.In == 0 || reply.Used.Out == 0 {
					t.Errorf("pieces %q of %+v", pieces, reply)
				}
				r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, Text: reply.Text, Calls: reply.Calls})
				return reply
			}
			if reply := ask(says("say hello to everybody")); reply.Text != "hello to everybody" || reply.Calls != nil {
				t.Errorf("%+v", reply)
			}
			for prompt, code := range map[string]string{
				`read "a <b> \ c"`: `return await filesystem.read_text_file({"path":"a \u003cb\u003e \\ c"});`,
				"batch 12":         "Array.from({ length: 12 }, (_, i) => filesystem.read_text_file({ path: \"/workspace/hello.txt\", head: i + 1 }))",
			} {
				reply := ask(says(prompt))
				var arguments struct{ Code string }
				if len(reply.Calls) != 1 || json.Unmarshal(reply.Calls[0].Arguments, &arguments) != nil {
					t.Fatalf("%+v", reply)
				}
				if !strings.Contains(arguments.Code, code) || reply.Calls[0].Name != "execute_code" || reply.Calls[0].ID == "" {
					t.Errorf("%+v", reply.Calls[0])
				}
				for _, failed := range []bool{false, true} {
					result := llm.Result{ID: reply.Calls[0].ID, Name: "execute_code", Text: "DENIED: 42 things", Failed: failed}
					answered := ask(llm.Message{Role: llm.User, Results: []llm.Result{result}})
					if !strings.Contains(answered.Text, "> DENIED: 42 things") || len(answered.Calls) != 0 {
						t.Errorf("%+v", answered)
					}
					r.Messages = r.Messages[:len(r.Messages)-2]
				}
				r.Messages = r.Messages[:len(r.Messages)-2]
			}
		})
	}
}

// carrier is a transport without a network.
type carrier func(r *http.Request) (*http.Response, error)

func (c carrier) RoundTrip(r *http.Request) (*http.Response, error) { return c(r) }

// answering is the answer to a request, whose body is asked for anew each time.
func answering(code int, header http.Header, body func(*http.Request) io.Reader) carrier {
	return func(r *http.Request) (*http.Response, error) {
		header := header.Clone()
		if header == nil {
			header = http.Header{}
		}
		if header.Get("Content-Type") == "" {
			header.Set("Content-Type", "text/event-stream; charset=utf-8")
		}
		return &http.Response{StatusCode: code, Header: header, Body: io.NopCloser(body(r)), Request: r, ProtoMajor: 1, ProtoMinor: 1}, nil
	}
}

func stream(text string) carrier {
	return answering(http.StatusOK, nil, func(*http.Request) io.Reader { return strings.NewReader(text) })
}

// newChat makes a conversation over a carrier.
func newChat(tb testing.TB, name string, c http.RoundTripper) llm.Chat {
	tb.Helper()
	chat, err := provider.NewChat(provider.Options{Provider: name, Model: "m", Key: key, HTTP: c})
	if err != nil {
		tb.Fatal(err)
	}
	return chat
}

// recorded is an answer of each provider: a text and two calls.
var recorded = map[string]string{
	"anthropic": `event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":3,"cache_creation_input_tokens":20,"cache_read_input_tokens":100,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: ping
data: {"type":"ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"I will "}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"read ä."}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"c1","name":"execute_code","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"code\":"}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"\"x\"}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"c2","name":"now","input":{}}}

event: content_block_stop
data: {"type":"content_block_stop","index":2}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":45}}

event: message_stop
data: {"type":"message_stop"}

`,
	"openai": `: a remark

data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}

data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"I will "},"finish_reason":null}]}

data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"read ä."},"finish_reason":null}]}

data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"execute_code","arguments":""}}]},"finish_reason":null}]}

data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"code\":"}}]},"finish_reason":null}]}

data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"x\"}"}}]},"finish_reason":null}]}

data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"c2","type":"function","function":{"name":"now","arguments":"{}"}}]},"finish_reason":null}]}

data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":123,"completion_tokens":45,"total_tokens":168,"prompt_tokens_details":{"cached_tokens":100}}}

data: [DONE]

`,
	"google": `data: {"candidates":[{"content":{"role":"model","parts":[{"text":"I wonder","thought":true}]},"index":0}],"usageMetadata":{"promptTokenCount":123}}

data: {"candidates":[{"content":{"role":"model","parts":[{"text":"I will "}]},"index":0}],"usageMetadata":{"promptTokenCount":123}}

data: {"candidates":[{"content":{"role":"model","parts":[{"text":"read ä."}]},"index":0}],"usageMetadata":{"promptTokenCount":123,"candidatesTokenCount":7}}

data: {"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"execute_code","args":{"code":"x"},"id":"c1"},"thoughtSignature":"c2lnbmVkAP8="},{"functionCall":{"name":"now","args":{},"id":"c2"}}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":123,"cachedContentTokenCount":100,"candidatesTokenCount":40,"thoughtsTokenCount":5}}

`,
}

// whole is what the recorded answers say.
func whole(name string) llm.Reply {
	reply := llm.Reply{Text: "I will read ä.", Used: llm.Tokens{In: 123, Out: 45}, Calls: []llm.Call{
		{ID: "c1", Name: "execute_code", Arguments: json.RawMessage(`{"code":"x"}`)}, {ID: "c2", Name: "now", Arguments: json.RawMessage(`{}`)},
	}}
	if name == "google" {
		reply.Calls[0].Signature = []byte("signed\x00\xff")
	}
	return reply
}

// proper is from where on each recorded answer has its end.
var proper = map[string]string{
	"anthropic": `data: {"type":"message_stop"}` + "\n\n",
	"openai":    `"finish_reason":"tool_calls"}]}` + "\n\n",
	"google":    `"thoughtsTokenCount":5}}`,
}

// An answer that is cut off anywhere is an error or whole, and a connection that is lost is
// an error that is worth asking again.
func TestChatCut(t *testing.T) {
	var logged strings.Builder // a line in the log opens the file of the time zone
	log.SetOutput(&logged)
	defer func() {
		log.SetOutput(os.Stderr)
		if logged.Len() > 0 {
			t.Errorf("the log says %.1000s", logged.String())
		}
	}()
	for name, text := range recorded {
		for _, lost := range []bool{false, true} {
			t.Run(name+"/"+strconv.FormatBool(lost), func(t *testing.T) {
				cut := 0
				chat := newChat(t, name, answering(http.StatusOK, nil, func(*http.Request) io.Reader {
					if lost {
						return io.MultiReader(strings.NewReader(text[:cut]), errorReader{io.ErrUnexpectedEOF})
					}
					return strings.NewReader(text[:cut])
				}))
				end := strings.Index(text, proper[name]) + len(proper[name])
				if lost && name == "openai" {
					end = strings.Index(text, "data: [DONE]\n\n") + len("data: [DONE]\n\n")
				} else if lost && name == "google" {
					end = len(text) + 1 // only the connection says that this was all
				}
				for ; cut <= len(text); cut++ {
					reply, err := chat.Reply(t.Context(), newRequest(says("x")), func(string) {})
					switch {
					case cut < end && (err == nil || !llm.Transient(err) || reply.Calls != nil):
						t.Fatalf("after %d bytes: %+v, %v", cut, reply, err)
					case cut >= end && err != nil:
						t.Fatalf("after %d bytes, which are all: %v", cut, err)
					}
				}
				if end <= len(text) {
					cut = len(text)
					reply, err := chat.Reply(t.Context(), newRequest(says("x")), func(string) {})
					if diff := cmp.Diff(whole(name), reply); err != nil || diff != "" {
						t.Errorf("%v\n%s", err, diff)
					}
				}
			})
		}
	}
}

type errorReader struct{ err error }

func (r errorReader) Read([]byte) (int, error) { return 0, r.err }
