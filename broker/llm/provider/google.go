package provider

import (
	"context"
	"fmt"
	"net/http"

	"google.golang.org/genai"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm"
)

// googleBase is Google's own address; without one the library would take it from
// the environment.
const googleBase = "https://generativelanguage.googleapis.com/"

type googleModel struct {
	connection
	client *genai.Client
	model  string
}

func newGoogle(o Options, client *http.Client) (llm.Model, error) {
	c, err := newGoogleClient(o, client)
	if err != nil {
		return nil, err
	}
	return &googleModel{connection{client}, c, o.Model}, nil
}

func newGoogleClient(o Options, client *http.Client) (*genai.Client, error) {
	base, once := o.BaseURL, int32(1)
	if base == "" {
		base = googleBase
	}
	c, err := genai.NewClient(context.Background(), &genai.ClientConfig{
		APIKey: o.Key, Backend: genai.BackendGeminiAPI, HTTPClient: client,
		HTTPOptions: genai.HTTPOptions{BaseURL: base, RetryOptions: &genai.HTTPRetryOptions{Attempts: &once}},
	})
	if err != nil {
		return nil, fmt.Errorf("model: google: %w", err)
	}
	return c, nil
}

func (m *googleModel) Name() string { return "google/" + m.model }

func (m *googleModel) Ask(ctx context.Context, q llm.Question) (string, error) {
	answer, err := m.client.Models.GenerateContent(ctx, m.model, genai.Text(q.User), &genai.GenerateContentConfig{
		SystemInstruction:  genai.NewContentFromText(q.System, genai.RoleUser),
		MaxOutputTokens:    int32(q.Tokens() + max(reasoning, q.Tokens()/2)), // its reasoning counts as well
		ResponseMIMEType:   "application/json",
		ResponseJsonSchema: q.Schema,
	})
	if err != nil {
		return "", tidy(err)
	}
	if len(answer.Candidates) == 1 && answer.Candidates[0].FinishReason == genai.FinishReasonMaxTokens {
		return "", llm.ErrCut
	}
	if len(answer.Candidates) != 1 || answer.Candidates[0].FinishReason != genai.FinishReasonStop {
		return "", llm.ErrRefused
	}
	return answer.Text(), nil
}
