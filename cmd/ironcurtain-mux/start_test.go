package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/start"
)

// runStart runs the program's start command on the scripted model. Claude Code gets the task
// unless another agent is named.
func runStart(t *testing.T, home, input string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(home, "user"), 0o700); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(args, "--agent") && !slices.Contains(args, "--resume") {
		args = append([]string{"--agent", "claude-code"}, args...)
	}
	cmd := exec.CommandContext(t.Context(), "ironcurtain-mux", append([]string{"start", "--demo"}, args...)...)
	cmd.Env = environment(home, cacheDirectory(t))
	cmd.Stdin = strings.NewReader(input)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// One task, then another that continues the session: the agent's conversation
// goes on, the outcome is one object, nothing is left.
func TestStartOnce(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	out, errs, code := runStart(t, home, "", "--output", "json", "read hello.txt")
	var first start.TaskResult
	if err := json.Unmarshal([]byte(out), &first); err != nil || code != 0 {
		t.Fatalf("%v, code %d: %s%s", err, code, out, errs)
	}
	if !strings.Contains(first.Text, "Hello from the workspace") || first.Usage == nil || first.Usage.Requests == 0 {
		t.Errorf("got %s", out)
	}
	d := &driver{t: t, home: home}
	if s := d.stored(first.Session); !s.Begun || s.LastPrompt != "read hello.txt" {
		t.Errorf("listed as %+v", s)
	}
	if len(first.Calls) != 1 || first.Calls[0].Tool != "read_file" || first.Calls[0].Decision != "allow" {
		t.Errorf("calls %+v", first.Calls)
	}
	out, errs, code = runStart(t, home, "", "--resume", string(first.Session[:8]), "say", "and", "on")
	if code != 0 || out != "and on\n" {
		t.Fatalf("code %d: %q %s", code, out, errs)
	}
	kept, err := filepath.Glob(filepath.Join(home, "state", "sessions", "*", "home", ".claude", "projects", "*", "*.jsonl"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("conversations: %v, %v", kept, err)
	}
	text, err := os.ReadFile(kept[0])
	if err != nil || !strings.Contains(string(text), "read hello.txt") || !strings.Contains(string(text), "say and on") {
		t.Errorf("the conversation lacks a task: %v", err)
	}
	left, err := engine(t).List(t.Context(), map[string]string{broker.LabelSession: first.Session})
	if err != nil || len(left) != 0 {
		t.Errorf("containers are left: %v, %v", left, err)
	}
}

// Every agent has the host's tools in its first task, and what it was asked is
// listed, also when it does not remember that itself.
func TestStartEveryAgent(t *testing.T) {
	t.Parallel()
	for _, a := range realAgents {
		if a.name == "claude-code" { // TestStartOnce
			continue
		}
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			home := newHome(t)
			out, errs, code := runStart(t, home, "", "--agent", a.name, "--output", "json", "read hello.txt")
			var first start.TaskResult
			if err := json.Unmarshal([]byte(out), &first); err != nil || code != cli.ExitOK || !strings.Contains(first.Text, "Hello from the workspace") {
				t.Fatalf("%v, code %d: %s%s", err, code, out, errs)
			}
			d := &driver{t: t, home: home}
			if s := d.stored(first.Session); !s.Begun || s.LastPrompt != "read hello.txt" {
				t.Errorf("listed as %+v", s)
			}
		})
	}
}

// Tasks come line by line, a call that waits is decided between them.
func TestStartTalk(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	notes := filepath.Join(home, "state", "demo", "outside", "notes.txt")
	script := "write " + notes + " first-text\n/approve 1\nwrite " + notes + " second-text\n/deny 2 not that one\n/frobnicate\n/budget\n/logs\n/quit\n"
	out, errs, code := runStart(t, home, script)
	if code != 0 {
		t.Fatalf("code %d: %s%s", code, out, errs)
	}
	text, err := os.ReadFile(notes)
	if err != nil || !strings.Contains(string(text), "first-text") || strings.Contains(string(text), "second-text") {
		t.Errorf("the file holds %q, %v", text, err)
	}
	for _, want := range []string{
		"call 1 waits for you", "call 2 waits for you", "/frobnicate: no such command", " requests", "escalated-approved", "escalated-denied",
	} {
		if !strings.Contains(errs, want) {
			t.Errorf("it does not say %q:\n%s", want, errs)
		}
	}
	if !strings.Contains(out, "not that one") {
		t.Errorf("the agent was not told why:\n%s", out)
	}
}

// What a command has printed before it failed, or before its time was over, is printed.
func TestStartPrintsWhatACommandHasPrintedBeforeItFailed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		args []string
		code int
		want string
	}{
		"fails":     {[]string{"echo hi; pwd; echo no good >&2; exit 7"}, cli.ExitFailure, "the task failed: the agent ended with code 7: no good"},
		"times out": {[]string{"--timeout", "20s", "echo hi; pwd; sleep 500"}, cli.ExitTimedOut, "longer than 20s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, errs, code := runStart(t, newHome(t), "", append([]string{"--agent", "shell"}, test.args...)...)
			if code != test.code || out != "hi\n/workspace\n" || !strings.Contains(errs, test.want) {
				t.Errorf("code %d: %q, %s", code, out, errs)
			}
		})
	}
}

// An agent that fails and prints nothing has said why on its standard error.
func TestStartTellsWhatTheAgentComplainedOf(t *testing.T) {
	t.Parallel()
	_, errs, code := runStart(t, newHome(t), "", "--agent", "shell", "no-such-program")
	if code != cli.ExitFailure || !strings.Contains(errs, "ended with code 127") || !strings.Contains(errs, "no-such-program: command not found") {
		t.Errorf("code %d: %s", code, errs)
	}
}

func TestStartRefusesWhatCannotBe(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		code int
		want string
	}{
		"output":         {[]string{"--output", "xml", "x"}, cli.ExitUsage, "--output is text or json"},
		"agent":          {[]string{"--agent", "nobody", "x"}, cli.ExitUsage, "nobody"},
		"no tasks":       {[]string{"--agent", "local-shell", "x"}, cli.ExitFailure, "takes no tasks"},
		"no session":     {[]string{"--resume", "ffffffff", "x"}, cli.ExitFailure, "ffffffff"},
		"both":           {[]string{"--resume", "f", "--agent", "codex", "x"}, cli.ExitUsage, "leave --agent"},
		"list of agents": {[]string{"--list-agents"}, cli.ExitOK, ""},
	} {
		t.Run(name, func(t *testing.T) {
			out, errs, code := runStart(t, newHome(t), "", test.args...)
			if code != test.code || !strings.Contains(errs, test.want) {
				t.Errorf("code %d: %s", code, errs)
			}
			if test.code == cli.ExitOK && (!strings.HasPrefix(out, "AGENT ") || !strings.Contains(out, "\nclaude-code  Claude Code") || strings.Contains(out, "local-shell")) {
				t.Errorf("agents: %s", out)
			}
		})
	}
}
