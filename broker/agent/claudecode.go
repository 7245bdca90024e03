package agent

import (
	"encoding/json"
	"errors"
	"fmt"
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
		Launch:    launchClaude,
		Submit: func(text string) Submission {
			return Submission{Steps: []string{bracketed(text), "\r"}, Pause: ClaudeSubmitPause}
		},
	}
}

func launchClaude(h Host) (Launch, error) {
	key := h.Sentinels["anthropic"]
	if len(key) < 20 {
		return Launch{}, errors.New("claude-code: no sentinel key for anthropic")
	}
	files, err := claudeFiles(key, h.Prompt)
	if err != nil {
		return Launch{}, err
	}
	argv := []string{
		"claude",
		"--mcp-config", Orientation + "/mcp.json", "--strict-mcp-config",
		"--dangerously-skip-permissions", // the container and the policy are the permission system
		"--append-system-prompt", h.Prompt,
	}
	if h.Resume {
		argv = append(argv, "--resume", h.Conversation)
	} else {
		argv = append(argv, "--session-id", h.Conversation)
	}
	return Launch{
		Argv:  argv,
		Files: files,
		Env: []string{
			"ANTHROPIC_API_KEY=" + key,
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
			"CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL=1",
			"DISABLE_AUTOUPDATER=1",
			"DISABLE_ERROR_REPORTING=1",
			"DISABLE_INSTALLATION_CHECKS=1",
			"DISABLE_TELEMETRY=1",
			"ENABLE_TOOL_SEARCH=false", // the model sees the tools at once
		},
	}, nil
}

// claudeFiles answers Claude Code's dialogs: onboarding, trust of the
// workspace, the custom key, the mode that asks no permissions.
func claudeFiles(key, prompt string) ([]File, error) {
	state, err := json.Marshal(map[string]any{
		"hasCompletedOnboarding": true,
		"customApiKeyResponses": map[string]any{
			"approved": []string{key[len(key)-20:]},
			"rejected": []string{},
		},
		"projects": map[string]any{
			Workspace: map[string]any{"hasTrustDialogAccepted": true},
		},
	})
	if err != nil {
		return nil, fmt.Errorf("claude-code: write state: %w", err)
	}
	settings, err := json.Marshal(map[string]any{
		"skipDangerousModePermissionPrompt": true,
		"tui":                               "default",
	})
	if err != nil {
		return nil, fmt.Errorf("claude-code: write settings: %w", err)
	}
	servers, err := json.Marshal(map[string]any{
		"mcpServers": map[string]any{
			"ironcurtain": map[string]any{
				"type":       "stdio",
				"command":    "socat",
				"args":       []string{"STDIO", "UNIX-CONNECT:" + ToolSocket},
				"alwaysLoad": true,
				"timeout":    24 * 60 * 60 * 1000, // ms: a person may take their time
			},
		},
	})
	if err != nil {
		return nil, fmt.Errorf("claude-code: write MCP configuration: %w", err)
	}
	return []File{
		{Path: ".claude.json", Data: state, Mode: 0o600},
		{Path: ".claude/settings.json", Data: settings, Mode: 0o600},
		{Path: "mcp.json", Data: servers, Mode: 0o444, Orientation: true},
		{Path: "prompt.md", Data: []byte(prompt), Mode: 0o444, Orientation: true},
	}, nil
}
