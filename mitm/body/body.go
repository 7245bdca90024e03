// Package body judges the JSON body of a request to a model provider.
//
// Providers run tools of their own: they search, fetch URLs, execute code and
// keep files, all of it outside the sandbox and on behalf of whoever asks. For
// an agent without a network each of these is a way out. So the tools that the
// provider would run are taken out of the request, and whatever makes the
// provider fetch or look up something is refused.
//
// The judgment fails closed. The bytes are walked once by a strict reader
// that refuses what two JSON parsers could read differently: duplicate keys,
// keys that differ from a judged one in case or underscores only, a byte order
// mark, bad UTF-8, data after the end, excessive depth. What is not taken out
// stays byte-identical, so that the provider's prompt cache still matches.
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

// Valid says whether f is a known format.
func (f Format) Valid() bool { return rulesOf(f) != nil }

// Formats lists the known formats.
func Formats() []Format {
	return []Format{
		AnthropicMessages, OpenAIResponses, OpenAIChat, GoogleGenerate,
		OpenRouterMessages, OpenRouterResponses, OpenRouterChat,
	}
}

// Result is a judged body.
type Result struct {
	Body    []byte   // what to forward: the given bytes themselves when nothing was taken out
	Removed []string // what was taken out or changed, for the audit: "tools:web_search_20250305"
	Model   string   // the model that the body names first; empty when it names none
	Others  []string // further models, one of which may answer in its place
	Most    int64    // the most tokens that one answer may have, as the body says; 0 when it does not, and the largest number when that cannot be read
	Answers int64    // how many answers are asked for
}

// Refusal is a body that is well-formed but asks for something that is not
// allowed. Its text is meant for the agent.
type Refusal struct{ Text string }

func (r *Refusal) Error() string { return r.Text }

func refuse(format string, args ...any) error { return &Refusal{fmt.Sprintf(format, args...)} }

// Judge checks a body and takes out what must not be forwarded. The error is a
// *Refusal, or says why the bytes are not acceptable JSON; then nothing may be
// forwarded. The result's model is set in any case, as far as it was read.
func Judge(f Format, data []byte) (Result, error) {
	rules := rulesOf(f)
	if rules == nil {
		return Result{}, fmt.Errorf("unknown body format %q", f)
	}
	j := new(judge)
	err := j.run(data, rules)
	r := Result{Model: j.model, Others: j.others, Removed: j.removed, Most: j.most, Answers: max(j.answers, 1)}
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
