package agent

import (
	"encoding/json"
	"strings"
	"time"
)

// ClaudeSubmitPause is how long Claude Code needs between a text and the Enter
// that submits it; both in one burst would be a paste that ends in a newline.
const ClaudeSubmitPause = 120 * time.Millisecond

// claudeCode is Anthropic's agent, started so that none of its first-run
// dialogs appears: the files answer each of them beforehand.
func claudeCode() Adapter {
	return Adapter{
		Name:      "claude-code",
		Title:     "Claude Code",
		Image:     "claude-code",
		Providers: []string{"anthropic"},
		Tools:     true,
		Launch: func(h Host) (Launch, error) {
			return launchClaude(h)
		},
		Once: func(h Host, task string) (Launch, error) {
			return launchClaude(h, "--output-format", "json", "-p", "--", task)
		},
		Answer:     answerOfClaude,
		Kept:       claudeKept,
		LastPrompt: claudeLastPrompt,
		Submit:     typed(ClaudeSubmitPause),
	}
}

func launchClaude(h Host, more ...string) (Launch, error) {
	key := h.Sentinels["anthropic"]
	if len(key) < 20 {
		return Launch{}, &NoSentinelError{Agent: "claude-code", Providers: []string{"anthropic"}}
	}
	argv := []string{
		"claude",
		"--mcp-config", Orientation + "/mcp.json", "--strict-mcp-config",
		"--dangerously-skip-permissions", // the container and the policy are the permission system
		"--append-system-prompt", h.Prompt,
	}
	if h.Model != "" {
		argv = append(argv, "--model", h.Model)
	}
	if h.Resume {
		argv = append(argv, "--resume", h.Conversation)
	} else {
		argv = append(argv, "--session-id", h.Conversation)
	}
	credential := "ANTHROPIC_API_KEY=" //nolint:gosec // the variable's name
	if _, login := h.Logins["anthropic"]; login {
		credential = "CLAUDE_CODE_OAUTH_TOKEN=" //nolint:gosec // the variable's name
	}
	launch := Launch{
		Argv:  append(argv, more...),
		Files: claudeFiles(key, h.Prompt),
		Env: []string{
			credential + key,
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
			"CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL=1",
			"CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS=0", // wait for a call that waits for a person
			"DISABLE_AUTOUPDATER=1",
			"DISABLE_ERROR_REPORTING=1",
			"DISABLE_INSTALLATION_CHECKS=1",
			"DISABLE_TELEMETRY=1",
			"ENABLE_TOOL_SEARCH=false", // the model sees the tools at once
		},
	}
	if h.Root {
		launch.Env = append(launch.Env, "IS_SANDBOX=1") // otherwise root may not skip its permission prompts
	}
	return launch, nil
}

// claudeFiles answers Claude Code's dialogs in advance: onboarding, trust of the workspace, the
// custom key, the mode without permission prompts.
func claudeFiles(key, prompt string) []File {
	state := object{
		"hasCompletedOnboarding": true,
		"customApiKeyResponses":  object{"approved": []string{key[len(key)-20:]}, "rejected": []string{}},
		"projects":               object{Workspace: object{"hasTrustDialogAccepted": true}},
	}
	settings := object{
		"skipDangerousModePermissionPrompt": true,
		"tui":                               "default",
	}
	command := toolCommand()
	servers := object{"mcpServers": object{toolServer: object{
		"type":       "stdio",
		"command":    command[0],
		"args":       command[1:],
		"alwaysLoad": true,
		"timeout":    patience.Milliseconds(),
	}}}
	return []File{
		homeFile(".claude.json", jsonText(state)),
		homeFile(".claude/settings.json", jsonText(settings)),
		orientationFile("mcp.json", jsonText(servers)),
		promptFile(prompt),
	}
}

// claudeKept looks for the file in which Claude Code keeps a conversation. The file exists
// once there was a message.
func claudeKept(home HomeDir, conversation string) bool {
	size, ok := home.file(claudeRecord(conversation))
	return ok && size > 0
}

// claudeRecord returns the path of that file, which has one message on each line.
func claudeRecord(conversation string) string {
	return ".claude/projects/" + strings.ReplaceAll(Workspace, "/", "-") + "/" + conversation + ".jsonl"
}

func claudeLastPrompt(home HomeDir, conversation string) string {
	return home.lastOf(claudeRecord(conversation), func(line []byte) string {
		var l struct {
			Type       string
			IsMeta     bool
			LastPrompt string `json:"lastPrompt"`
			Message    struct{ Content json.RawMessage }
		}
		if json.Unmarshal(line, &l) != nil || l.IsMeta {
			return ""
		}
		if l.Type == "last-prompt" {
			return l.LastPrompt
		}
		var text string
		if l.Type != "user" || json.Unmarshal(l.Message.Content, &text) != nil || strings.HasPrefix(text, "<") {
			return "" // results of tools are lists, and output of commands is in tags
		}
		return text
	})
}

// answerOfClaude reads the one object that "--output-format json" prints.
func answerOfClaude(stdout string, exitCode int) Answer {
	var result struct {
		Result  string `json:"result"`
		IsError bool   `json:"is_error"`
	}
	if err := json.Unmarshal([]byte(stdout), &result); err != nil {
		return failedAnswer(stdout, exitCode)
	}
	a := Answer{Text: result.Result}
	if result.IsError || exitCode != 0 {
		a.Text, a.Failure = "", oneLine(result.Result, "Claude Code failed and did not say why")
	}
	return a
}
