// Package body judges the JSON body of a request to a model provider.
//
// Providers run tools of their own: they search, fetch URLs, execute code and keep files,
// outside the sandbox, for any client that asks. For an agent without a network each of
// these is a way out. So this package removes the tools that the provider would run from
// the request, and refuses members that make the provider fetch or look up something.
//
// The judgment fails closed. A strict reader reads the bytes once and refuses everything
// that two JSON parsers could read differently: duplicate keys, keys that differ from a
// judged one only in case, underscores or hyphens, a byte order mark, invalid UTF-8, data
// after the end, excessive depth. Everything that is not removed stays byte-identical, so
// that the provider's prompt cache still matches.
package body

import (
	"fmt"
)

// Format is a wire format of requests.
type Format string

// The wire formats.
const (
	AnthropicMessages   Format = "anthropic-messages"
	OpenAIResponses     Format = "openai-responses"
	OpenAIChat          Format = "openai-chat"
	GoogleGenerate      Format = "google-generate"
	OpenRouterMessages  Format = "openrouter-messages"
	OpenRouterResponses Format = "openrouter-responses"
	OpenRouterChat      Format = "openrouter-chat"
)

// Valid reports whether f is a known format.
func (f Format) Valid() bool { return rulesOf(f) != nil }

// Formats returns the known formats.
func Formats() []Format {
	return []Format{
		AnthropicMessages, OpenAIResponses, OpenAIChat, GoogleGenerate,
		OpenRouterMessages, OpenRouterResponses, OpenRouterChat,
	}
}

// Result is a judged body.
type Result struct {
	Body    []byte   // what to forward: the given slice itself if nothing was changed
	Removed []string // what was removed or changed, for the audit: "tools:web_search_20250305"
	Model   string   // the first model that the body names; empty when it names none
	Others  []string // further models that may answer instead
	Most    int64    // how many tokens the body allows for one answer; 0 if it has no limit, math.MaxInt64 if the limit is not a number
	Answers int64    // how many answers the body asks for
}

// Refusal is the error for a well-formed body that asks for something that is not allowed.
// Its text is for the agent.
type Refusal struct{ Text string }

func (r *Refusal) Error() string { return r.Text }

func refuse(format string, args ...any) error { return &Refusal{fmt.Sprintf(format, args...)} }

// Judge checks a body and removes what must not be forwarded. On an error nothing may be
// forwarded. The error is a *Refusal, or says why the bytes are not acceptable JSON. Even
// then the result has the model and the other members that were read before the error.
func Judge(f Format, data []byte) (Result, error) {
	rules := rulesOf(f)
	if rules == nil {
		return Result{}, fmt.Errorf("unknown body format %q", f)
	}
	j := new(judge)
	err := j.run(data, rules)
	r := Result{Model: j.model, Others: j.others, Removed: j.removed, Most: j.maxTokens, Answers: max(j.answers, 1)}
	if r.Model == "" && len(r.Others) > 0 {
		r.Model, r.Others = r.Others[0], r.Others[1:]
	}
	if err != nil {
		return r, err
	}
	r.Body = apply(data, j.edits)
	return r, nil
}

func rulesOf(f Format) func(*judge) error {
	switch f {
	case AnthropicMessages:
		return (*judge).anthropic
	case OpenAIResponses:
		return (*judge).responses
	case OpenAIChat:
		return (*judge).chat
	case GoogleGenerate:
		return (*judge).google
	case OpenRouterMessages:
		return openRouter((*judge).anthropic)
	case OpenRouterResponses:
		return openRouter((*judge).responses)
	case OpenRouterChat:
		return openRouter((*judge).chat)
	}
	return nil
}
