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
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
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
	Model   string   // the model that the body names; empty when it names none
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
	j := &judge{reader: reader{data: data}}
	err := j.run(rules)
	r := Result{Model: j.model, Removed: j.removed}
	if err != nil {
		return r, err
	}
	r.Body = j.apply()
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

// judge walks a body and collects what to change.
type judge struct {
	reader
	router       bool // OpenRouter's additions apply
	model        string
	edits        []edit
	removed      []string
	removedNames map[string]bool // names of tools that were taken out
	keptNames    map[string]bool // names of tools that stay
	choice       string          // name of the tool that the request insists on
}

// edit replaces data[start:end].
type edit struct {
	start, end int
	text       string
}

func (j *judge) run(rules func(*judge) error) error {
	if err := j.begin(); err != nil {
		return err
	}
	if j.peek() != '{' {
		return errors.New("it is not an object")
	}
	if err := rules(j); err != nil {
		return err
	}
	if err := j.finish(); err != nil {
		return err
	}
	if j.choice != "" && j.removedNames[j.choice] && !j.keptNames[j.choice] {
		return refuse("tool_choice names a tool that the provider would run.")
	}
	return nil
}

// apply carries out the edits.
func (j *judge) apply() []byte {
	if len(j.edits) == 0 {
		return j.data
	}
	slices.SortFunc(j.edits, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
	out := make([]byte, 0, len(j.data))
	at := 0
	for _, e := range j.edits {
		out = append(append(out, j.data[at:e.start]...), e.text...)
		at = e.end
	}
	return append(out, j.data[at:]...)
}

// note remembers what was changed. The text may come from the agent.
func (j *judge) note(format string, args ...any) {
	const most = 32
	switch text := fmt.Sprintf(format, args...); {
	case len(j.removed) < most:
		j.removed = append(j.removed, clip(text))
	case len(j.removed) == most:
		j.removed = append(j.removed, "and more")
	}
}

// clip makes a text of the agent fit to print.
func clip(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
	if len(s) > 80 {
		s = s[:80]
	}
	return s
}

// members walks the object at the cursor. For each member it calls each with
// the key; each must read the value. A key that is not one of names but could
// be taken for one by a lenient parser is refused.
func (j *judge) members(names []string, each func(key string) error) error {
	return j.object(func(key string) error {
		if !slices.Contains(names, key) {
			plain := fold(key)
			for _, name := range names {
				if plain == fold(name) {
					return fmt.Errorf("the key %q is spelled in another way than %q", clip(key), name)
				}
			}
		}
		return each(key)
	})
}

// fold maps spellings of a key that lenient parsers take for each other to the
// same text.
func fold(key string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '_' || r == '-':
			return -1
		case r == 'ſ': // folds to s
			return 's'
		case r == '\u212a': // the Kelvin sign folds to k
			return 'k'
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return r
	}, key)
}

// filter walks the array at the cursor; elements for which keep returns false
// are taken out.
func (j *judge) filter(keep func() (bool, error)) error {
	kept, last := false, -1
	pending := -1 // start of leading elements to take out
	pendingEnd := -1
	err := j.array(func() error {
		start, marks := j.pos, len(j.edits)
		ok, err := keep()
		if err != nil {
			return err
		}
		switch {
		case ok && pending >= 0:
			j.edits = append(j.edits, edit{start: pending, end: start})
			pending = -1
		case !ok:
			j.edits = j.edits[:marks] // changes inside do not matter any more
			if kept {
				j.edits = append(j.edits, edit{start: last, end: j.pos})
			} else {
				if pending < 0 {
					pending = start
				}
				pendingEnd = j.pos
			}
		}
		kept, last = kept || ok, j.pos
		return nil
	})
	if err == nil && pending >= 0 {
		j.edits = append(j.edits, edit{start: pending, end: pendingEnd})
	}
	return err
}

// text reads a string; what names the value in an error.
func (j *judge) text(what string) (string, error) {
	if j.peek() != '"' {
		return "", fmt.Errorf("%s is not a string", what)
	}
	return j.str()
}

// texts walks a value that must be an array of strings.
func (j *judge) texts(what string, each func(string) error) error {
	if j.peek() != '[' {
		return fmt.Errorf("%s is not an array", what)
	}
	return j.array(func() error {
		s, err := j.text(what)
		if err != nil {
			return err
		}
		return each(s)
	})
}

// absent reads a value that must be null, false or empty; anything else is
// refused with the given words.
func (j *judge) absent(words string) error {
	start := j.pos
	if err := j.skip(); err != nil {
		return err
	}
	switch strings.Join(strings.Fields(string(j.data[start:min(j.pos, start+64)])), "") {
	case "null", "false", "[]", "{}", `""`:
		return nil
	}
	return refuse("%s", words)
}

// remote refuses a string that makes the provider fetch something; only data
// that is contained in the request passes.
func remote(url, what string) error {
	if strings.HasPrefix(url, "data:") {
		return nil
	}
	return refuse("%s would make the provider fetch a URL; send the data itself.", what)
}
