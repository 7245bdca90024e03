package provider

import (
	"context"
	"net/http"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm"
)

type anthropicModel struct {
	connection
	messages anthropic.MessageService
	model    string
}

func newAnthropic(o Options, client *http.Client) llm.Model {
	return &anthropicModel{connection{client}, anthropic.NewMessageService(anthropicOptions(o, client)...), o.Model}
}

func anthropicOptions(o Options, client *http.Client) []option.RequestOption {
	options := []option.RequestOption{
		option.WithEnvironmentProduction(), option.WithHTTPClient(client), option.WithAPIKey(o.Key), option.WithMaxRetries(0),
	}
	if o.BaseURL != "" {
		options = append(options, option.WithBaseURL(o.BaseURL))
	}
	return options
}

func (m *anthropicModel) Name() string { return "anthropic/" + m.model }

func (m *anthropicModel) Ask(ctx context.Context, q llm.Question) (string, error) {
	message, err := m.messages.New(ctx, anthropic.MessageNewParams{
		Model:        m.model,
		MaxTokens:    q.Tokens(),
		System:       []anthropic.TextBlockParam{{Text: q.System}},
		Messages:     []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(q.User))},
		OutputConfig: anthropic.OutputConfigParam{Format: anthropic.JSONOutputFormatParam{Schema: q.Schema}},
	})
	if err != nil {
		return "", tidy(err)
	}
	if message.StopReason == anthropic.StopReasonMaxTokens {
		return "", llm.ErrCut
	}
	if message.StopReason != anthropic.StopReasonEndTurn || len(message.Content) != 1 || message.Content[0].Type != "text" {
		return "", llm.ErrRefused
	}
	return message.Content[0].Text, nil
}
