package provider

import (
	"context"
	"net/http"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm"
)

type openaiModel struct {
	connection
	chat  openai.ChatCompletionService
	model string
}

func newOpenAI(o Options, client *http.Client) llm.Model {
	// The service, unlike the client, reads nothing from the environment.
	return &openaiModel{connection{client}, openai.NewChatCompletionService(openaiOptions(o, client)...), o.Model}
}

func openaiOptions(o Options, client *http.Client) []option.RequestOption {
	base := o.BaseURL
	if base == "" {
		base = "https://api.openai.com/v1/"
	}
	return []option.RequestOption{
		option.WithHTTPClient(client), option.WithBaseURL(base), option.WithAPIKey(o.Key), option.WithMaxRetries(0),
	}
}

func (m *openaiModel) Name() string { return "openai/" + m.model }

func (m *openaiModel) Ask(ctx context.Context, q llm.Question) (string, error) {
	answer, err := m.chat.New(ctx, openai.ChatCompletionNewParams{
		Model:               m.model,
		MaxCompletionTokens: openai.Int(q.Tokens() + max(reasoning, q.Tokens()/2)), // its reasoning counts as well
		Messages:            []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(q.System), openai.UserMessage(q.User)},
		ResponseFormat: openai.ChatCompletionNewParamsResponseFormatUnion{OfJSONSchema: &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: q.Name, Strict: openai.Bool(true), Schema: q.Schema},
		}},
	})
	if err != nil {
		return "", tidy(err)
	}
	if len(answer.Choices) == 1 && answer.Choices[0].FinishReason == "length" {
		return "", llm.ErrCut
	}
	if len(answer.Choices) != 1 || answer.Choices[0].FinishReason != "stop" || answer.Choices[0].Message.Refusal != "" {
		return "", llm.ErrRefused
	}
	return answer.Choices[0].Message.Content, nil
}
