package main

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/demo/scripted"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm/provider"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/start"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
)

// How many files are read, and how long each is, in bytes.
const (
	filesToRead = 20
	lengthOfOne = 2000
)

// TestProgramsSaveTokens counts the input tokens of twenty reads: by the built-in agent as one
// program, and by a client with plain tools, one after the other and all in one message. The
// client is offered what the proxy offers of the real servers and gets their answers. The scripted
// provider counts, four bytes a token; "go test -v" prints the figures.
func TestProgramsSaveTokens(t *testing.T) {
	t.Parallel()
	tools, answers := plainReads(t)
	inTurn, atOnce := tokensOfPlainReads(t, tools, answers)

	buildBeside(t, "ironcurtain-mux-code")
	buildBeside(t, "ironcurtain-mux-ask")
	home := newHome(t)
	t.Cleanup(func() { (&driver{t: t, home: home}).stop() })
	out, errs, code := runStart(t, home, "", "--output", "json", "--agent", "builtin", fmt.Sprintf("batch %d", filesToRead))
	var result start.TaskResult
	if err := json.Unmarshal([]byte(out), &result); err != nil || code != cli.ExitOK || result.Used == nil || len(result.Calls) != filesToRead+1 {
		t.Fatalf("%v, code %d: %s%s", err, code, out, errs)
	}
	program := int(result.Used.In)
	saved := func(of int) float64 { return 100 - 100*float64(program)/float64(of) }
	t.Logf("%d tools; input tokens: one by one %d, all in one message %d, as a program %d: saves %.1f %% and %.1f %%",
		len(tools), inTurn, atOnce, program, saved(inTurn), saved(atOnce))
	if saved(inTurn) < 95 || saved(atOnce) < 75 {
		t.Errorf("a program needs %d tokens, instead of %d one by one and %d all in one message", program, inTurn, atOnce)
	}
}

// plainReads asks the proxy for what it offers of the filesystem and the git server, and has it
// read the files, each by a call.
func plainReads(t *testing.T) (tools []llm.Tool, answers []string) {
	t.Helper()
	at, err := wiring.FindPaths()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	work, list := filepath.Join(dir, "work"), filepath.Join(dir, "servers.json")
	if err := errors.Join(os.Mkdir(work, 0o700), os.WriteFile(list, listOfServers(t, at.Cache, work), 0o600)); err != nil {
		t.Fatal(err)
	}
	in := []string{
		`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}`,
		`{"jsonrpc":"2.0","id":"tools","method":"tools/list"}`,
	}
	for i := range filesToRead {
		name := fmt.Sprintf("%d.txt", i)
		text := strings.Repeat("A line of a text that somebody has written.\n", lengthOfOne)[:lengthOfOne]
		if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		in = append(in, fmt.Sprintf(`{"jsonrpc":"2.0","id":"%s","method":"tools/call","params":{"name":"filesystem__read_text_file","arguments":{"path":"/workspace/%s"}}}`, name, name))
	}
	serve := exec.CommandContext(t.Context(), "ironcurtain-mux", "proxy", "mcp", "--servers", list, "--sandbox", work, "--stdio", "--audit", filepath.Join(dir, "audit.jsonl"))
	serve.Env = append(os.Environ(), "IRONCURTAIN_CACHE="+at.Cache, "IRONCURTAIN_HOME="+filepath.Join(dir, "state"))
	serve.Stdin = strings.NewReader(strings.Join(in, "\n") + "\n")
	var complaints bytes.Buffer
	serve.Stderr = &complaints
	out, err := serve.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, complaints.String())
	}
	if tools, answers = offeredAndRead(out); len(tools) < 30 || len(answers) != filesToRead || len(answers[0]) != lengthOfOne {
		t.Fatalf("%d tools, %d answers: %s", len(tools), len(answers), complaints.String())
	}
	return tools, answers
}

// listOfServers is a list for "proxy mcp" with the servers that the product brings.
func listOfServers(t *testing.T, cache, work string) []byte {
	t.Helper()
	installed, err := servers.Install(t.Context(), cache, nil)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]any{}
	for name, more := range map[string][]string{"filesystem": {work}, "git": nil} {
		argv, err := installed.Argv(name)
		if err != nil {
			t.Fatal(err)
		}
		listed[name] = map[string]any{"command": argv[0], "args": append(argv[1:], more...)}
	}
	list, err := json.Marshal(listed)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// offeredAndRead are the tools and the texts in what the proxy has answered.
func offeredAndRead(out []byte) (tools []llm.Tool, texts []string) {
	for line := range bytes.Lines(out) {
		var m struct {
			Result struct {
				Tools []struct {
					Name, Description string
					InputSchema       json.RawMessage
				}
				Content []struct{ Text string }
			}
		}
		if json.Unmarshal(line, &m) != nil {
			continue
		}
		for _, tool := range m.Result.Tools {
			tools = append(tools, llm.Tool{Name: tool.Name, Description: tool.Description, Schema: tool.InputSchema})
		}
		if len(m.Result.Content) > 0 {
			texts = append(texts, m.Result.Content[0].Text)
		}
	}
	return tools, texts
}

// tokensOfPlainReads asks a model as a client with plain tools does that reads everything, and
// returns what it takes as input. What the model answers does not matter: the client goes on with
// the calls that it has answers for.
func tokensOfPlainReads(t *testing.T, tools []llm.Tool, answers []string) (inTurn, atOnce int) {
	t.Helper()
	model, err := scripted.Start(t.Context(), scripted.WithDelay(0))
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	chat, err := provider.NewChat(provider.Options{
		Provider: "anthropic", Model: "claude-sonnet-4-6", Key: model.Keys()["anthropic"], BaseURL: model.URL(),
		HTTP: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: model.CAPool()}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer chat.Close()
	ask := func(messages []llm.Message) int {
		reply, err := chat.Reply(t.Context(), llm.Request{System: "You work in /workspace.", Tools: tools, Messages: messages, MaxTokens: 4096}, func(string) {})
		if err != nil {
			t.Fatal(err)
		}
		return reply.Used.In
	}
	order := []llm.Message{{Role: llm.User, Text: fmt.Sprintf("batch %d", filesToRead)}}
	first := ask(order)
	var calls []llm.Call
	var results []llm.Result
	inTurn, one := first, order
	for i, text := range answers {
		c := llm.Call{ID: fmt.Sprintf("toolu_%024d", i), Name: "filesystem__read_text_file", Arguments: fmt.Appendf(nil, `{"path":"/workspace/%d.txt"}`, i)}
		r := llm.Result{ID: c.ID, Name: c.Name, Text: text}
		calls, results = append(calls, c), append(results, r)
		one = append(one, llm.Message{Role: llm.Assistant, Calls: []llm.Call{c}}, llm.Message{Role: llm.User, Results: []llm.Result{r}})
		inTurn += ask(one)
	}
	return inTurn, first + ask(append(order, llm.Message{Role: llm.Assistant, Calls: calls}, llm.Message{Role: llm.User, Results: results}))
}
