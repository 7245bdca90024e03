package agent

import (
	"encoding/json"
	"strings"
	"time"
)

// GooseSubmitPause is how long Goose needs between a text and the Enter that
// submits it.
const GooseSubmitPause = 200 * time.Millisecond

// gooseModels are the default models for Goose, by provider.
var gooseModels = map[string]string{
	"anthropic": "claude-sonnet-4-5",
	"openai":    "gpt-5.5",
	"google":    "gemini-2.5-pro",
}

// gooseTurns is how many requests Goose may send to its model for one request of the person.
const gooseTurns = "200"

// goose is an agent that uses any provider that it has a key for.
func goose() Adapter {
	return Adapter{
		Name:      "goose",
		Title:     "Goose",
		Image:     "goose",
		Providers: []string{"anthropic", "openai", "google"},
		KeysOnly:  true,
		Tools:     true,
		Launch: func(h Host) (Launch, error) {
			argv := []string{"goose", "session", "--name", toolServer}
			if h.Resume {
				argv = append(argv, "--resume")
			}
			return launchGoose(h, argv)
		},
		Once: func(h Host, task string) (Launch, error) {
			argv := []string{"goose", "run", "--quiet", "--output-format", "json", "--name", toolServer}
			if h.Resume {
				argv = append(argv, "--resume")
			}
			return launchGoose(h, append(argv, "--text", task))
		},
		Answer:     answerOfGoose,
		Kept:       gooseKept,
		LastPrompt: gooseLastPrompt,
		Submit:     typed(GooseSubmitPause),
	}
}

func launchGoose(h Host, argv []string) (Launch, error) {
	provider, key, err := goose().provider(h)
	if err != nil {
		return Launch{}, err
	}
	model := h.Model
	if model == "" {
		model = gooseModels[provider]
	}
	command := toolCommand()
	config := object{ // the file is YAML, of which JSON is a part
		"GOOSE_PROVIDER":          provider,
		"GOOSE_MODEL":             model,
		"GOOSE_MODE":              "auto", // the policy of the host asks
		"GOOSE_MAX_TURNS":         gooseTurns,
		"GOOSE_TELEMETRY_ENABLED": false,
		"extensions": object{
			"developer": object{"enabled": true, "type": "builtin", "name": "developer", "timeout": int(patience.Seconds())},
			toolServer: object{
				"enabled": true, "type": "stdio", "name": toolServer, "cmd": command[0], "args": command[1:],
				"envs": object{}, "timeout": int(patience.Seconds()),
			},
		},
	}
	return Launch{
		Argv: argv,
		Files: []File{
			homeFile(".config/goose/config.yaml", jsonText(config)+"\n"),
			homeFile(".config/goose/.goosehints", h.Prompt), // Goose reads it besides the project's own
			promptFile(h.Prompt),
		},
		Env: append(h.keyVariables(provider, key), "GOOSE_DISABLE_KEYRING=1", "GOOSE_CLI_SHOW_THINKING=0"),
	}, nil
}

// gooseKept looks for conversations: Goose keeps them in a database, and older versions in a file
// each.
func gooseKept(home HomeDir, _ string) bool {
	return home.keepsFile(".local/share/goose/sessions", 0, "", "")
}

// gooseLastPrompt reads the lines that Goose keeps for its arrow keys. The first line names their
// format, in which \n stands for a newline and \\ for a backslash.
func gooseLastPrompt(home HomeDir, _ string) string {
	unescape := strings.NewReplacer(`\n`, "\n", `\\`, `\`)
	return home.lastOf(".local/state/goose/history.txt", func(line []byte) string {
		if string(line) == "#V2" {
			return ""
		}
		return unlessCommand(unescape.Replace(string(line)))
	})
}

// answerOfGoose reads the one object that "--output-format json" prints. The answer is the texts
// after the last result of a tool.
func answerOfGoose(stdout string, exitCode int) Answer {
	var conversation struct {
		Messages []struct {
			Role    string `json:"role"`
			Content []struct {
				Type string `json:"type"`
				Text string `json:"text"`
			} `json:"content"`
		} `json:"messages"`
	}
	start := strings.Index(stdout, "{")
	if start < 0 || json.Unmarshal([]byte(stdout[start:]), &conversation) != nil {
		return failedAnswer(stdout, exitCode)
	}
	var a Answer
	for _, m := range conversation.Messages {
		if m.Role != "assistant" {
			a.Text = "" // the texts so far came before a call
			continue
		}
		for _, c := range m.Content {
			if c.Type == "text" {
				a.Text += c.Text
			}
		}
	}
	return concluded(a, stdout, exitCode)
}
