package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/demo/scripted"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/start"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
)

// A session uses the key that config.json refers to, rather than one of the environment. The
// key is in no file of the state, and a reference that leads to none is named.
func TestAnAgentsKeyByReference(t *testing.T) {
	t.Parallel()
	model, err := scripted.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = model.Close() })
	key := model.Keys()["openai"]
	for name, test := range map[string]struct {
		key  string // as in config.json
		says string // the error; empty: the session has its key
	}{
		"command":       {`{"provider":"openai","command":["cat","{home}/key"]}`, ""},
		"variable":      {`{"provider":"openai","env":"MY_KEY"}`, ""},
		"file":          {`{"provider":"openai","file":"{home}/key"}`, ""},
		"refused":       {`{"provider":"openai","command":["sh","-c","cat {home}/key; exit 3"]}`, `find the API key of opencode: command "sh": exit status 3 (correct agentApiKeys in config.json, or what it refers to)`},
		"not there":     {`{"provider":"openai","file":"{home}/none"}`, "no such file"},
		"other use":     {`{"provider":"nobody","env":"MY_KEY"}`, `opencode cannot use a key of "nobody"; its providers are anthropic, openai, google`},
		"two of them":   {`{"env":"MY_KEY","file":"{home}/key"}`, "agentApiKeys"},
		"the key alone": {`"{key}"`, "agentApiKeys"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := newHome(t)
			configure(t, home, strings.NewReplacer("{home}", home, "{key}", "k").Replace(`{"agentApiKeys":{"opencode":`+test.key+`}}`))
			if err := errors.Join(os.MkdirAll(filepath.Join(home, "user"), 0o700), os.WriteFile(filepath.Join(home, "key"), []byte(key+"\n"), 0o600)); err != nil {
				t.Fatal(err)
			}
			args := append([]string{"start", "--agent", "opencode", "--output", "json"}, moved(t, home, model, "api.openai.com", "api.anthropic.com")...)
			cmd := exec.CommandContext(t.Context(), "ironcurtain-mux", append(args, "say so")...)
			cmd.Env = append(environment(home, cacheDirectory(t)), "MY_KEY="+key, "ANTHROPIC_API_KEY=sk-ant-api03-not-this-one")
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			err := cmd.Run()
			if strings.Contains(out.String()+errs.String(), key) || len(filesWith(t, filepath.Join(home, "state"), key)) > 0 {
				t.Errorf("the key is in %s%s or in %q", out.String(), errs.String(), filesWith(t, filepath.Join(home, "state"), key))
			}
			if test.says != "" {
				if err == nil || !strings.Contains(errs.String(), test.says) {
					t.Errorf("%v: %s", err, errs.String())
				}
				return
			}
			var result start.TaskResult
			if bad := json.Unmarshal(out.Bytes(), &result); err != nil || bad != nil || strings.TrimSpace(result.Text) != "so" {
				t.Errorf("%v, %v: %s%s", err, bad, out.String(), errs.String())
			}
		})
	}
}

// A key of an agent that talks to no model, or of none, is an error when config.json is read.
func TestAKeyNeedsAnAgentThatUsesIt(t *testing.T) {
	for name, want := range map[string]string{"shell": "shell asks no model, so it has no key", "nobody": "agentApiKeys: ", "codex": ""} {
		c, err := config.Parse("config.json", fmt.Appendf(nil, `{"agentApiKeys":{%q:{"env":"MY_KEY"}}}`, name))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := wiring.AgentsOf(c); (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
