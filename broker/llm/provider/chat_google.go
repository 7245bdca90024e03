package provider

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"google.golang.org/genai"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm"
)

// ownID is the prefix of ids for calls that the model gave none. The model never sees them.
const ownID = "own-"

func googleChat(o Options, client *http.Client) (asker, error) {
	c, err := newGoogleClient(o, client)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, r llm.Request, said func(string)) (reply llm.Reply, err error) {
		contents, config, err := googleRequest(r)
		if err != nil {
			return llm.Reply{}, err
		}
		ours := false // whether our code runs, and not the library's
		defer func() {
			// The library panics if JSON has values of other types than it expects.
			if p := recover(); p != nil && ours {
				panic(p)
			} else if p != nil {
				reply, err = llm.Reply{}, llm.ErrFormat
			}
		}()
		var end genai.FinishReason
		for chunk, err := range c.Models.GenerateContentStream(ctx, o.Model, contents, config) {
			ours = true
			var inside genai.APIError
			if errors.As(err, &inside) {
				return llm.Reply{}, googleFault(inside)
			} else if err != nil {
				return llm.Reply{}, err
			}
			if used := chunk.UsageMetadata; used != nil {
				reply.Used = llm.Tokens{
					In:  int(used.PromptTokenCount + used.ToolUsePromptTokenCount),
					Out: int(used.CandidatesTokenCount + used.ThoughtsTokenCount),
				}
			}
			if chunk.PromptFeedback != nil && chunk.PromptFeedback.BlockReason != "" {
				return llm.Reply{}, llm.ErrRefused
			}
			for _, candidate := range chunk.Candidates {
				if candidate == nil || candidate.Index != 0 {
					return llm.Reply{}, llm.ErrFormat
				}
				if candidate.FinishReason != "" {
					end = candidate.FinishReason
				}
				if err := googleParts(&reply, candidate.Content, said); err != nil {
					return llm.Reply{}, err
				}
			}
			ours = false
		}
		switch end {
		case "", genai.FinishReasonMalformedFunctionCall: // an invalid call: the model seldom makes a second one
			return llm.Reply{}, llm.ErrBroken
		case genai.FinishReasonStop:
			return finish(reply, false)
		case genai.FinishReasonMaxTokens:
			return finish(reply, true)
		default:
			return llm.Reply{}, llm.ErrRefused
		}
	}, nil
}

// googleFault is an error in the middle of an answer.
func googleFault(e genai.APIError) error {
	body, err := json.Marshal(map[string]any{"error": e})
	if err != nil {
		return err
	}
	return fault(http.StatusOK, body, nil)
}

func googleParts(reply *llm.Reply, content *genai.Content, said func(string)) error {
	if content == nil {
		return nil
	}
	for _, part := range content.Parts {
		switch {
		case part == nil:
			return llm.ErrFormat
		case part.FunctionCall != nil:
			call := part.FunctionCall
			if call.WillContinue != nil && *call.WillContinue || len(call.PartialArgs) > 0 {
				return llm.ErrFormat // pieces of calls were not asked for
			}
			id := call.ID
			if id == "" {
				id = ownID + rand.Text()
			}
			made := llm.Call{ID: id, Name: call.Name, Signature: part.ThoughtSignature}
			if call.Args != nil {
				arguments, err := json.Marshal(call.Args)
				if err != nil {
					return llm.ErrFormat
				}
				made.Arguments = arguments
			}
			reply.Calls = append(reply.Calls, made)
		case part.Text != "" && !part.Thought:
			reply.Text += part.Text
			said(part.Text)
		}
	}
	return nil
}

func googleRequest(r llm.Request) ([]*genai.Content, *genai.GenerateContentConfig, error) {
	config := &genai.GenerateContentConfig{
		MaxOutputTokens:       int32(min(r.MaxTokens, 1<<30)),
		AutomaticContinuation: new(bool), // the caller asks again after a broken answer
	}
	if r.System != "" {
		config.SystemInstruction = genai.NewContentFromText(r.System, genai.RoleUser)
	}
	var functions []*genai.FunctionDeclaration
	for _, t := range r.Tools {
		functions = append(functions, &genai.FunctionDeclaration{Name: t.Name, Description: t.Description, ParametersJsonSchema: t.Schema})
	}
	if len(functions) > 0 {
		config.Tools = []*genai.Tool{{FunctionDeclarations: functions}}
	}
	var contents []*genai.Content
	for _, m := range r.Messages {
		content := &genai.Content{Role: genai.RoleUser}
		if m.Role == llm.Assistant {
			content.Role = genai.RoleModel
		}
		for _, result := range m.Results {
			name := "output"
			if result.Failed {
				name = "error"
			}
			content.Parts = append(content.Parts, &genai.Part{FunctionResponse: &genai.FunctionResponse{
				ID: googleID(result.ID), Name: result.Name, Response: map[string]any{name: result.Text},
			}})
		}
		if m.Text != "" {
			content.Parts = append(content.Parts, genai.NewPartFromText(m.Text))
		}
		for _, call := range m.Calls {
			var arguments map[string]any
			if err := json.Unmarshal(call.Arguments, &arguments); err != nil {
				return nil, nil, err
			}
			content.Parts = append(content.Parts, &genai.Part{
				FunctionCall:     &genai.FunctionCall{ID: googleID(call.ID), Name: call.Name, Args: arguments},
				ThoughtSignature: call.Signature,
			})
		}
		if len(content.Parts) > 0 { // the provider refuses empty messages
			contents = append(contents, content)
		}
	}
	return contents, config, nil
}

// googleID returns the id that the model has given, or none.
func googleID(id string) string {
	if strings.HasPrefix(id, ownID) {
		return ""
	}
	return id
}
