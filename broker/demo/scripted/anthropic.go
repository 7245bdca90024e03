package scripted

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// The Anthropic Messages API: POST /v1/messages, streaming or not, and
// POST /v1/messages/count_tokens.

// anthropicRequest is what is read of a request's body. Members that the script does not use are
// ignored, because the provider adds new ones all the time.
type anthropicRequest struct {
	Model     string             `json:"model"`
	MaxTokens int                `json:"max_tokens"`
	Stream    bool               `json:"stream"`
	System    anthropicContent   `json:"system"`
	Messages  []anthropicMessage `json:"messages"`
	Tools     []anthropicTool    `json:"tools"`

	OutputConfig struct {
		Format anthropicFormat `json:"format"`
	} `json:"output_config"`
	OutputFormat anthropicFormat `json:"output_format"`
}

// anthropicFormat asks for an answer of a given shape.
type anthropicFormat struct {
	Schema *schema `json:"schema"`
}

type anthropicMessage struct {
	Role    string           `json:"role"`
	Content anthropicContent `json:"content"`
}

type anthropicTool struct {
	Name        string `json:"name"`
	InputSchema schema `json:"input_schema"`
}

type anthropicBlock struct {
	Type    string           `json:"type"`
	Text    string           `json:"text"`
	Content anthropicContent `json:"content"`
	IsError bool             `json:"is_error"`
	Source  struct {
		MediaType string `json:"media_type"`
		Data      string `json:"data"` // base64
	} `json:"source"` // of an image
}

// anthropicContent is a list of blocks; a plain string stands for one block of
// text.
type anthropicContent []anthropicBlock

// UnmarshalJSON reads both forms.
func (c *anthropicContent) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		var text string
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
		*c = anthropicContent{{Type: "text", Text: text}}
		return nil
	}
	var blocks []anthropicBlock
	if err := json.Unmarshal(data, &blocks); err != nil {
		return err
	}
	*c = blocks
	return nil
}

// text joins the blocks of text.
func (c anthropicContent) text() string {
	return strings.Join(c.texts(), "\n")
}

func (c anthropicContent) texts() []string {
	var texts []string
	for _, b := range c {
		if b.Type == "text" {
			texts = append(texts, b.Text)
		}
	}
	return texts
}

// decodeAnthropic reads a body and refuses what the provider would refuse.
// Token counting takes no max_tokens.
func decodeAnthropic(body []byte, counting bool) (*anthropicRequest, error) {
	var r anthropicRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, fmt.Errorf("the request body is not valid: %w", err)
	}
	switch {
	case r.Model == "":
		return nil, errors.New("model: Field required")
	case r.MaxTokens == 0 && !counting:
		return nil, errors.New("max_tokens: Field required")
	case r.MaxTokens < 0:
		return nil, errors.New("max_tokens: must be greater than or equal to 1")
	case len(r.Messages) == 0:
		return nil, errors.New("messages: at least one message is required")
	}
	for i, m := range r.Messages {
		switch m.Role {
		case "user", "assistant", "system":
		default:
			return nil, fmt.Errorf("messages.%d.role: Input should be 'user' or 'assistant'", i)
		}
	}
	for i, t := range r.Tools {
		if t.Name == "" {
			return nil, fmt.Errorf("tools.%d.name: Field required", i)
		}
	}
	return &r, nil
}

// conversation translates the request for the script. Only the person's
// messages and the tool results among them count; a message of the role system
// is the agent's own note.
func (r *anthropicRequest) conversation() *conversation {
	c := &conversation{system: r.System.text(), limit: r.MaxTokens, schema: r.OutputConfig.Format.Schema}
	if c.schema == nil {
		c.schema = r.OutputFormat.Schema
	}
	for _, t := range r.Tools {
		c.tools = append(c.tools, tool{name: t.Name, input: t.InputSchema})
	}
	for _, m := range r.Messages {
		if m.Role != "user" {
			continue
		}
		for _, b := range m.Content {
			if b.Type == "image" {
				data, _ := base64.StdEncoding.DecodeString(b.Source.Data) // invalid base64 counts up to its first fault
				c.picture = fmt.Sprintf("%s, %d bytes, SHA-256 %x", b.Source.MediaType, len(data), sha256.Sum256(data))
			}
			if b.Type == "tool_result" {
				c.results = append(c.results, result{text: b.Content.text(), failed: b.IsError})
			}
		}
		c.take(m.Content.texts())
	}
	return c
}

// anthropicMessages answers POST /v1/messages.
func (s *Server) anthropicMessages(w http.ResponseWriter, r *http.Request, body []byte, e *Request) {
	if r.Header.Get("Anthropic-Version") == "" {
		anthropicError(w, http.StatusBadRequest, "anthropic-version: header is required")
		return
	}
	request, err := decodeAnthropic(body, false)
	if err != nil {
		anthropicError(w, http.StatusBadRequest, err.Error())
		return
	}
	c := request.conversation()
	a := reply(c)
	e.describe(request.Model, request.Stream, c, a)
	message := newAnthropicMessage(request.Model, tokens(len(body)), a)
	if request.Stream {
		message.stream(r.Context(), w, s.delay)
		return
	}
	writeJSON(w, http.StatusOK, message.whole())
}

// anthropicCount answers POST /v1/messages/count_tokens.
func (s *Server) anthropicCount(w http.ResponseWriter, _ *http.Request, body []byte, e *Request) {
	request, err := decodeAnthropic(body, true)
	if err != nil {
		anthropicError(w, http.StatusBadRequest, err.Error())
		return
	}
	e.Model = request.Model
	writeJSON(w, http.StatusOK, map[string]int{"input_tokens": tokens(len(body))})
}

// tokens estimates how many tokens a text of so many bytes takes: four bytes
// each, at least one.
func tokens(size int) int { return max(1, size/4) }

// What the provider calls the errors that the script can meet.
var anthropicErrorTypes = map[int]string{
	http.StatusBadRequest:            "invalid_request_error",
	http.StatusUnauthorized:          "authentication_error",
	http.StatusNotFound:              "not_found_error",
	http.StatusMethodNotAllowed:      "invalid_request_error",
	http.StatusRequestEntityTooLarge: "request_too_large",
}

// anthropicError writes an error in the provider's shape.
func anthropicError(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, map[string]any{
		"type":       "error",
		"error":      map[string]string{"type": anthropicErrorTypes[status], "message": message},
		"request_id": w.Header().Get("Request-Id"),
	})
}
