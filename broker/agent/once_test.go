package agent_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
)

func named(t *testing.T, name string) agent.Adapter {
	t.Helper()
	a, err := agent.Builtin().Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// A container that was made for one task serves every later one.
func TestOnlyTheCommandDependsOnTheTask(t *testing.T) {
	for _, a := range agent.Builtin().All() {
		if a.Once == nil {
			continue
		}
		h := agent.Host{Sentinels: map[string]string{}, Conversation: "11111111-2222-4333-8444-555555555555", Prompt: "be good"}
		for _, p := range a.Providers {
			h.Sentinels[p] = sentinel
		}
		one, err := a.Once(h, "-first task")
		if err != nil {
			t.Fatalf("%s: %v", a.Name, err)
		}
		two, err := a.Once(h, "second task")
		if err != nil {
			t.Fatalf("%s: %v", a.Name, err)
		}
		if !slices.Equal(one.Env, two.Env) {
			t.Errorf("%s: the environment depends on the task", a.Name)
		}
		if len(one.Files) != len(two.Files) {
			t.Fatalf("%s: the files depend on the task", a.Name)
		}
		for i := range one.Files {
			if string(one.Files[i].Data) != string(two.Files[i].Data) {
				t.Errorf("%s: %s depends on the task", a.Name, one.Files[i].Path)
			}
		}
		if !strings.Contains(strings.Join(one.Argv, " "), "-first task") {
			t.Errorf("%s: the command %q does not hold the task", a.Name, one.Argv)
		}
		if a.Answer == nil && a.Name != "shell" {
			t.Errorf("%s: nobody reads the answer", a.Name)
		}
	}
}

// Claude Code runs without asking permissions as number 0 only where it is told that it is confined.
func TestClaudeAsRoot(t *testing.T) {
	a := named(t, "claude-code")
	h := agent.Host{Sentinels: map[string]string{"anthropic": sentinel}, Conversation: "11111111-2222-4333-8444-555555555555"}
	for _, h.Root = range []bool{false, true} {
		launch, err := a.Launch(h)
		if err != nil {
			t.Fatal(err)
		}
		if told := slices.Contains(launch.Env, "IS_SANDBOX=1"); told != h.Root {
			t.Errorf("as root %v: told %v", h.Root, told)
		}
	}
}

func TestAnswerOfClaude(t *testing.T) {
	a := named(t, "claude-code")
	for _, tt := range []struct {
		name, stdout string
		code         int
		want         agent.Answer
	}{
		{"an answer", `{"type":"result","is_error":false,"result":"done","total_cost_usd":0.25}`, 0, agent.Answer{Text: "done"}},
		{"a failure", `{"type":"result","is_error":true,"result":"API Error:\n 401"}`, 1, agent.Answer{Failure: "API Error: 401"}},
		{"a failure by the code", `{"result":"half"}`, 2, agent.Answer{Failure: "half"}},
		{"no object", "MCP config file not found\n", 1, agent.Answer{Failure: "the agent ended with code 1 and gave no answer: MCP config file not found"}},
		{"nothing", "", 137, agent.Answer{Failure: "the agent ended with code 137 and gave no answer: it printed nothing"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := a.Answer(tt.stdout, tt.code); got != tt.want {
				t.Errorf("%s: %+v", tt.name, got)
			}
		})
	}
}

// The shapes are those that the agents print; the tests with the real agents
// see to it that they stay so.
func TestAnswersOfOthers(t *testing.T) {
	for _, tt := range []struct {
		agent, name, stdout string
		code                int
		want                agent.Answer
	}{
		{
			"codex", "an answer",
			`{"type":"thread.started","thread_id":"1"}` + "\nnoise\n" +
				`{"type":"item.completed","item":{"type":"agent_message","text":"I will."}}` + "\n" +
				`{"type":"item.completed","item":{"type":"mcp_tool_call","text":""}}` + "\n" +
				`{"type":"item.completed","item":{"type":"agent_message","text":"Done."}}` + "\n" + `{"type":"turn.completed"}` + "\n",
			0,
			agent.Answer{Text: "Done."},
		},
		{
			"codex", "a repeated request", `{"type":"error","message":"Reconnecting"}` + "\n" +
				`{"type":"item.completed","item":{"type":"agent_message","text":"Done."}}` + "\n" + `{"type":"turn.completed"}`,
			0,
			agent.Answer{Text: "Done."},
		},
		{"codex", "a failure", `{"type":"error","message":"a\nb"}` + "\n" + `{"type":"turn.failed","error":{"message":"no\nkey"}}`, 1, agent.Answer{Failure: "no key"}},
		{"codex", "nothing", "", 1, agent.Answer{Failure: "the agent ended with code 1 and gave no answer: it printed nothing"}},
		{
			"opencode", "an answer",
			`{"type":"text","part":{"text":"I will."}}` + "\n" + `{"type":"step_finish","part":{"cost":0.5}}` + "\n" + `{"type":"tool_use","part":{}}` + "\n" +
				`{"type":"text","part":{"text":"Do"}}` + "\n" + `{"type":"text","part":{"text":"ne."}}` + "\n" + `{"type":"step_finish","part":{"cost":0.25}}`,
			0,
			agent.Answer{Text: "Done."},
		},
		{"opencode", "a failure", `{"type":"error","error":{"name":"APIError","data":{"message":"Forbidden"}}}`, 1, agent.Answer{Failure: "Forbidden"}},
		{"gemini", "an answer", "YOLO mode is enabled.\n{\n  \"response\": \"Done.\",\n  \"stats\": {}\n}", 0, agent.Answer{Text: "Done."}},
		{"gemini", "a failure", `{"error":{"type":"Error","message":"fetch failed","code":1}}`, 1, agent.Answer{Failure: "fetch failed"}},
		{
			"goose", "an answer",
			`{"messages":[{"role":"user","content":[{"type":"text","text":"go"}]},{"role":"assistant","content":[{"type":"text","text":"I will."},{"type":"toolRequest"}]},` +
				`{"role":"user","content":[{"type":"toolResponse"}]},{"role":"assistant","content":[{"type":"text","text":"Done."}]}]}`,
			0,
			agent.Answer{Text: "Done."},
		},
		{"goose", "no object", "error: no key\n", 1, agent.Answer{Failure: "the agent ended with code 1 and gave no answer: error: no key"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := named(t, tt.agent).Answer(tt.stdout, tt.code); got != tt.want {
				t.Errorf("%s, %s: %+v", tt.agent, tt.name, got)
			}
		})
	}
}

// A plain command's output is its answer, also when it fails; its complaints say why.
func TestAnswersOfCommands(t *testing.T) {
	for _, tt := range []struct {
		stdout, stderr string
		code           int
		want           agent.Answer
	}{
		{"hi\n", "a warning\n", 0, agent.Answer{Text: "hi\n"}},
		{"hi\n", "", 1, agent.Answer{Text: "hi\n", Failure: "the agent ended with code 1"}},
		{"", "one\ntwo\n", 127, agent.Answer{Failure: "the agent ended with code 127: two"}},
	} {
		if got := named(t, "shell").AnswerOf(tt.stdout, tt.stderr, tt.code); got != tt.want {
			t.Errorf("%+v: %+v", tt, got)
		}
	}
	// Of another agent, complaints count where it printed nothing.
	if got := named(t, "codex").AnswerOf(" \n", "error: no key\n", 1); got.Text != "" || !strings.HasSuffix(got.Failure, ": error: no key") {
		t.Errorf("%+v", got)
	}
}
