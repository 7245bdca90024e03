package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"time"
)

// GeminiSubmitPause is how long Gemini CLI needs between a text and the Enter
// that submits it: before it has drawn the text, Enter submits the former input.
const GeminiSubmitPause = 400 * time.Millisecond

// gemini is Google's agent.
func gemini() Adapter {
	return Adapter{
		Name:      "gemini",
		Title:     "Gemini CLI",
		Image:     "gemini",
		Providers: []string{"google"},
		KeysOnly:  true,
		Tools:     true,
		Launch: func(h Host) (Launch, error) {
			return launchGemini(h)
		},
		Once: func(h Host, task string) (Launch, error) {
			return launchGemini(h, "--output-format", "json", "--prompt="+task)
		},
		Answer:     answerOfGemini,
		Kept:       geminiKept,
		LastPrompt: geminiLastPrompt,
		Submit:     typed(GeminiSubmitPause),
	}
}

func launchGemini(h Host, more ...string) (Launch, error) {
	_, key, err := gemini().provider(h)
	if err != nil {
		return Launch{}, err
	}
	argv := []string{"gemini", "--yolo"} // the policy of the host asks
	if h.Model != "" {
		argv = append(argv, "--model", h.Model)
	}
	if h.Resume {
		argv = append(argv, "--resume", "latest")
	} else {
		argv = append(argv, "--session-id", h.Conversation)
	}
	command := toolCommand()
	settings := object{
		"security": object{
			"auth":        object{"selectedType": "gemini-api-key"},
			"folderTrust": object{"enabled": false},
		},
		"general":   object{"disableAutoUpdate": true, "disableUpdateNag": true, "enableAutoUpdate": false, "enableAutoUpdateNotification": false},
		"privacy":   object{"usageStatisticsEnabled": false},
		"telemetry": object{"enabled": false},
		"ui":        object{"theme": "Default", "hideTips": true},
		"mcpServers": object{toolServer: object{
			"command": command[0], "args": command[1:], "timeout": patience.Milliseconds(), "trust": true,
		}},
	}
	return Launch{
		Argv: append(argv, more...),
		Files: []File{
			homeFile(".gemini/settings.json", jsonText(settings)),
			homeFile(".gemini/GEMINI.md", h.Prompt), // Gemini reads it besides the project's own
			promptFile(h.Prompt),
		},
		Env: []string{
			"GEMINI_API_KEY=" + key,
			"GEMINI_CLI_NO_RELAUNCH=true", // one process; the container bounds its memory
			"SANDBOX=ironcurtain",         // the container is the sandbox: it starts no other
		},
	}, nil
}

// geminiProject is the directory in which Gemini CLI keeps its files about the workspace.
var geminiProject = ".gemini/tmp/" + path.Base(Workspace)

// geminiKept looks for a file in which Gemini CLI keeps a conversation: chats/session-….jsonl.
func geminiKept(home HomeDir, _ string) bool {
	return home.keepsFile(geminiProject+"/chats", 0, "session-", ".jsonl")
}

// geminiLastPrompt reads the log of what was typed into Gemini CLI: a list of
// objects, each field on a line of its own.
func geminiLastPrompt(home HomeDir, _ string) string {
	return home.lastOf(geminiProject+"/logs.json", func(line []byte) string {
		value, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte(`"message": `))
		var text string
		if !ok || json.Unmarshal(bytes.TrimSuffix(value, []byte(",")), &text) != nil {
			return ""
		}
		return unlessCommand(text)
	})
}

// answerOfGemini reads the one object that "--output-format json" prints. Other lines may come
// before it.
func answerOfGemini(stdout string, exitCode int) Answer {
	var result struct {
		Response string `json:"response"`
		Error    *struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	start := strings.Index(stdout, "{")
	if start < 0 || json.Unmarshal([]byte(stdout[start:]), &result) != nil {
		return failedAnswer(stdout, exitCode)
	}
	a := Answer{Text: result.Response}
	if result.Error != nil {
		a.Failure = oneLine(result.Error.Message, fmt.Sprintf("Gemini CLI failed with code %d", exitCode))
	}
	return concluded(a, stdout, exitCode)
}
