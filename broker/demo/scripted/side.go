package scripted

import (
	"encoding/json"
	"slices"
	"strings"
)

// sideAnswer answers the small requests that agents make beside the
// conversation: a title for the terminal, whether a new topic began, whether the
// provider answers at all. They offer no tools; only the request to sum up a
// conversation that has grown too long does.
func sideAnswer(c *conversation) (string, bool) {
	if n := len(c.prompts); n > 0 && asksForSummary(c.prompts[n-1]) {
		return summary, true
	}
	if len(c.tools) > 0 {
		return "", false
	}
	system := strings.ToLower(c.system)
	switch {
	case c.schema != nil:
		return encode(c.schema.fill(c.title(), 0)), true
	case strings.Contains(system, "isnewtopic"):
		return encode(map[string]any{"isNewTopic": true, "title": c.title()}), true
	case strings.Contains(system, `"title"`):
		return encode(map[string]any{"title": c.title()}), true
	case strings.Contains(system, "title"):
		return c.title(), true
	case c.limit > 0 && c.limit <= 16:
		return "ok", true
	}
	return "", false
}

// asksForSummary recognizes the agent's own instruction to sum up: it shows the
// tags that the summary must stand in.
func asksForSummary(prompt string) bool {
	return strings.Contains(prompt, "<summary>") && strings.Contains(prompt, "</summary>")
}

// summary is all that a script needs to remember.
const summary = `<analysis>
The conversation was with a script.
</analysis>

<summary>
The person gave orders of one line to a scripted model. Each was carried out, or
refused, when it was given. Nothing is pending.
</summary>`

// title is a short name for what the person asked for.
func (c *conversation) title() string {
	if o, ok, err := c.order(); ok && err == nil {
		switch o.verb {
		case verbRead:
			return "Read a file"
		case verbWrite:
			return "Write a file"
		case verbList:
			return "List a directory"
		case verbPush:
			return "Push a branch"
		case verbSay:
			return "Say something"
		default: // a program, or several orders
		}
	}
	return "Talk to a script"
}

// The deepest schema that is filled in; what lies below stays empty.
const deepestSchema = 8

// fill makes a value that fits the schema: the words for strings, true for booleans, one for
// numbers, and every required property.
func (s *schema) fill(words string, depth int) any {
	if s == nil || depth > deepestSchema {
		return nil
	}
	if len(s.Enum) > 0 {
		return s.Enum[0]
	}
	switch s.Type {
	case "boolean":
		return true
	case "integer", "number":
		return 1
	case "array":
		return []any{}
	case "null":
		return nil
	case "string":
		return words
	}
	if s.Type != "object" && len(s.Properties) == 0 {
		return words
	}
	object := map[string]any{}
	for key, property := range s.Properties {
		if len(s.Required) == 0 || slices.Contains(s.Required, key) {
			object[key] = property.fill(words, depth+1)
		}
	}
	return object
}

// encode writes a value made here as JSON, which never fails.
func encode(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return "{}"
	}
	return string(data)
}
