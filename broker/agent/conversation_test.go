package agent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
)

// homeWith makes an agent's home that holds one file.
func homeWith(t *testing.T, name, text string) string {
	t.Helper()
	home := t.TempDir()
	put(t, home, name, text)
	return home
}

func put(t *testing.T, home, name, text string) {
	t.Helper()
	path := filepath.Join(home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// kept is what each agent leaves in its home once something was said, and
// asked what it keeps of the prompts.
var kept = map[string]string{
	"claude-code": ".claude/projects/-workspace/c.jsonl",
	"codex":       ".codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-x.jsonl",
	"opencode":    ".local/share/opencode/opencode.db",
	"gemini":      ".gemini/tmp/workspace/chats/session-2026-01-02T03-04-x.jsonl",
	"goose":       ".local/share/goose/sessions/sessions.db",
}

var asked = map[string]struct{ path, text string }{
	"claude-code": {kept["claude-code"], `{"type":"user","message":{"content":"fix\n it"}}
{"type":"user","isMeta":true,"message":{"content":"no prompt"}}
{"type":"user","message":{"content":"<command-name>/model</command-name>"}}
{"type":"user","message":{"content":[{"type":"tool_result"}]}}
`},
	"codex": {".codex/history.jsonl", `{"session_id":"x","ts":1,"text":"before"}
{"session_id":"x","ts":2,"text":"fix\n it"}
{"session_id":"x","ts":3,"text":"/model"}
`},
	"opencode": {".local/state/opencode/prompt-history.jsonl", `{"input":"before","parts":[],"mode":"normal"}
{"input":"fix\n it","parts":[],"mode":"normal"}
{"input":"rm x","parts":[],"mode":"shell"}
{"input":"/models","parts":[],"mode":"normal"}
`},
	"gemini": {".gemini/tmp/workspace/logs.json", `[
  {
    "sessionId": "c",
    "type": "user",
    "message": "fix\n it",
    "timestamp": "2026-01-02T03:04:05Z"
  },
  {
    "sessionId": "c",
    "type": "user",
    "timestamp": "2026-01-02T03:04:06Z",
    "message": "/quit"
  }
]`},
	"goose": {".local/state/goose/history.txt", "#V2\nbefore\nfix\\n it\n/exit\n"},
}

func TestKeptConversations(t *testing.T) {
	for name, path := range kept {
		t.Run(name, func(t *testing.T) {
			a := named(t, name)
			other := homeWith(t, ".codex/config.toml", "")
			put(t, other, ".gemini/settings.json", "")
			if a.Conversation(t.TempDir(), "c").Begun || a.Conversation(other, "c").Begun {
				t.Errorf("%s: an empty home has a conversation", name)
			}
			if !a.Conversation(homeWith(t, path, "x"), "c").Begun {
				t.Errorf("%s: the conversation is not found", name)
			}
		})
	}
	if named(t, "claude-code").Conversation(homeWith(t, kept["claude-code"], "x"), "d").Begun {
		t.Error("Claude Code's conversations are not told apart")
	}
}

func TestLastPrompts(t *testing.T) {
	for name, is := range asked {
		t.Run(name, func(t *testing.T) {
			a := named(t, name)
			if got := a.Conversation(homeWith(t, is.path, is.text), "c").LastPrompt; got != "fix it" {
				t.Errorf("%s: %q", name, got)
			}
			if got := a.Conversation(t.TempDir(), "c").LastPrompt; got != "" {
				t.Errorf("%s: an empty home tells %q", name, got)
			}
		})
	}
	for name, is := range map[string]struct{ text, want string }{
		"a path is no command": {`{"text":"/etc/hosts is wrong"}`, "/etc/hosts is wrong"},
		"it is cut":            {`{"text":"` + strings.Repeat("é", 300) + `"}`, strings.Repeat("é", 200)},
		"not JSON":             {"\x00\xff{[", ""},
		"another type":         {`{"text":["x"]}`, ""},
		"only the end is read": {`{"text":"before"}` + "\n" + strings.Repeat("x", 300<<10), ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := named(t, "codex").Conversation(homeWith(t, asked["codex"].path, is.text), "c").LastPrompt; got != is.want {
				t.Errorf("%s: %q", name, got)
			}
		})
	}
	if got := named(t, "shell").Conversation(homeWith(t, ".bash_history", "ls"), "c"); got != (agent.Conversation{}) {
		t.Errorf("a shell: %+v", got)
	}
}

// Whatever the agent puts in the place of a file or of a directory above it, it
// is not followed out of the home and not waited for.
func TestHostileHomes(t *testing.T) {
	outside := t.TempDir()
	for name, is := range asked {
		t.Run(name, func(t *testing.T) {
			put(t, outside, is.path, is.text)
			put(t, outside, kept[name], "x")
		})
	}
	hostile := map[string]func(at, path string) error{
		"a pipe":   func(at, _ string) error { return unix.Mkfifo(at, 0o600) },
		"a link":   func(at, path string) error { return os.Symlink(filepath.Join(outside, path), at) },
		"a loop":   func(at, _ string) error { return os.Symlink(filepath.Base(at), at) },
		"a device": func(at, _ string) error { return os.Symlink("/dev/zero", at) },
	}
	for name, is := range asked {
		t.Run(name, func(t *testing.T) {
			for what, place := range hostile {
				for _, file := range []string{kept[name], is.path} {
					for path := file; path != "."; path = filepath.Dir(path) {
						home := t.TempDir()
						at := filepath.Join(home, path)
						if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
							t.Fatal(err)
						}
						if err := place(at, path); err != nil {
							t.Fatal(err)
						}
						if got := soon(t, named(t, name), home); got != (agent.Conversation{}) {
							t.Errorf("%s, %s at %s: %+v", name, what, path, got)
						}
					}
				}
			}
		})
	}
}

// soon looks into a home and does not wait for it for ever.
func soon(t *testing.T, a agent.Adapter, home string) agent.Conversation {
	t.Helper()
	found := make(chan agent.Conversation, 1)
	go func() { found <- a.Conversation(home, "c") }()
	select {
	case c := <-found:
		return c
	case <-time.After(30 * time.Second):
		t.Fatalf("%s: the look into %s hangs", a.Name, home)
		return agent.Conversation{}
	}
}
