package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// An agent of the person's own: an image that is there and a command that
// speaks MCP over standard input and output, out of config.json.
func TestCustomAgent(t *testing.T) {
	t.Parallel()
	image, present, err := engine(t).ImageTag(t.Context(), "shell", standardRecipe)
	if err != nil || !present {
		t.Fatalf("image %s: %v, %v", image, present, err)
	}
	home := newHome(t)
	text, err := json.Marshal(map[string]any{
		"agents": map[string]any{"mine": map[string]any{
			"title": "My agent", "image": image,
			"command": []string{"bash", "--noprofile", "--norc", "-i"},
			"resume":  []string{"bash", "--noprofile", "--norc", "-i"},
			"env":     map[string]string{"TOOLS": "{mcp-command}", "PS1": "mine$ "},
			"files":   map[string]string{".mine/told": "{prompt-file}"},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(home, "state")
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(state, "config.json"), []byte(withWay(string(text))), 0o600); err != nil {
		t.Fatal(err)
	}
	d := drive(t, home, 110, 40, "demo", "--agent", "mine")
	d.see(patience, "mine$")
	id := d.onlySession().ID
	d.send(`head -c 30 "$(cat ~/.mine/told)"; echo` + "\r")
	d.see(patience, "You work inside a container")
	d.send(callTools(`filesystem__list_directory {"path":"/workspace"}`) + ` | grep -o 'FILE. hello.txt' | sort -u` + "\r")
	d.see(patience, "FILE] hello.txt")
	d.send("\x01/quit!\r")
	if code := d.exit(2 * time.Minute); code != 0 {
		t.Errorf("exit code %d", code)
	}
	d.nothingLeft(id)
	if s := d.stored(id); !s.Begun || s.LastPrompt != "" {
		t.Errorf("listed as %+v", s)
	}
}
