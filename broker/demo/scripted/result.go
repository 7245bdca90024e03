package scripted

import (
	"encoding/json"
	"regexp"
	"strings"
)

// Agents wrap what a tool returned: in a line about the time it took, in tags that warn the model
// not to trust it, in the whole answer of the tool's server.
var (
	timeTaken = regexp.MustCompile(`(?s)^(?:Script completed\n)?Wall time:? [^\n]*\nOutput:\n+`)
	distrust  = regexp.MustCompile(`(?s)^\s*<untrusted_context>\n?(.*?)\n?</untrusted_context>\s*$`)
	reported  = regexp.MustCompile(`(?s)^MCP tool '[^']*' reported tool error for function call: .* with response: (\[.*\])$`)
)

// resultOf reads a result that is only a text.
func resultOf(text string) result {
	text = timeTaken.ReplaceAllString(text, "")
	if m := distrust.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	if m := reported.FindStringSubmatch(text); m != nil {
		return result{text: innerText(m[1]), failed: true}
	}
	inner := innerText(text)
	return result{text: inner, failed: inner != text && saysError(text) || tellsFailure(inner)}
}

// innerText is the text inside of an answer of a tool's server, or the text
// itself when it is none.
func innerText(text string) string {
	var whole any
	if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") || json.Unmarshal([]byte(text), &whole) != nil {
		return text
	}
	if found := strings.Join(contents(whole, 0), "\n"); found != "" {
		return found
	}
	return text
}

// contents finds the texts below members called content, however deep agents
// have put them.
func contents(v any, depth int) []string {
	if depth > deepestSchema {
		return nil
	}
	var all []string
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			all = append(all, contents(e, depth+1)...)
		}
	case map[string]any:
		if text, ok := v["text"].(string); ok && v["type"] == "text" {
			return []string{text}
		}
		if text, ok := v["content"].(string); ok {
			return []string{text}
		}
		for _, name := range []string{"content", "response", "functionResponse"} {
			all = append(all, contents(v[name], depth+1)...)
		}
	}
	return all
}

// saysError reports whether an answer of a tool's server is marked as an error.
func saysError(text string) bool {
	var mark struct {
		IsError bool `json:"isError"`
	}
	return json.Unmarshal([]byte(text), &mark) == nil && mark.IsError
}

// tellsFailure recognizes the words by which failures are reported.
func tellsFailure(text string) bool {
	text = strings.ToLower(strings.TrimSpace(text))
	for _, words := range []string{"denied", "escalation ", "error:", "error ", "mcp error", "tool call error", "tool call failed", "failed"} {
		if strings.HasPrefix(text, words) {
			return true
		}
	}
	return strings.Contains(text, "\ndenied") || strings.Contains(text, "\nescalation ")
}
