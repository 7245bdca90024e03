package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/start"
)

// A daemon knows the tools that another one has learned: it starts no server before a call needs
// it, and uses none of its tools that are not what they were.
func TestToolsKnownFromAnotherDaemon(t *testing.T) {
	t.Parallel()
	buildBeside(t, "ironcurtain-mux-code")
	buildBeside(t, "ironcurtain-mux-ask")
	d := &driver{t: t, home: newHome(t)}
	do := func(code int, task string) (text, audit string) {
		t.Helper()
		var errs bytes.Buffer
		cmd := exec.CommandContext(t.Context(), withoutEngine[0], slices.Concat(withoutEngine[1:], []string{
			"ironcurtain-mux", "start", "--demo", "--agent", "builtin", "--output", "json", task,
		})...)
		cmd.Env, cmd.Stderr = environment(d.home, cacheDirectory(t)), &errs
		out, _ := cmd.Output() // the code says more
		var result start.TaskResult
		if err := json.Unmarshal(out, &result); err != nil || cmd.ProcessState.ExitCode() != code {
			t.Fatalf("%s: %v, %v: %s%s", task, cmd.ProcessState, err, out, &errs)
		}
		return result.Text, d.audit(result.Session)
	}
	const started = `"reason":"server started"`
	if _, audit := do(cli.ExitOK, "say hi"); strings.Count(audit, started) != 3 {
		t.Errorf("the first daemon has not learned from three servers:\n%s", audit)
	}
	d.stop()

	if text, audit := do(cli.ExitOK, "say hi"); text != "hi" || strings.Contains(audit, started) {
		t.Errorf("%q, and servers were started:\n%s", text, audit)
	}
	if text, audit := do(cli.ExitOK, "read hello.txt"); !strings.Contains(text, "Hello from the workspace") || strings.Count(audit, started) != 1 {
		t.Errorf("%q, and other servers were started than that of the call:\n%s", text, audit)
	}
	d.stop()

	path := d.state("tools", "filesystem.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(string(text), `"name":"read_text_file","title":"`, `"name":"read_text_file","title":"Another `, 1)
	if err := os.WriteFile(path, []byte(other), 0o600); err != nil || other == string(text) {
		t.Fatalf("not changed: %v", err)
	}
	if answer, audit := do(cli.ExitDenied, "read hello.txt"); strings.Contains(answer, "Hello from the workspace") || !strings.Contains(audit, "its definition changed since it was first seen") {
		t.Errorf("a changed tool was used: %q\n%s", answer, audit)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the list that differs is still kept: %v", err)
	}
}
