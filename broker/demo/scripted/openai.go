package scripted

import (
	"encoding/json"
	"net/http"
	"strings"
)

// What the two formats of OpenAI have in common: texts in parts, results of
// tools that are only texts, and errors.

// openaiContent is a text, given as it is or as a list of parts.
type openaiContent []string

// UnmarshalJSON reads both forms; parts without text are skipped.
func (c *openaiContent) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*c = openaiContent{text}
		return nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		if p.Text != "" {
			*c = append(*c, p.Text)
		}
	}
	return nil
}

func (c openaiContent) text() string { return strings.Join(c, "\n") }

// result is the result of a call as far as its text shows it. The formats have no mark for a
// failure, so the agents say it in words.
func (c openaiContent) result() result { return resultOf(c.text()) }

// openaiModels answers GET /v1/models.
func (s *Server) openaiModels(w http.ResponseWriter, _ *http.Request, _ []byte, _ *Request) {
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{
		map[string]any{"id": "scripted", "object": "model", "created": 1, "owned_by": "scripted"},
	}})
}

// What the provider calls the errors that the script can meet.
var openaiErrorCodes = map[int]string{
	http.StatusUnauthorized: "invalid_api_key",
	http.StatusNotFound:     "not_found",
}

// openaiError writes an error in the provider's shape.
func openaiError(w http.ResponseWriter, status int, message string) {
	var code any
	if c := openaiErrorCodes[status]; c != "" {
		code = c
	}
	writeJSON(w, status, map[string]any{"error": map[string]any{
		"message": message, "type": "invalid_request_error", "param": nil, "code": code,
	}})
}
