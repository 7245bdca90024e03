package agent

import (
	"encoding/json"
	"fmt"
	"time"
)

// CodexSubmitPause is how long Codex needs between a text and the Enter that
// submits it; an earlier Enter may count as part of a paste.
const CodexSubmitPause = 200 * time.Millisecond

// codexModel is the newest model that calls tools one by one. Newer models write programs
// that call tools, which a person who decides about each call could not follow.
const codexModel = "gpt-5.5"

// codex is OpenAI's agent. It uses an API key or a ChatGPT login.
func codex() Adapter {
	return Adapter{
		Name:      "codex",
		Title:     "Codex",
		Image:     "codex",
		Providers: []string{"openai", "chatgpt"},
		Tools:     true,
		Launch: func(h Host) (Launch, error) {
			argv := []string{"codex"}
			if h.Resume {
				argv = append(argv, "resume", "--last", "--include-non-interactive")
			}
			return launchCodex(h, argv)
		},
		Once: func(h Host, task string) (Launch, error) {
			// Otherwise Codex starts before its tools are ready.
			const wait = "mcp_servers." + toolServer + ".required=true"
			argv := []string{"codex", "exec", "-c", wait, "--json", "--skip-git-repo-check"}
			if h.Resume {
				argv = append(argv, "resume", "--last")
			}
			return launchCodex(h, append(argv, "--", task))
		},
		Answer:     answerOfCodex,
		Kept:       codexKept,
		LastPrompt: codexLastPrompt,
		Submit:     pasted(CodexSubmitPause),
	}
}

func launchCodex(h Host, argv []string) (Launch, error) {
	provider, key, err := codex().provider(h)
	if err != nil {
		return Launch{}, err
	}
	return Launch{
		Argv: argv,
		Files: []File{
			homeFile(".codex/config.toml", codexConfig(h)),
			homeFile(".codex/auth.json", codexAuth(provider, key, h.Logins[provider])),
			promptFile(h.Prompt),
		},
		Env: []string{"RUST_LOG=off"}, // logs would appear on the screen that Codex draws
	}, nil
}

// codexConfig turns off Codex's first questions, its search for updates and plugins, and
// the tool search that would hide the host's tools.
func codexConfig(h Host) string {
	model := h.Model
	if model == "" {
		model = codexModel
	}
	q, command := jsonText, toolCommand() // TOML takes JSON's strings and lists
	return `model = ` + q(model) + `
developer_instructions = ` + q(h.Prompt) + `
model_catalog_json = "/usr/local/share/codex/models.json" # made with the image
web_search = "disabled"
cli_auth_credentials_store = "file"
check_for_update_on_startup = false
approval_policy = "never" # the policy of the host asks
sandbox_mode = "danger-full-access" # the container is the sandbox
[projects.` + q(Workspace) + `]
trust_level = "trusted"
[mcp_servers.` + toolServer + `]
command = ` + q(command[0]) + `
args = ` + q(command[1:]) + `
startup_timeout_sec = ` + fmt.Sprint(toolStart.Seconds()) + `
tool_timeout_sec = ` + fmt.Sprint(patience.Seconds()) + `
[analytics]
enabled = false
[otel]
exporter = "none"
metrics_exporter = "none"
trace_exporter = "none"
[features]
plugins = false
apps = false
daemon_auto_start = false
api_key_model_discovery = false
enable_request_compression = false
`
}

// codexAuth returns the file in which Codex keeps its credential: a key, or the tokens
// of a login. The login's id_token is made up, because Codex only reads the claims in it.
func codexAuth(provider, key, account string) string {
	if provider != "chatgpt" {
		return jsonText(object{"OPENAI_API_KEY": key})
	}
	return jsonText(object{
		"auth_mode": "chatgptAuthTokens",
		"tokens": object{
			"id_token": unsignedToken(object{
				"exp":                         int64(4102444800),
				"https://api.openai.com/auth": object{"chatgpt_account_id": account, "chatgpt_plan_type": "pro"},
			}),
			"access_token": key, "refresh_token": "", "account_id": account,
		},
		"last_refresh": "2100-01-01T00:00:00Z",
	})
}

// codexKept looks for a file in which Codex keeps a conversation, once there was a message:
// sessions/YEAR/MONTH/DAY/rollout-….jsonl.
func codexKept(home HomeDir, _ string) bool {
	return home.keepsFile(".codex/sessions", 3, "rollout-", ".jsonl")
}

// codexLastPrompt reads the prompts that Codex keeps for its arrow keys.
func codexLastPrompt(home HomeDir, _ string) string {
	return home.lastOf(".codex/history.jsonl", func(line []byte) string {
		var l struct{ Text string }
		_ = json.Unmarshal(line, &l) // any other line leaves Text empty
		return unlessCommand(l.Text)
	})
}

// codexEvent is one of the events that "exec --json" prints.
type codexEvent struct {
	Type    string `json:"type"`
	Message string `json:"message"`
	Item    struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"item"`
	Error struct {
		Message string `json:"message"`
	} `json:"error"`
}

// answerOfCodex reads the events that "exec --json" prints: the last message is
// the answer, unless the turn failed.
func answerOfCodex(stdout string, exitCode int) Answer {
	var a Answer
	for event := range eventsOf[codexEvent](stdout) {
		switch {
		case event.Type == "item.completed" && event.Item.Type == "agent_message":
			a.Text = event.Item.Text
		case event.Type == "turn.failed":
			a.Failure = oneLine(event.Error.Message, "the turn failed")
		case event.Type == "error":
			a.Failure = oneLine(event.Message, "the turn failed")
		case event.Type == "turn.completed":
			a.Failure = "" // Codex has tried again
		}
	}
	return concluded(a, stdout, exitCode)
}
