package mcpproxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/sandbox"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// toolResult is the part of a tool's result that reaches an agent.
type toolResult struct {
	Content    []json.RawMessage `json:"content"`
	Structured json.RawMessage   `json:"structuredContent,omitempty"`
	IsError    bool              `json:"isError,omitempty"`
}

// errUnreadable is the error of a call whose result is not valid MCP.
var errUnreadable = errors.New("the server's result cannot be understood")

// clean makes the agent's version of a result: it replaces host paths by those of the
// container, masks known secrets, and marks refusals of the sandbox.
func (p *Proxy) clean(raw json.RawMessage, sandboxed bool) (result json.RawMessage, failed bool, err error) {
	out, failed, err := agentView(raw)
	if err == nil && failed && sandboxed {
		out, err = p.annotated(out)
	}
	if err != nil {
		return nil, false, errUnreadable
	}
	out = plainSpelling(out)
	if bytes.Count(out, []byte(`"text"`)) > 2 { // several blocks, or one that contains this word
		// This comes first, because the rest of a secret could not be found after its
		// greater part was masked.
		if out, err = p.acrossBlocks(out); err != nil {
			return nil, false, errUnreadable
		}
	}
	// A path or a secret has the same text inside a JSON string, except for characters
	// that JSON must escape. The redactor knows both spellings.
	return []byte(strings.ToValidUTF8(p.present(string(out), false), "\uFFFD")), failed, nil
}

// agentView returns the parts of a result that an agent may see, byte for byte. It looks at
// each byte as rarely as possible, because results can be long.
func agentView(raw json.RawMessage) (out []byte, failed bool, err error) {
	fields, err := jsonx.Split(raw)
	if err != nil {
		return nil, false, err
	}
	if !jsonx.Valid(raw) {
		return nil, false, errors.New("not JSON")
	}
	content, structured := []byte("[]"), []byte(nil)
	for _, f := range fields {
		switch null := string(f.Raw) == "null"; {
		case null:
		case f.Name == "content" && f.Raw[0] == '[':
			content = f.Raw
		case f.Name == "structuredContent":
			structured = f.Raw
		case f.Name == "isError" && (f.Raw[0] == 't' || f.Raw[0] == 'f'):
			failed = f.Raw[0] == 't'
		case f.Name == "content" || f.Name == "isError":
			return nil, false, errors.New("a member has another kind of value than it should")
		}
	}
	out = make([]byte, 0, len(raw)+len(`{"content":[],"structuredContent":,"isError":true}`))
	out = append(append(out, `{"content":`...), content...)
	if structured != nil {
		out = append(append(out, `,"structuredContent":`...), structured...)
	}
	if failed {
		out = append(out, `,"isError":true`...)
	}
	return append(out, '}'), failed, nil
}

// annotated marks the blocks of an error result that look like refusals of the
// sandbox.
func (p *Proxy) annotated(result []byte) ([]byte, error) {
	var r toolResult
	if err := json.Unmarshal(result, &r); err != nil {
		return nil, err
	}
	for i, block := range r.Content {
		r.Content[i] = p.annotate(block)
	}
	return encode(r)
}

// present returns a text as the agent may see it: with the container's paths, without known
// secrets.
func (p *Proxy) present(text string, sandboxed bool) string {
	return p.blocked(p.redact.Load().Known(p.engine().ToContainer(text)), sandboxed)
}

// blocked marks a text that looks like a refusal of the sandbox, and says what to do.
func (p *Proxy) blocked(text string, sandboxed bool) string {
	marked := sandbox.Annotate(text, sandboxed)
	if marked != text {
		marked += " (The sandbox of this server does not let it do this, so do not repeat the call.)"
	}
	return marked
}

// annotate marks a text block that looks like a refusal of the sandbox.
func (p *Proxy) annotate(block json.RawMessage) json.RawMessage {
	var b struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(block, &b) != nil || b.Type != "text" {
		return block
	}
	b.Text = p.blocked(b.Text, true)
	if marked, err := encode(b); err == nil {
		return marked
	}
	return block
}

// errorResult is a tool result that tells an agent what went wrong.
func errorResult(text string) json.RawMessage {
	body, err := encode(toolResult{Content: []json.RawMessage{textBlock(text)}, IsError: true})
	if err != nil {
		return json.RawMessage(`{"content":[],"isError":true}`)
	}
	return body
}

func textBlock(text string) json.RawMessage {
	block, err := encode(map[string]string{"type": "text", "text": strings.ToValidUTF8(text, "\uFFFD")})
	if err != nil {
		return json.RawMessage(`{"type":"text","text":""}`)
	}
	return block
}

// follow notes the new working directory of the git server.
func (p *Proxy) follow(c *call) {
	if dir := c.verdict.Enters; dir != "" {
		p.workDir.Store(&dir)
	}
}

// acrossBlocks masks known secrets that begin in one text block of a result and end in
// another, because a reader of all blocks would read the secret.
func (p *Proxy) acrossBlocks(result []byte) ([]byte, error) {
	var r toolResult
	if err := json.Unmarshal(result, &r); err != nil {
		return nil, err
	}
	var joined []byte
	var places, starts []int // of the text blocks, in the result and in joined
	for i, block := range r.Content {
		if text, ok := textOf(block); ok {
			places, starts = append(places, i), append(starts, len(joined))
			joined = append(joined, text...)
		}
	}
	redact := p.redact.Load()
	spans := redact.Spans(string(joined))
	if len(places) < 2 || len(spans) == 0 {
		return result, nil
	}
	for n, place := range places {
		start, end := starts[n], len(joined)
		if n+1 < len(starts) {
			end = starts[n+1]
		}
		var err error
		if r.Content[place], err = withText(r.Content[place], redact.Cut(string(joined), start, end, spans)); err != nil {
			return nil, err
		}
	}
	return encode(r)
}

// textOf is the text of a text block.
func textOf(block json.RawMessage) (string, bool) {
	var b struct {
		Type string  `json:"type"`
		Text *string `json:"text"`
	}
	if json.Unmarshal(block, &b) != nil || b.Type != "text" || b.Text == nil {
		return "", false
	}
	return *b.Text, true
}

// withText returns a block with another text.
func withText(block json.RawMessage, text string) (json.RawMessage, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(block, &members); err != nil {
		return nil, err
	}
	quoted, err := encode(text)
	if err != nil {
		return nil, err
	}
	members["text"] = quoted
	return encode(members)
}
