package usage

import (
	"encoding/json"
	"strconv"
)

// report is the union of the reports in the providers' answers and events.
type report struct {
	Model        string   `json:"model"`
	ModelVersion string   `json:"modelVersion"`
	Tier         string   `json:"service_tier"` // OpenAI: Chat
	Usage        *tokens  `json:"usage"`
	Google       *google  `json:"usageMetadata"`
	Message      *message `json:"message"`  // Anthropic: message_start
	Response     *message `json:"response"` // OpenAI: response.completed
}

type message struct {
	Model string  `json:"model"`
	Tier  string  `json:"service_tier"`
	Usage *tokens `json:"usage"`
}

// tokens are the reports of Anthropic, of OpenAI's Responses and of OpenAI's Chat.
type tokens struct {
	Input      *int64          `json:"input_tokens"`
	Output     *int64          `json:"output_tokens"`
	CacheRead  *int64          `json:"cache_read_input_tokens"`
	CacheWrite *int64          `json:"cache_creation_input_tokens"`
	Prompt     *int64          `json:"prompt_tokens"`
	Completion *int64          `json:"completion_tokens"`
	InputPart  *part           `json:"input_tokens_details"`
	PromptPart *part           `json:"prompt_tokens_details"`
	Kept       *kept           `json:"cache_creation"`
	Speed      string          `json:"speed"`
	Cost       json.RawMessage `json:"cost"` // OpenRouter: in US dollars
	// Rounds are the model's successive runs for one request, for example to compact the
	// conversation and to answer.
	Rounds []tokens `json:"iterations"`
}

// part says how many tokens of the total were read from or written to the cache.
type part struct {
	Cached  int64 `json:"cached_tokens"`
	Written int64 `json:"cache_write_tokens"`
}

// kept says how many of the written tokens stay in the cache for an hour.
type kept struct {
	Hour int64 `json:"ephemeral_1h_input_tokens"`
}

type google struct {
	Prompt   int64 `json:"promptTokenCount"`
	Tools    int64 `json:"toolUsePromptTokenCount"`
	Answer   int64 `json:"candidatesTokenCount"`
	Thoughts int64 `json:"thoughtsTokenCount"`
	Cached   int64 `json:"cachedContentTokenCount"`
}

// over returns c with its numbers replaced by those that the report has.
func (t *tokens) over(c Count) Count {
	set := func(to *int64, from *int64) bool {
		if from != nil {
			*to = sane(*from)
		}
		return from != nil
	}
	input := set(&c.In, t.Input)
	input = set(&c.In, t.Prompt) || input
	set(&c.Out, t.Output)
	set(&c.Out, t.Completion)
	set(&c.CacheRead, t.CacheRead)
	set(&c.CacheWrite, t.CacheWrite)
	for _, p := range []*part{t.InputPart, t.PromptPart} {
		if p != nil && input { // these tokens are included in the total
			c.CacheRead, c.CacheWrite = sane(p.Cached), sane(p.Written)
			c.In = sane(c.In - c.CacheRead - c.CacheWrite)
		}
	}
	if t.Kept != nil {
		c.CacheHour = sane(t.Kept.Hour)
	}
	c.Fast = c.Fast || t.Speed == "fast"
	if cost, err := strconv.ParseFloat(string(t.Cost), 64); err == nil && cost > 0 {
		c.Billed = min(cost, maxBilled)
	}
	return c
}

// maxBilled is more than any answer costs, in US dollars.
const maxBilled = 1_000_000

// maxTokens is more than any answer uses. It is small enough that sums and prices do not
// overflow.
const maxTokens = 1_000_000_000_000

// sane limits a reported number, so that a broken report cannot reduce what was counted.
func sane(tokens int64) int64 { return min(max(tokens, 0), maxTokens) }

// sane returns the sum of two counts, limited to maxTokens.
func (c Count) sane(d Count) Count {
	return Count{
		In: sane(c.In + d.In), Out: sane(c.Out + d.Out), CacheRead: sane(c.CacheRead + d.CacheRead),
		CacheWrite: sane(c.CacheWrite + d.CacheWrite), CacheHour: sane(c.CacheHour + d.CacheHour),
	}
}
