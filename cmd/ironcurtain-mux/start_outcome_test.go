package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/start"
)

// Each way in which a task can end has its exit code, and its outcome is printed.
func TestStartExitCodes(t *testing.T) {
	for name, test := range map[string]struct {
		config string
		args   []string
		code   int
		end    broker.TurnEnd
		says   string
	}{
		"denied":   {"{}", []string{"read {home}/state/config.json"}, cli.ExitDenied, broker.TurnAnswered, "filesystem/read_file (deny)"},
		"budget":   {`{"budget":{"requests":1}}`, []string{"read hello.txt"}, cli.ExitBudget, broker.TurnOverBudget, "budget is used up"},
		"time out": {"{}", []string{"--timeout", "8s", "--agent", "shell", "setsid sleep 500 & sleep 500"}, cli.ExitTimedOut, broker.TurnTimedOut, "longer than 8s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := newHome(t)
			configure(t, home, test.config)
			args := []string{"--output", "json"}
			for _, a := range test.args {
				args = append(args, strings.ReplaceAll(a, "{home}", home))
			}
			out, errs, code := runStart(t, home, "", args...)
			var result start.TaskResult
			if err := json.Unmarshal([]byte(out), &result); err != nil || code != test.code || result.End != test.end || !strings.Contains(errs, test.says) {
				t.Errorf("%v, code %d: %s%s", err, code, out, errs)
			}
			left, err := engine(t).List(t.Context(), map[string]string{broker.LabelSession: result.Session})
			if err != nil || len(left) != 0 {
				t.Errorf("containers are left: %v, %v", left, err)
			}
		})
	}
}

// When the session's time is used up, the turn ends, also while a call of it waits and the
// model is not asked.
func TestStartEndsWithItsTime(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	configure(t, home, `{"budget":{"minutes":1}}`)
	out, errs, code := runStart(t, home, "", "--output", "json", "say so")
	var first start.TaskResult
	if err := json.Unmarshal([]byte(out), &first); err != nil || code != cli.ExitOK {
		t.Fatalf("%v, code %d: %s%s", err, code, out, errs)
	}
	path := filepath.Join(home, "state", "sessions", first.Session, "budget.json")
	var stored map[string]map[string]any
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &stored)
	}
	if err != nil {
		t.Fatal(err)
	}
	stored["used"]["time"] = 30 * time.Second
	if data, err = json.Marshal(stored); err == nil {
		err = os.WriteFile(path, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(home, "state", "demo", "outside", "notes.txt")
	out, errs, code = runStart(t, home, "", "--output", "json", "--resume", first.Session, "write "+outside+" text")
	var second start.TaskResult
	if err := json.Unmarshal([]byte(out), &second); err != nil || code != cli.ExitBudget || second.End != broker.TurnOverBudget || !strings.Contains(second.Failure, "time is used up") {
		t.Fatalf("%v, code %d: %s%s", err, code, out, errs)
	}
	if !strings.Contains(errs, "call 1 waits for you") {
		t.Errorf("the turn ended before its call waited: %s", errs)
	}
}

// An outcome lists the files that changed in the workspace, whoever changed them.
func TestStartListsTheFilesThatChanged(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	task := "mkdir -p a/b; echo new >a/b/c; echo more >>hello.txt; cp -p hello.txt kept; touch -r kept hello.txt; rm kept; git config user.name x; ln -s /etc link"
	out, errs, code := runStart(t, home, "", "--output", "json", "--agent", "shell", task)
	var result start.TaskResult
	if err := json.Unmarshal([]byte(out), &result); err != nil || code != cli.ExitOK {
		t.Fatalf("%v, code %d: %s%s", err, code, out, errs)
	}
	want := []broker.FileChange{{Path: "a/b/c", Change: "added"}, {Path: "hello.txt", Change: "changed"}, {Path: "link", Change: "added"}}
	if !slices.Equal(result.FilesChanged, want) || result.FilesMissed != "" {
		t.Errorf("%+v, %s", result.FilesChanged, result.FilesMissed)
	}
	out, errs, _ = runStart(t, home, "", "--output", "json", "--resume", result.Session, "rm hello.txt")
	result = start.TaskResult{}
	if err := json.Unmarshal([]byte(out), &result); err != nil || !slices.Equal(result.FilesChanged, []broker.FileChange{{Path: "hello.txt", Change: "removed"}}) {
		t.Errorf("%v: %s%s", err, out, errs)
	}
}

// An outcome has each call with its decision, who decided those that waited, and what the
// task used.
func TestStartListsCallsAndDecisions(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	outside := filepath.Join(home, "state", "demo", "outside", "notes.txt")
	out, errs, code := runStart(t, home, "write "+outside+" text\n/deny 1 no\n", "--output", "json")
	var result start.TaskResult
	if err := json.Unmarshal([]byte(out), &result); err != nil || code != cli.ExitOK {
		t.Fatalf("%v, code %d: %s%s", err, code, out, errs)
	}
	if len(result.Calls) == 0 || len(result.Decisions) != 1 || result.Decisions[0].By != "start" || result.Decisions[0].Decision != "escalated-denied" || result.Decisions[0].Tool != "write_file" {
		t.Errorf("calls %+v, decisions %+v", result.Calls, result.Decisions)
	}
	if result.Used == nil || result.Used.Requests == 0 || result.Usage == nil || result.Used.Requests > result.Usage.Requests || result.FilesChanged == nil {
		t.Errorf("used %+v of %+v; files %v", result.Used, result.Usage, result.FilesChanged)
	}
}

// The tasks of a session and their answers are in its transcript, which the agent cannot
// see, 'sessions show' names, and 'sessions rm' removes.
func TestStartKeepsATranscript(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	out, errs, code := runStart(t, home, "echo first; find / -name turns.jsonl 2>/dev/null; true\nfalse\n", "--agent", "shell")
	if code != cli.ExitFailure || strings.TrimSpace(out) != "first" {
		t.Fatalf("code %d: %q %s", code, out, errs)
	}
	d := &driver{t: t, home: home}
	id := d.allStored()[0].ID
	path := d.state("sessions", id, "turns.jsonl")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var turns []struct{ Prompt, Text, Failure, End string }
	for line := range strings.Lines(string(data)) {
		turns = append(turns, struct{ Prompt, Text, Failure, End string }{})
		if err := json.Unmarshal([]byte(line), &turns[len(turns)-1]); err != nil {
			t.Fatal(err)
		}
	}
	if len(turns) != 2 || strings.TrimSpace(turns[0].Text) != "first" || turns[0].End != "answered" || turns[1].Prompt != "false" || turns[1].End != "failed" || turns[1].Failure == "" {
		t.Errorf("%s", data)
	}
	if out, errs, code := d.command("sessions", "show", id); code != cli.ExitOK || !strings.Contains(out, path) {
		t.Errorf("%s%s", out, errs)
	}
	if _, errs, code := d.command("sessions", "rm", id); code != cli.ExitOK {
		t.Errorf("%s", errs)
	}
	if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) {
		t.Errorf("what is left: %v", err)
	}
}
