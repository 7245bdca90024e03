package provider

import (
	"context"
	"errors"
	"net/http"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm"
)

func anthropicChat(o Options, client *http.Client) asker {
	messages := anthropic.NewMessageService(anthropicOptions(o, client)...)
	return func(ctx context.Context, r llm.Request, said func(string)) (llm.Reply, error) {
		stream := messages.NewStreaming(ctx, anthropicRequest(o.Model, r))
		defer func() { _ = stream.Close() }() // it is only read
		var message anthropic.Message
		open := 0 // blocks that have not ended
		for stream.Next() {
			event := stream.Current()
			if err := message.Accumulate(event); err != nil {
				return llm.Reply{}, err
			}
			switch event.Type {
			case "content_block_start":
				open++
				if event.ContentBlock.Text != "" {
					said(event.ContentBlock.Text)
				}
			case "content_block_delta":
				if event.Delta.Type == "text_delta" {
					said(event.Delta.Text)
				}
			case "content_block_stop":
				open--
			case "message_stop":
				if open != 0 {
					return llm.Reply{}, llm.ErrFormat
				}
				return anthropicReply(&message)
			}
		}
		var inside *anthropic.Error
		if err := stream.Err(); errors.As(err, &inside) {
			return llm.Reply{}, fault(http.StatusOK, []byte(inside.RawJSON()), nil)
		} else if err != nil {
			return llm.Reply{}, err
		}
		return llm.Reply{}, llm.ErrBroken
	}
}

// anthropicRequest marks what a cache can keep: all before the last two messages, and these.
func anthropicRequest(model string, r llm.Request) anthropic.MessageNewParams {
	cached := anthropic.NewCacheControlEphemeralParam()
	request := anthropic.MessageNewParams{Model: model, MaxTokens: int64(r.MaxTokens)}
	if r.System != "" {
		request.System = []anthropic.TextBlockParam{{Text: r.System, CacheControl: cached}}
	}
	for _, t := range r.Tools {
		request.Tools = append(request.Tools, anthropic.ToolUnionParam{OfTool: &anthropic.ToolParam{
			Name: t.Name, Description: anthropic.String(t.Description),
			InputSchema: param.Override[anthropic.ToolInputSchemaParam](t.Schema),
		}})
	}
	if n := len(request.Tools); n > 0 {
		request.Tools[n-1].OfTool.CacheControl = cached
	}
	for _, m := range r.Messages {
		var blocks []anthropic.ContentBlockParamUnion
		for _, result := range m.Results {
			blocks = append(blocks, anthropic.NewToolResultBlock(result.ID, result.Text, result.Failed))
		}
		if m.Text != "" {
			blocks = append(blocks, anthropic.NewTextBlock(m.Text))
		}
		for _, call := range m.Calls {
			blocks = append(blocks, anthropic.NewToolUseBlock(call.ID, call.Arguments, call.Name))
		}
		if len(blocks) > 0 { // the provider takes no empty message
			request.Messages = append(request.Messages, anthropic.MessageParam{Role: anthropic.MessageParamRole(m.Role), Content: blocks})
		}
	}
	for _, m := range request.Messages[max(0, len(request.Messages)-2):] {
		*m.Content[len(m.Content)-1].GetCacheControl() = cached
	}
	return request
}

func anthropicReply(m *anthropic.Message) (llm.Reply, error) {
	used := m.Usage
	reply := llm.Reply{Used: llm.Tokens{
		In: int(used.InputTokens + used.CacheCreationInputTokens + used.CacheReadInputTokens), Out: int(used.OutputTokens),
	}}
	for _, block := range m.Content {
		switch block.Type {
		case "text":
			reply.Text += block.Text
		case "tool_use":
			reply.Calls = append(reply.Calls, llm.Call{ID: block.ID, Name: block.Name, Arguments: block.Input})
		}
	}
	switch m.StopReason {
	case anthropic.StopReasonEndTurn, anthropic.StopReasonStopSequence, anthropic.StopReasonToolUse:
		return finish(reply, false)
	case anthropic.StopReasonMaxTokens, anthropic.StopReasonModelContextWindowExceeded:
		return finish(reply, true)
	}
	return llm.Reply{}, llm.ErrRefused
}
