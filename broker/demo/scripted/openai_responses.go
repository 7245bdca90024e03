package scripted

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// OpenAI's Responses API: POST /v1/responses, streaming or not.

// responsesRequest is what is read of a request's body.
type responsesRequest struct {
	Model        string          `json:"model"`
	Instructions string          `json:"instructions"`
	Input        responsesInput  `json:"input"`
	Tools        []responsesTool `json:"tools"`
	Stream       bool            `json:"stream"`
	MaxTokens    int             `json:"max_output_tokens"`
	Text         struct {
		Format struct {
			Schema *schema `json:"schema"`
		} `json:"format"`
	} `json:"text"`
}

// responsesItem is one item of the input: a message, a call or a call's result.
type responsesItem struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Content openaiContent   `json:"content"`
	Output  responsesOutput `json:"output"`
	Tools   []responsesTool `json:"tools"` // found by a search, or offered late
}

// responsesOutput is the output of a call. Calls of some kinds have outputs of
// other forms; what is not text stays empty.
type responsesOutput struct{ openaiContent }

// UnmarshalJSON never fails: the script only quotes texts.
func (o *responsesOutput) UnmarshalJSON(data []byte) error {
	if o.openaiContent.UnmarshalJSON(data) != nil {
		o.openaiContent = openaiContent{string(data)}
	}
	return nil
}

// responsesTool is one tool, or a group of them with a name of its own.
type responsesTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  schema          `json:"parameters"`
	Tools       []responsesTool `json:"tools"`
}

// responsesInput is a list of items; a plain string stands for one message of
// the person.
type responsesInput []responsesItem

// UnmarshalJSON reads both forms.
func (in *responsesInput) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*in = responsesInput{{Role: "user", Content: openaiContent{text}}}
		return nil
	}
	var items []responsesItem
	err := json.Unmarshal(data, &items)
	*in = items
	return err
}

// decodeResponses reads a body and refuses what the provider would refuse.
func decodeResponses(body []byte) (*responsesRequest, error) {
	var r responsesRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, fmt.Errorf("the request body is not valid: %w", err)
	}
	switch {
	case r.Model == "":
		return nil, errors.New("Missing required parameter: 'model'.") //nolint:revive,staticcheck // the provider's own words
	case len(r.Input) == 0:
		return nil, errors.New("Missing required parameter: 'input'.") //nolint:revive,staticcheck // the provider's own words
	}
	return &r, nil
}

// conversation translates the request for the script.
func (r *responsesRequest) conversation() *conversation {
	c := &conversation{system: r.Instructions, limit: r.MaxTokens, schema: r.Text.Format.Schema}
	c.offerResponses("", r.Tools)
	for _, item := range r.Input {
		switch item.Type {
		case "", "message":
			c.responsesMessage(item)
		case "tool_search_output", "additional_tools":
			c.offerResponses("", item.Tools)
			c.search = c.search && item.Type != "tool_search_output" // once is enough
		case "function_call_output", "custom_tool_call_output":
			c.results = append(c.results, item.Output.result())
		}
	}
	return c
}

func (c *conversation) responsesMessage(item responsesItem) {
	switch item.Role {
	case "user":
		c.said(item.Content)
	case "system", "developer":
		c.system += "\n" + item.Content.text()
	}
}

// offerResponses adds the tools on offer, those of groups under the group's name.
func (c *conversation) offerResponses(space string, tools []responsesTool) {
	for _, t := range tools {
		switch t.Type {
		case "function":
			c.tools = append(c.tools, tool{space: space, name: t.Name, input: t.Parameters})
		case "custom":
			if t.Name == codeTool {
				c.offerCode(space, t.Description)
			}
		case "namespace":
			c.offerResponses(t.Name, t.Tools)
		case "tool_search":
			c.search = true
		}
	}
}

// openaiResponses answers POST /v1/responses.
func (s *Server) openaiResponses(w http.ResponseWriter, r *http.Request, body []byte, e *Request) {
	request, err := decodeResponses(body)
	if err != nil {
		openaiError(w, http.StatusBadRequest, err.Error())
		return
	}
	c := request.conversation()
	a := reply(c)
	e.describe(request.Model, request.Stream, c, a)
	response := newResponse(request.Model, tokens(len(body)), a)
	if request.Stream {
		response.stream(newEventWriter(r.Context(), w, s.delay))
		return
	}
	writeJSON(w, http.StatusOK, response.whole("completed"))
}
