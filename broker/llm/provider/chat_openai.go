package provider

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/shared"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm"
)

func openaiChat(o Options, client *http.Client) asker {
	completions := openai.NewChatCompletionService(openaiOptions(o, client)...)
	return func(ctx context.Context, r llm.Request, said func(string)) (llm.Reply, error) {
		request, err := openaiRequest(o, r)
		if err != nil {
			return llm.Reply{}, err
		}
		stream := completions.NewStreaming(ctx, request)
		defer func() { _ = stream.Close() }() // it is only read
		var reply openaiReply
		for stream.Next() {
			chunk := stream.Current()
			if chunk.Usage.TotalTokens > 0 || chunk.Usage.PromptTokens > 0 {
				reply.Used = llm.Tokens{In: int(chunk.Usage.PromptTokens), Out: int(chunk.Usage.CompletionTokens)}
			}
			for _, choice := range chunk.Choices {
				if choice.Index != 0 {
					return llm.Reply{}, llm.ErrFormat
				}
				if err := reply.add(choice, said); err != nil {
					return llm.Reply{}, err
				}
			}
		}
		var inside *ssestream.StreamError
		if err := stream.Err(); errors.As(err, &inside) {
			return llm.Reply{}, fault(http.StatusOK, inside.Event.Data, nil)
		} else if err != nil {
			return llm.Reply{}, err
		}
		switch reply.end {
		case "":
			return llm.Reply{}, llm.ErrBroken
		case "stop", "tool_calls":
			return finish(reply.Reply, false)
		case "length":
			return finish(reply.Reply, true)
		}
		return llm.Reply{}, llm.ErrRefused
	}
}

func openaiRequest(o Options, r llm.Request) (openai.ChatCompletionNewParams, error) {
	request := openai.ChatCompletionNewParams{
		Model:         o.Model,
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
	}
	if o.Provider == "openai" {
		request.MaxCompletionTokens = openai.Int(int64(r.MaxTokens))
	} else {
		request.MaxTokens = openai.Int(int64(r.MaxTokens)) // all other providers know this name
	}
	if r.System != "" {
		request.Messages = append(request.Messages, openai.SystemMessage(r.System))
	}
	for _, t := range r.Tools {
		function := shared.FunctionDefinitionParam{Name: t.Name, Description: openai.String(t.Description)}
		if err := json.Unmarshal(t.Schema, &function.Parameters); err != nil {
			return request, err
		}
		request.Tools = append(request.Tools, openai.ChatCompletionFunctionTool(function))
	}
	for _, m := range r.Messages {
		for _, result := range m.Results {
			request.Messages = append(request.Messages, openai.ToolMessage(result.Text, result.ID))
		}
		switch {
		case m.Role == llm.Assistant:
			said := openai.ChatCompletionAssistantMessageParam{}
			if m.Text != "" || len(m.Calls) == 0 {
				said.Content.OfString = openai.String(m.Text)
			}
			for _, call := range m.Calls {
				said.ToolCalls = append(said.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{
					OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
						ID:       call.ID,
						Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: call.Name, Arguments: string(call.Arguments)},
					},
				})
			}
			request.Messages = append(request.Messages, openai.ChatCompletionMessageParamUnion{OfAssistant: &said})
		case m.Text != "":
			request.Messages = append(request.Messages, openai.UserMessage(m.Text))
		}
	}
	return request, nil
}

// openaiReply is the part of a reply that has arrived.
type openaiReply struct {
	llm.Reply
	index []int64 // of each of its calls
	end   string  // why it ended; empty: it has not
}

func (r *openaiReply) add(choice openai.ChatCompletionChunkChoice, said func(string)) error {
	if choice.Delta.Refusal != "" {
		return llm.ErrRefused
	}
	if choice.Delta.Content != "" {
		r.Text += choice.Delta.Content
		said(choice.Delta.Content)
	}
	for _, piece := range choice.Delta.ToolCalls {
		at := len(r.Calls) - 1
		for at >= 0 && (r.index[at] != piece.Index || piece.ID != "" && piece.ID != r.Calls[at].ID) {
			at--
		}
		if at < 0 { // some gateways number all calls 0, so that only the id tells them apart
			at = len(r.Calls)
			r.Calls = append(r.Calls, llm.Call{ID: piece.ID, Name: piece.Function.Name})
			r.index = append(r.index, piece.Index)
		}
		r.Calls[at].Arguments = append(r.Calls[at].Arguments, piece.Function.Arguments...)
	}
	if choice.FinishReason != "" {
		r.end = choice.FinishReason
	}
	return nil
}
