package scripted

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Google's Gemini API: generateContent, streamGenerateContent and countTokens of
// a model. Its servers take each name in camel case and in snake case; agents
// write the former.

// googleRequest is what is read of a request's body.
type googleRequest struct {
	Contents          []googleContent `json:"contents"`
	SystemInstruction googleContent   `json:"systemInstruction"`
	Tools             []struct {
		FunctionDeclarations []googleFunction `json:"functionDeclarations"`
	} `json:"tools"`
	GenerationConfig struct {
		MaxOutputTokens    int     `json:"maxOutputTokens"`
		ResponseSchema     *schema `json:"responseSchema"`
		ResponseJSONSchema *schema `json:"responseJsonSchema"`
	} `json:"generationConfig"`
}

type googleContent struct {
	Role  string       `json:"role"`
	Parts []googlePart `json:"parts"`
}

type googlePart struct {
	Text             string                  `json:"text"`
	Thought          bool                    `json:"thought"`
	FunctionResponse *googleFunctionResponse `json:"functionResponse"`
}

type googleFunctionResponse struct {
	Response map[string]any `json:"response"`
}

// googleFunction declares a tool; its input stands under one of two names.
type googleFunction struct {
	Name                 string  `json:"name"`
	Parameters           *schema `json:"parameters"`
	ParametersJSONSchema *schema `json:"parametersJsonSchema"`
}

// decodeGoogle reads a body and refuses what the provider would refuse.
func decodeGoogle(body []byte) (*googleRequest, error) {
	var r googleRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, fmt.Errorf("the request body is not valid: %w", err)
	}
	if len(r.Contents) == 0 {
		return nil, errors.New("* GenerateContentRequest.contents: contents is not specified")
	}
	return &r, nil
}

// conversation translates the request for the script.
func (r *googleRequest) conversation() *conversation {
	c := &conversation{
		system: strings.Join(r.SystemInstruction.texts(), "\n"),
		limit:  r.GenerationConfig.MaxOutputTokens, schema: r.GenerationConfig.ResponseJSONSchema,
	}
	if c.schema == nil {
		c.schema = r.GenerationConfig.ResponseSchema
	}
	for _, group := range r.Tools {
		for _, f := range group.FunctionDeclarations {
			c.tools = append(c.tools, tool{name: f.Name, input: f.input()})
		}
	}
	for _, content := range r.Contents {
		if content.Role == "model" {
			continue
		}
		for _, p := range content.Parts {
			if p.FunctionResponse != nil {
				c.results = append(c.results, p.FunctionResponse.result())
			}
		}
		c.said(content.texts())
	}
	return c
}

func (f googleFunction) input() schema {
	switch {
	case f.ParametersJSONSchema != nil:
		return *f.ParametersJSONSchema
	case f.Parameters != nil:
		return *f.Parameters
	}
	return schema{}
}

// texts are the parts of text, thoughts left out.
func (c googleContent) texts() []string {
	var texts []string
	for _, p := range c.Parts {
		if p.Text != "" && !p.Thought {
			texts = append(texts, p.Text)
		}
	}
	return texts
}

// result is the result of a call: a text under "output", or one under "error".
func (f *googleFunctionResponse) result() result {
	if text, ok := f.Response["error"].(string); ok {
		r := resultOf(text)
		r.failed = true
		return r
	}
	if text, ok := f.Response["output"].(string); ok {
		return resultOf(text)
	}
	return resultOf(encode(f.Response))
}

// googleGenerate answers POST /v1beta/models/MODEL:generateContent and its
// streaming twin.
func (s *Server) googleGenerate(model string, stream bool) func(http.ResponseWriter, *http.Request, []byte, *Request) {
	return func(w http.ResponseWriter, r *http.Request, body []byte, e *Request) {
		request, err := decodeGoogle(body)
		if err != nil {
			googleError(w, http.StatusBadRequest, err.Error())
			return
		}
		c := request.conversation()
		a := reply(c)
		e.describe(model, stream, c, a)
		g := googleAnswer{model: model, input: tokens(len(body)), answer: a}
		switch {
		case !stream:
			writeJSON(w, http.StatusOK, g.chunk(g.parts(), true))
		case r.URL.Query().Get("alt") == "sse":
			g.stream(newEventWriter(r.Context(), w, s.delay))
		default:
			writeJSON(w, http.StatusOK, []any{g.chunk(g.parts(), true)})
		}
	}
}

// googleCount answers POST /v1beta/models/MODEL:countTokens.
func (s *Server) googleCount(model string) func(http.ResponseWriter, *http.Request, []byte, *Request) {
	return func(w http.ResponseWriter, _ *http.Request, body []byte, e *Request) {
		e.Model = model
		writeJSON(w, http.StatusOK, map[string]int{"totalTokens": tokens(len(body))})
	}
}

// googleAnswer is one answer that is being sent.
type googleAnswer struct {
	model  string
	input  int // tokens of the request
	answer answer
}

// parts are the whole answer.
func (g googleAnswer) parts() []any {
	parts := []any{}
	if g.answer.text != "" || g.answer.call == nil {
		parts = append(parts, map[string]any{"text": g.answer.text})
	}
	if g.answer.call != nil {
		parts = append(parts, g.call())
	}
	return parts
}

func (g googleAnswer) call() map[string]any {
	return map[string]any{"functionCall": map[string]any{"name": g.answer.call.tool, "args": g.answer.call.input}}
}

// chunk is the answer, or a piece of it, in its envelope.
func (g googleAnswer) chunk(parts []any, last bool) map[string]any {
	size := tokens(len(encode(g.parts())))
	candidate := map[string]any{"index": 0, "content": map[string]any{"role": "model", "parts": parts}}
	if last {
		candidate["finishReason"] = "STOP"
	}
	return map[string]any{
		"candidates": []any{candidate}, "modelVersion": g.model,
		"usageMetadata": map[string]any{
			"promptTokenCount": g.input, "candidatesTokenCount": size, "totalTokenCount": g.input + size,
		},
	}
}

// stream writes the answer as events. A call comes whole, with the last one.
func (g googleAnswer) stream(events *eventWriter) {
	if g.answer.text != "" {
		for _, piece := range pieces(g.answer.text) {
			events.pause()
			events.data(g.chunk([]any{map[string]any{"text": piece}}, false))
		}
	}
	last := []any{map[string]any{"text": ""}}
	if g.answer.call != nil {
		last = []any{g.call()}
	}
	events.data(g.chunk(last, true))
}

// What the provider calls the errors that the script can meet.
var googleErrorStatus = map[int]string{
	http.StatusBadRequest:   "INVALID_ARGUMENT",
	http.StatusUnauthorized: "UNAUTHENTICATED",
	http.StatusNotFound:     "NOT_FOUND",
}

// googleError writes an error in the provider's shape.
func googleError(w http.ResponseWriter, status int, message string) {
	name := googleErrorStatus[status]
	if name == "" {
		name = "INVALID_ARGUMENT"
	}
	writeJSON(w, status, map[string]any{"error": map[string]any{"code": status, "message": message, "status": name}})
}
