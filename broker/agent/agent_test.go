package agent_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

const sentinel = "sk-ant-api03-ironcurtain-0123456789abcdefghij"

func launch(t *testing.T, name string, h agent.Host) agent.Launch {
	t.Helper()
	a, err := agent.Builtin().Named(name)
	if err != nil {
		t.Fatal(err)
	}
	l, err := a.Launch(h)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestUnknownAgentNamesTheKnownOnes(t *testing.T) {
	_, err := agent.Builtin().Named("clod")
	if hint := fault.Hint(err); !strings.Contains(hint, "claude-code") || !strings.Contains(hint, "shell") {
		t.Fatalf("got %v", err)
	}
}

// Each file answers a dialog; without one of them the agent would stop and ask.
func TestClaudeCodeStartsWithoutDialogs(t *testing.T) {
	l := launch(t, "claude-code", agent.Host{
		Sentinels: map[string]string{"anthropic": sentinel}, Conversation: "11111111-2222-4333-8444-555555555555", Prompt: "be good",
	})
	files := map[string]agent.File{}
	for _, f := range l.Files {
		files[f.Path] = f
	}
	var state struct {
		HasCompletedOnboarding bool
		CustomAPIKeyResponses  struct{ Approved []string } `json:"customApiKeyResponses"`
		Projects               map[string]struct{ HasTrustDialogAccepted bool }
	}
	if err := json.Unmarshal(files[".claude.json"].Data, &state); err != nil {
		t.Fatal(err)
	}
	if !state.HasCompletedOnboarding || !state.Projects[agent.Workspace].HasTrustDialogAccepted ||
		!slices.Equal(state.CustomAPIKeyResponses.Approved, []string{sentinel[len(sentinel)-20:]}) {
		t.Errorf("state: %+v", state)
	}
	var servers struct {
		MCPServers map[string]struct {
			Args       []string
			AlwaysLoad bool
			Timeout    int
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal(files["mcp.json"].Data, &servers); err != nil {
		t.Fatal(err)
	}
	s := servers.MCPServers["ironcurtain"]
	if !s.AlwaysLoad || s.Timeout < 600_000 || !slices.Equal(s.Args, []string{"mcp"}) {
		t.Errorf("servers: %+v", servers)
	}
	if !files["mcp.json"].Orientation || files[".claude.json"].Orientation {
		t.Error("files are in the wrong directories")
	}
	if !slices.Contains(l.Env, "ANTHROPIC_API_KEY="+sentinel) {
		t.Error("the agent does not get its stand-in key")
	}
}

// After two minutes Claude Code would go on without the answer to a call.
func TestClaudeCodeWaitsForAnswers(t *testing.T) {
	l := launch(t, "claude-code", agent.Host{Sentinels: map[string]string{"anthropic": sentinel}, Conversation: "c"})
	if !slices.Contains(l.Env, "CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS=0") {
		t.Error("calls are put into the background")
	}
}

func TestClaudeCodeResumesItsConversation(t *testing.T) {
	h := agent.Host{Sentinels: map[string]string{"anthropic": sentinel}, Conversation: "c"}
	first := strings.Join(launch(t, "claude-code", h).Argv, " ")
	h.Resume = true
	second := strings.Join(launch(t, "claude-code", h).Argv, " ")
	if !strings.Contains(first, "--session-id c") || !strings.Contains(second, "--resume c") {
		t.Errorf("%s\n%s", first, second)
	}
}

// An agent that is given the stand-in key of any one of its providers gets it, in its
// environment or in a file.
func TestAgentsGetTheKeyOfEachProvider(t *testing.T) {
	for _, a := range agent.Builtin().All() {
		if a.Place != agent.InContainer {
			continue // its session hands it the key
		}
		for _, provider := range a.Providers {
			h := agent.Host{
				Sentinels: map[string]string{provider: sentinel}, Conversation: "c",
				KeyVariables: map[string][]string{provider: {"ITS_KEY"}},
			}
			if provider == "chatgpt" {
				h.Logins = map[string]string{provider: "account"} // it has no keys, only a login
			}
			l, err := a.Launch(h)
			if err != nil {
				t.Errorf("%s with %s: %v", a.Name, provider, err)
				continue
			}
			all := strings.Join(l.Env, "\n")
			for _, f := range l.Files {
				all += "\n" + string(f.Data)
			}
			if !strings.Contains(all, sentinel) {
				t.Errorf("%s does not get its stand-in key of %s", a.Name, provider)
			}
		}
	}
}

func TestNoSentinelNoLaunch(t *testing.T) {
	a, _ := agent.Builtin().Named("claude-code")
	if _, err := a.Launch(agent.Host{}); err == nil {
		t.Error("the agent was launched without a key")
	}
}

func TestSubmittedTextIsTyping(t *testing.T) {
	a, _ := agent.Builtin().Named("claude-code")
	for text, want := range map[string]string{
		"fix it":              "fix it",
		"two\nlines":          "\x1b[200~two\nlines\x1b[201~",
		"dos\r\nlines":        "\x1b[200~dos\nlines\x1b[201~",
		"no \x1b[201~ tricks": "no [201~ tricks",
		"a\x03b\u009bc\x00":   "abc",
		"tab\tstays":          "tab\tstays",
	} {
		t.Run(text, func(t *testing.T) {
			got := a.Submit(text)
			if len(got.Steps) != 2 || got.Steps[0] != want || got.Steps[1] != "\r" || got.Pause <= 0 {
				t.Errorf("%q became %q", text, got.Steps)
			}
		})
	}
}

// Codex takes fast typing for a paste, so it gets one.
func TestCodexGetsPastes(t *testing.T) {
	a := named(t, "codex")
	for text, want := range map[string]string{
		"fix it":              "\x1b[200~fix it\x1b[201~",
		"no \x1b[201~ tricks": "\x1b[200~no [201~ tricks\x1b[201~",
		"/status":             "/status",
	} {
		t.Run(text, func(t *testing.T) {
			got := a.Submit(text)
			if len(got.Steps) != 2 || got.Steps[0] != want || got.Steps[1] != "\r" || got.Pause <= 0 {
				t.Errorf("%q became %q", text, got.Steps)
			}
		})
	}
}

func TestEveryAgentHasWhatASessionNeeds(t *testing.T) {
	for _, a := range agent.Builtin().All() {
		contained := a.Place == agent.InContainer
		if a.Name == "" || a.Title == "" || a.Submit == nil || contained != (a.Image != "") || contained != (a.Launch != nil) {
			t.Errorf("incomplete: %+v", a)
		}
	}
}
