package agent

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// OpenCodeSubmitPause is how long OpenCode needs between a text and the Enter
// that submits it.
const OpenCodeSubmitPause = 200 * time.Millisecond

// openCodeModels are the default models for OpenCode, by provider.
var openCodeModels = map[string]string{
	"anthropic": "anthropic/claude-sonnet-4-5",
	"openai":    "openai/gpt-5.5",
	"google":    "google/gemini-2.5-pro",
}

// openCode is an agent that uses any provider that it has a key for.
func openCode() Adapter {
	return Adapter{
		Name:      "opencode",
		Title:     "OpenCode",
		Image:     "opencode",
		Providers: []string{"anthropic", "openai", "google"},
		KeysOnly:  true,
		Tools:     true,
		Launch: func(h Host) (Launch, error) {
			argv := []string{"opencode"}
			if h.Resume {
				argv = append(argv, "--continue")
			}
			return launchOpenCode(h, argv)
		},
		Once: func(h Host, task string) (Launch, error) {
			argv := []string{"opencode", "run", "--format", "json", "--title", "task"}
			if h.Resume {
				argv = append(argv, "--continue")
			}
			// OpenCode puts quotes around an argument with a space, so each word is one.
			return launchOpenCode(h, append(append(argv, "--"), strings.Split(task, " ")...))
		},
		Answer:     answerOfOpenCode,
		Kept:       openCodeKept,
		LastPrompt: openCodeLastPrompt,
		Submit:     typed(OpenCodeSubmitPause),
	}
}

func launchOpenCode(h Host, argv []string) (Launch, error) {
	provider, key, err := openCode().provider(h)
	if err != nil {
		return Launch{}, err
	}
	if _, login := h.Logins[provider]; login {
		return Launch{}, fmt.Errorf("OpenCode needs an API key of %s; it cannot use a login", provider)
	}
	model := h.Model
	if model == "" {
		model = openCodeModels[provider]
	}
	config := object{
		"$schema":      "https://opencode.ai/config.json",
		"autoupdate":   false,
		"share":        "disabled",
		"model":        model,
		"instructions": []string{promptPath},
		"permission":   object{"*": "allow"}, // the policy of the host asks
		"mcp": object{toolServer: object{
			"type": "local", "command": toolCommand(), "enabled": true, "timeout": patience.Milliseconds(),
		}},
	}
	return Launch{
		Argv:  argv,
		Files: []File{orientationFile("opencode.json", jsonText(config)), promptFile(h.Prompt)},
		Env: append(h.keyVariables(provider, key),
			"OPENCODE_CONFIG="+Orientation+"/opencode.json",
			"OPENCODE_DISABLE_AUTOUPDATE=1",
			"OPENCODE_DISABLE_DEFAULT_PLUGINS=1",
			"OPENCODE_DISABLE_LSP_DOWNLOAD=1",
			"OPENCODE_DISABLE_MODELS_FETCH=1",
			"OPENCODE_DISABLE_SHARE=1",
		),
	}, nil
}

// openCodeKept looks for the database that OpenCode keeps its conversations in.
func openCodeKept(home HomeDir, _ string) bool {
	_, ok := home.file(".local/share/opencode/opencode.db")
	return ok
}

// openCodeLastPrompt reads the prompts that OpenCode keeps for its arrow keys.
func openCodeLastPrompt(home HomeDir, _ string) string {
	return home.lastOf(".local/state/opencode/prompt-history.jsonl", func(line []byte) string {
		var l struct{ Input, Mode string }
		if json.Unmarshal(line, &l) != nil || l.Mode == "shell" {
			return ""
		}
		return unlessCommand(l.Input)
	})
}

// openCodeEvent is one of the events that "run --format json" prints.
type openCodeEvent struct {
	Type string `json:"type"`
	Part struct {
		Text string `json:"text"`
	} `json:"part"`
	Error struct {
		Name string `json:"name"`
		Data struct {
			Message string `json:"message"`
		} `json:"data"`
	} `json:"error"`
}

// answerOfOpenCode reads the events that "run --format json" prints. The answer is the texts
// after the last call of a tool.
func answerOfOpenCode(stdout string, exitCode int) Answer {
	var a Answer
	for event := range eventsOf[openCodeEvent](stdout) {
		switch event.Type {
		case "text":
			a.Text += event.Part.Text
		case "tool_use":
			a.Text = ""
		case "error":
			a.Failure = oneLine(event.Error.Data.Message, oneLine(event.Error.Name, "OpenCode failed"))
		}
	}
	return concluded(a, stdout, exitCode)
}
