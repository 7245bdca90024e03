package body

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// In every format, each text outside the conversation is bounded, whatever its name, and
// so are all of them together.
func TestSettingsAreBounded(t *testing.T) {
	openai := []string{
		"user", "safety_identifier", "prompt_cache_key", "prompt_cache_retention", "service_tier", "truncation", "never_heard_of",
		"stop", "tool_choice", "max_tokens", "metadata.user_id", "metadata.a.b", "reasoning.effort", "stream_options.x", "include[]",
		"logit_bias.x", "text.verbosity", "modalities[]", "audio.voice",
	}
	message := []string{"messages[].role", "messages[].name", "messages[].user", "messages[].metadata.user_id"}
	item := []string{"input[].role", "input[].name", "input[].metadata.x"}
	router := []string{"session_id", "trace.x", "provider.order[]", "transforms[]", "route"}
	anthropic := slices.Concat([]string{
		"metadata.user_id", "stop_sequences[]", "service_tier", "never_heard_of", "thinking.type", "inference_geo", "tool_choice.type", "tool_choice.name",
		"context_management.edits[].type", "output_config.effort", "diagnostics.previous_message_id", "fallbacks", "max_tokens",
		"system[].cache_control.type", "messages[].content[].cache_control.type", "messages[].content[].name", "fallbacks[].metadata.user_id",
	}, message)
	for format, paths := range map[Format][]string{
		AnthropicMessages:   anthropic,
		OpenRouterMessages:  slices.Concat(anthropic, router),
		OpenAIResponses:     slices.Concat(openai, item, []string{"client_metadata"}),
		OpenRouterResponses: slices.Concat(openai, item, router),
		OpenAIChat:          slices.Concat(openai, message, []string{"n"}),
		OpenRouterChat:      slices.Concat(openai, message, router),
		GoogleGenerate: {
			"labels.user", "serviceTier", "safetySettings[].category", "toolConfig.functionCallingConfig.mode", "never_heard_of",
			"generationConfig.stopSequences[]", "generationConfig.responseMimeType", "generation_config.x.y", "contents[].role",
			"generateContentRequest.labels.x", "generationConfig.maxOutputTokens",
		},
	} {
		for _, path := range paths {
			if path != "n" && path != "max_tokens" {
				if got := outcome(format, at(path, strings.Repeat("x", maxText))); got == "refused" {
					t.Errorf("%s: a short %s is refused", format, path)
				}
			}
			if got := outcome(format, at(path, strings.Repeat("x", maxText+1))); got != "refused" {
				t.Errorf("%s: a long %s: %.60q", format, path, got)
			}
		}
		for _, body := range []string{
			`{"metadata":{"` + strings.Repeat("k", maxText+1) + `":1}}`,
			`{"seed":` + strings.Repeat("1", maxText+1) + `}`,
			`{"` + strings.Repeat("k", maxText+1) + `":1}`,
			`{"metadata":{"a":[` + strings.Repeat(`"0123456789",`, maxSettings/10) + `1]}}`,
			`{"metadata":{"a":1` + strings.Repeat(" ", maxSettings) + `}}`,
			`{"model":"` + strings.Repeat("m", maxText+1) + `"}`,
		} {
			if got := outcome(format, body); got != "refused" {
				t.Errorf("%s %.60s: %.60q", format, body, got)
			}
		}
	}
}

// at returns a body with a text at a path.
func at(path, text string) string {
	value := fmt.Sprintf("%q", text)
	steps := strings.Split(path, ".")
	for _, step := range slices.Backward(steps) {
		if name, ok := strings.CutSuffix(step, "[]"); ok {
			step, value = name, "["+value+"]"
		}
		value = fmt.Sprintf("{%q:%s}", step, value)
	}
	return value
}

// Members that the model reads are bounded only by the size of the body.
func TestTheConversationIsNotBounded(t *testing.T) {
	for format, paths := range map[Format][]string{
		AnthropicMessages: {
			"system", "messages[].content", "messages[].content[].text", "messages[].content[].signature", "tools[].description",
			"output_config.format.schema.description", "output_format.schema.x", "context_management.edits[].instructions",
			"fallbacks[].system",
		},
		OpenAIResponses: {
			"instructions", "input", "input[].content[].text", "input[].encrypted_content", "input[].arguments", "text.format.schema.description",
		},
		OpenAIChat: {
			"messages[].content", "messages[].tool_calls[].arguments", "response_format.json_schema.description", "prediction.content",
			"functions[].description",
		},
		GoogleGenerate: {
			"contents[].parts[].text", "systemInstruction.parts[].text", "contents[].parts[].thoughtSignature",
			"generationConfig.responseSchema.description", "generation_config.response_json_schema.description", "generateContentRequest.contents[].parts[].text",
		},
	} {
		for _, path := range paths {
			if got := outcome(format, at(path, strings.Repeat("x", 2*maxSettings))); got != "" {
				t.Errorf("%s: a long %s: %.60q", format, path, got)
			}
		}
	}
}

// Metadata that real agents send about themselves passes or is shortened.
func TestAgentMetadata(t *testing.T) {
	hex, id := strings.Repeat("c0ffee12", 8), "01a20581-71aa-7752-9e99-0600875ef4b7"
	for _, user := range []string{
		fmt.Sprintf(`{\"device_id\":\"%s\",\"account_uuid\":\"%s\",\"session_id\":\"%s\"}`, hex, id, id),
		fmt.Sprintf(`user_%s_account_%s_session_%s`, hex, id, id),
	} {
		if got := outcome(AnthropicMessages, `{"metadata":{"user_id":"`+user+`"}}`); got != "" {
			t.Errorf("%s: %q", user, got)
		}
	}
	turn := `{\"session_id\":\"` + id + `\",\"workspaces\":{\"/workspace\":{\"origin\":\"` + strings.Repeat("x", maxSettings) + `\"}}}`
	got := outcome(OpenAIResponses, `{"client_metadata":{"session_id":"`+id+`","x-codex-turn-metadata":"`+turn+`"},"model":"m"}`)
	if want := `{"client_metadata":{"session_id":"` + id + `","x-codex-turn-metadata":"{}"},"model":"m"}`; got != want {
		t.Errorf("got %.300q", got)
	}
}
