package fetch

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonrpc"
)

// toolName is the name of the only tool.
const toolName = "http_fetch"

// defaultLength is the longest body that is returned if a call names no length, in characters.
const defaultLength = 5000

// toolList is the answer to tools/list. The built-in annotations of the tool were made for this
// schema.
var toolList = json.RawMessage(`{"tools":[{"name":"http_fetch","title":"Fetch a web page",` +
	`"description":"Fetches a web page or file over HTTP with GET and returns its text. HTML becomes Markdown unless another format is asked for. ` +
	`Every redirect is judged like a call of its own; one that is not allowed ends the call and says where it led.",` +
	`"inputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{` +
	`"url":{"type":"string","description":"The http or https address to fetch.","minLength":1,"maxLength":8192},` +
	`"headers":{"type":"object","description":"Additional request headers.","additionalProperties":{"type":"string"}},` +
	`"max_length":{"type":"integer","description":"Longest body to return, in characters.","minimum":1,"maximum":1000000,"default":5000},` +
	`"format":{"type":"string","description":"How to return the body.","enum":["markdown","text","html"],"default":"markdown"},` +
	`"timeout":{"type":"integer","description":"Seconds to wait.","minimum":1,"maximum":60,"default":30}},` +
	`"required":["url"],"additionalProperties":false},` +
	`"annotations":{"readOnlyHint":true,"openWorldHint":true}}]}`)

// answer is the JSON that a call returns as text.
type answer struct {
	URL       string            `json:"url"` // after redirects
	Status    int               `json:"status"`
	Headers   map[string]string `json:"headers,omitempty"`
	Body      string            `json:"body"`
	Truncated bool              `json:"truncated"`
}

// call carries out one call. It ignores the address, the headers and the time limit, because the
// client has judged them and applies them.
func (s *server) call(ctx context.Context, m jsonrpc.Message) (string, error) {
	var p struct {
		Name      string `json:"name"`
		Arguments struct {
			MaxLength int    `json:"max_length"`
			Format    string `json:"format"`
		} `json:"arguments"`
	}
	if err := json.Unmarshal(m.Params, &p); err != nil {
		return "", errors.New("invalid parameters")
	}
	if p.Name != toolName {
		return "", errors.New("there is no such tool")
	}
	page, err := s.page(ctx, m.ID)
	if err != nil {
		return "", err
	}
	body, err := render(page, p.Arguments.Format)
	if err != nil {
		return "", err
	}
	a := answer{URL: page.URL, Status: page.Status, Headers: page.Headers, Truncated: page.Truncated}
	var cut bool
	a.Body, cut = firstCharacters(body, p.Arguments.MaxLength)
	a.Truncated = a.Truncated || cut
	return plainJSON(a)
}

// plainJSON encodes a value without escaping characters of HTML.
func plainJSON(v any) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// firstCharacters cuts a text to n characters, and reports whether it was longer.
func firstCharacters(text string, n int) (cut string, was bool) {
	if n <= 0 {
		n = defaultLength
	}
	if utf8.RuneCountInString(text) <= n {
		return text, false
	}
	for i := range text {
		if n == 0 {
			return text[:i], true
		}
		n--
	}
	return text, false
}

// toolResult returns the result of a call. An error becomes a text.
func toolResult(text string, err error) json.RawMessage {
	if err != nil {
		text = "fetch: " + err.Error()
	}
	type block struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	result, encErr := plainJSON(struct {
		Content []block `json:"content"`
		IsError bool    `json:"isError,omitempty"`
	}{[]block{{"text", text}}, err != nil})
	if encErr != nil {
		return json.RawMessage(`{"content":[],"isError":true}`)
	}
	return json.RawMessage(result)
}
