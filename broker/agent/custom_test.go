package agent_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
)

func mine() agent.Custom {
	return agent.Custom{
		Name: "mine", Image: "example/mine:1", Providers: []string{"openai", "anthropic"},
		Command: []string{"mine", "--mcp", "{mcp-file}", "--system", "{prompt-file}", "--id={conversation}"},
		Resume:  []string{"mine", "--continue"},
		Task:    []string{"mine", "-p", "{task}"},
		Env:     map[string]string{"B": "{sentinel}", "A": "{task}", "TOOLS": "{mcp-command}"},
		Files:   map[string]string{".config/mine.ini": "prompt={prompt}\n"},
		Paste:   true, Pause: time.Second,
	}
}

func TestCustomAgentIsFilledIn(t *testing.T) {
	a, err := mine().Adapter()
	if err != nil {
		t.Fatal(err)
	}
	h := agent.Host{
		Sentinels: map[string]string{"anthropic": sentinel}, Conversation: "c", Prompt: "be good",
		KeyVariables: map[string][]string{"anthropic": {"FIRST_KEY", "SECOND_KEY"}},
	}
	l, err := a.Launch(h)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"mine", "--mcp", "/etc/ironcurtain/mcp.json", "--system", "/etc/ironcurtain/prompt.md", "--id=c"}; !slices.Equal(l.Argv, want) {
		t.Errorf("command: %q", l.Argv)
	}
	for _, want := range []string{"FIRST_KEY=" + sentinel, "SECOND_KEY=" + sentinel, "A={task}", "B=" + sentinel} {
		t.Run(want, func(t *testing.T) {
			if !slices.Contains(l.Env, want) {
				t.Errorf("the environment lacks %s: %q", want, l.Env)
			}
		})
	}
	files := map[string]agent.File{}
	for _, f := range l.Files {
		files[f.Path] = f
	}
	var servers struct {
		MCPServers map[string]struct{ Command string } `json:"mcpServers"`
	}
	if err := json.Unmarshal(files["mcp.json"].Data, &servers); err != nil || servers.MCPServers["ironcurtain"].Command == "" {
		t.Errorf("%v: %s", err, files["mcp.json"].Data)
	}
	if got := string(files[".config/mine.ini"].Data); got != "prompt=be good\n" || !files["mcp.json"].Orientation {
		t.Errorf("file: %q", got)
	}
	if l, err = a.Once(h, "do {prompt}"); err != nil || !slices.Equal(l.Argv, []string{"mine", "-p", "do {prompt}"}) {
		t.Errorf("one-shot: %v, %q", err, l.Argv)
	}
	h.Resume = true
	if l, err = a.Launch(h); err != nil || !slices.Equal(l.Argv, []string{"mine", "--continue"}) {
		t.Errorf("resumed: %v, %q", err, l.Argv)
	}
	if s := a.Submit("x"); s.Steps[0] != "\x1b[200~x\x1b[201~" || s.Pause != time.Second {
		t.Errorf("submitted: %+v", s)
	}
	if a.Conversation(t.TempDir(), "c").Begun || !a.Conversation(homeWith(t, "state", ""), "c").Begun {
		t.Error("its home is not looked into")
	}
	if _, err := a.Launch(agent.Host{}); err == nil {
		t.Error("it was launched without a credential")
	}
}

func TestCustomAgentIsChecked(t *testing.T) {
	for name, change := range map[string]func(*agent.Custom){
		"no image":                func(c *agent.Custom) { c.Image = "" },
		"no command":              func(c *agent.Custom) { c.Command = nil },
		"a name with a space":     func(c *agent.Custom) { c.Name = "my agent" },
		"a name that is a path":   func(c *agent.Custom) { c.Name = "../x" },
		"a file outside its home": func(c *agent.Custom) { c.Files = map[string]string{"../.bashrc": ""} },
		"an absolute file":        func(c *agent.Custom) { c.Files = map[string]string{"/etc/passwd": ""} },
		"a directory":             func(c *agent.Custom) { c.Files = map[string]string{"a/": ""} },
	} {
		t.Run(name, func(t *testing.T) {
			c := mine()
			change(&c)
			if _, err := c.Adapter(); err == nil || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}
