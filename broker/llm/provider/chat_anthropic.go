package provider

import (
	"context"
	"encoding/json"
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
		reply := anthropicReply{open: map[int64]int{}}
		for stream.Next() {
			if err := reply.add(stream.Current(), said); err != nil {
				return llm.Reply{}, err
			}
			if reply.whole {
				return reply.finish()
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

// anthropicRequest marks what the provider can cache: the system prompt, the tools, and the
// conversation up to each of its last two messages.
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
		if len(blocks) > 0 { // the provider refuses empty messages
			request.Messages = append(request.Messages, anthropic.MessageParam{Role: anthropic.MessageParamRole(m.Role), Content: blocks})
		}
	}
	for _, m := range request.Messages[max(0, len(request.Messages)-2):] {
		*m.Content[len(m.Content)-1].GetCacheControl() = cached
	}
	return request
}

// anthropicReply is the part of a reply that has arrived. The library could put it together, but it
// turns broken arguments of a call into none.
type anthropicReply struct {
	llm.Reply
	open  map[int64]int // the call of each block that has not ended, or -1
	end   anthropic.StopReason
	whole bool
}

func (r *anthropicReply) add(event anthropic.MessageStreamEventUnion, said func(string)) error {
	say := func(piece string) {
		if piece != "" {
			r.Text += piece
			said(piece)
		}
	}
	at, open := r.open[event.Index]
	switch event.Type {
	case "message_start":
		used := event.Message.Usage
		r.Used.In = int(used.InputTokens + used.CacheCreationInputTokens + used.CacheReadInputTokens)
	case "content_block_start":
		if open {
			return llm.ErrFormat
		}
		r.open[event.Index] = -1
		switch block := event.ContentBlock; block.Type {
		case "text":
			say(block.Text)
		case "tool_use":
			arguments, err := json.Marshal(block.Input)
			if err != nil {
				return err
			}
			if s := string(arguments); s == "{}" || s == "null" {
				arguments = nil // they follow
			}
			r.open[event.Index] = len(r.Calls)
			r.Calls = append(r.Calls, llm.Call{ID: block.ID, Name: block.Name, Arguments: arguments})
		}
	case "content_block_delta":
		switch {
		case !open:
			return llm.ErrFormat
		case event.Delta.Type == "text_delta":
			say(event.Delta.Text)
		case event.Delta.Type == "input_json_delta" && at >= 0:
			r.Calls[at].Arguments = append(r.Calls[at].Arguments, event.Delta.PartialJSON...)
		}
	case "content_block_stop":
		if !open {
			return llm.ErrFormat
		}
		delete(r.open, event.Index)
	case "message_delta":
		r.end, r.Used.Out = event.Delta.StopReason, int(event.Usage.OutputTokens)
	case "message_stop":
		r.whole = true
	}
	return nil
}

func (r *anthropicReply) finish() (llm.Reply, error) {
	if len(r.open) > 0 {
		return llm.Reply{}, llm.ErrFormat
	}
	switch r.end {
	case anthropic.StopReasonEndTurn, anthropic.StopReasonStopSequence, anthropic.StopReasonToolUse:
		return finish(r.Reply, false)
	case anthropic.StopReasonMaxTokens, anthropic.StopReasonModelContextWindowExceeded:
		return finish(r.Reply, true)
	default:
		return llm.Reply{}, llm.ErrRefused
	}
}
