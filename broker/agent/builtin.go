package agent

import (
	"encoding/json"
	"time"
)

// BuiltinName is the name of the agent of our own.
const BuiltinName = "builtin"

// BuiltinHistory is the file of the built-in agent's conversation in its home. Only the host can
// open it.
const BuiltinHistory = "conversation.jsonl"

// BuiltinModels are the built-in agent's default models, by provider.
var BuiltinModels = map[string]string{
	"anthropic": "claude-sonnet-4-6",
	"openai":    "gpt-5.5",
	"google":    "gemini-2.5-pro",
}

// builtin is our own agent (broker/builtin): its model can only write programs, and the policy judges
// their calls. It needs no container.
func builtin() Adapter {
	return Adapter{
		Name:      BuiltinName,
		Title:     "Built-in agent",
		Place:     InProcess,
		Providers: []string{"anthropic", "openai", "google"},
		KeysOnly:  true, // providers accept logins only from their own programs
		Tools:     true,
		Answer:    answerOfBuiltin,
		Kept:      func(home HomeDir, _ string) bool { size, ok := home.file(BuiltinHistory); return ok && size > 0 },
		LastPrompt: func(home HomeDir, _ string) string {
			return home.lastOf(BuiltinHistory, func(line []byte) string {
				var e struct {
					Message struct{ Role, Text string } `json:"message"`
				}
				if json.Unmarshal(line, &e) != nil || e.Message.Role != "user" {
					return ""
				}
				return unlessCommand(e.Message.Text)
			})
		},
		Submit: pasted(50 * time.Millisecond),
	}
}

// answerOfBuiltin reads the JSON object that the built-in agent prints at the end of a task.
func answerOfBuiltin(stdout string, exitCode int) Answer {
	var report struct {
		Text, Failure string
		Events        json.RawMessage
	}
	if json.Unmarshal([]byte(stdout), &report) != nil || report.Text == "" && report.Failure == "" {
		return failedAnswer(stdout, exitCode)
	}
	return Answer{Text: report.Text, Failure: report.Failure, Events: string(report.Events)}
}
