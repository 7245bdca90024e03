package mcpproxy

import "encoding/json"

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
