package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/start"
)

// withoutEngine are the words before a command that finds no container engine.
var withoutEngine = []string{"env", "DOCKER_HOST=unix:///nowhere/docker.sock"}

// openBuiltin opens the demo with the built-in agent where there is no container engine.
func openBuiltin(t testing.TB, home string, args ...string) *driver {
	t.Helper()
	buildBeside(t, "ironcurtain-mux-code")
	buildBeside(t, "ironcurtain-mux-ask")
	argv := append(append(append([]string{}, withoutEngine...), "ironcurtain-mux", "demo"), args...)
	d := driveArgv(t, home, 110, 40, argv...)
	d.see(patience, "claude-sonnet-4-6")
	return d
}

// The built-in agent does what it is asked to on a machine without a container engine. Each
// call of its programs is judged, decided and recorded like any other agent's.
func TestBuiltinDemo(t *testing.T) {
	t.Parallel()
	d := openBuiltin(t, newHome(t), "--agent", "builtin")
	d.idle()
	session := d.onlySession()
	notes := d.state("demo", "outside", "notes.txt")

	d.ask("read hello.txt")
	d.see(patience, "program 1", "filesystem/read_text_file hello.txt", "allowed", "Hello from the workspace")
	d.ask("write " + notes + " by-the-builtin-agent")
	d.see(patience, "waits for you", "1 waiting")
	d.send("\x01")
	d.see(patience, "write_file", notes, "call 1 of program", ", line 1", "it wrote: ")
	d.decide("/approve", func() bool {
		text, err := os.ReadFile(notes)
		return err == nil && string(text) == "by-the-builtin-agent"
	})
	d.see(patience, "Done: write")
	d.ask("read " + d.state("config.json"))
	d.see(patience, "refused", "structural-protected-path")
	d.ask("write kept.txt in the workspace")
	d.see(patience, "Done: write 16 characters to kept.txt")
	d.send("\x01/diff\r")
	d.see(patience, "names of the files written since its start", "file: kept.txt")
	if d.says("file: hello.txt") {
		t.Errorf("a file that nobody wrote is listed:\n%s", d.text())
	}
	d.send("q\x01/attach " + notes + "\r")
	d.see(patience, "has no container", "tell it the path of the file")
	d.ask("batch 20")
	d.see(patience, "filesystem/read_text_file × 20", "Done: read hello.txt 20 times")
	d.idle()

	out, errs, code := d.command("audit", "show", "--tool", "read_text_file", "--decision", "allow", session.ID)
	if n := strings.Count(out, "read_text_file"); code != cli.ExitOK || n != 21 {
		t.Errorf("%d reads on record, code %d: %s%s", n, code, out, errs)
	}
	if _, errs, code := d.command("audit", "verify", session.ID); code != cli.ExitOK {
		t.Errorf("audit verify: code %d, %s", code, errs)
	}
	text, err := os.ReadFile(d.state("sessions", session.ID, "home", "conversation.jsonl"))
	if err != nil || !strings.Contains(string(text), "batch 20") {
		t.Errorf("the conversation: %v, %s", err, text)
	}
	d.quit()
	if s := d.stored(session.ID); !s.Begun || s.LastPrompt != "batch 20" || s.Agent != "builtin" {
		t.Errorf("listed as %+v", s)
	}
}

// Esc takes back what waits, ends an answer that arrives, and the person's next words are heard.
func TestBuiltinInterrupted(t *testing.T) {
	t.Parallel()
	d := openBuiltin(t, newHome(t), "--agent", "builtin")
	d.idle()
	notes := d.state("demo", "outside", "notes.txt")
	before, err := os.ReadFile(notes)
	if err != nil {
		t.Fatal(err)
	}
	d.ask("write " + notes + " never")
	d.see(patience, "waits for you", "1 waiting")
	d.send("\x1b")
	d.until("the end of the waiting", patience, func(string) bool { return len(d.pending()) == 0 })
	d.idle()
	d.ask("read hello.txt")
	d.see(patience, "Done: read hello.txt")
	d.ask("say " + strings.Repeat("much ", 500) + "more")
	d.see(patience, "│ much much")
	d.send("\x1b")
	d.see(patience, "  interrupted")
	d.ask("list .")
	d.see(patience, "filesystem/list_directory", "Done: list .")
	if after, err := os.ReadFile(notes); err != nil || string(after) != string(before) {
		t.Errorf("the file became %q, %v", after, err)
	}
	if log := d.audit(d.onlySession().ID); !strings.Contains(log, "escalated-withdrawn") {
		t.Errorf("no record of the withdrawal:\n%s", log)
	}
	d.quit()
}

// A spent budget stops the agent between two requests, and more lets it go on.
func TestBuiltinBudget(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	spendsAtMost(t, home, 1)
	d := openBuiltin(t, home, "--agent", "builtin")
	d.idle()
	d.ask("read hello.txt")
	d.see(patience, "filesystem/read_text_file hello.txt", "The budget of this session is spent")
	d.send("\x01/budget +50 requests\r")
	d.see(patience, "may now use", "51 requests")
	d.ask("read hello.txt")
	d.see(patience, "Done: read hello.txt")
	d.quit()
}

// A task needs no container engine either, and another one goes on with the conversation.
func TestBuiltinTask(t *testing.T) {
	t.Parallel()
	buildBeside(t, "ironcurtain-mux-code")
	buildBeside(t, "ironcurtain-mux-ask")
	home := newHome(t)
	t.Cleanup(func() { (&driver{t: t, home: home}).stop() })
	run := func(args ...string) (result start.TaskResult) {
		t.Helper()
		out, errs, code := runStart(t, home, "", append([]string{"--output", "json"}, args...)...)
		if err := json.Unmarshal([]byte(out), &result); err != nil || code != cli.ExitOK {
			t.Fatalf("%v, code %d: %s%s", err, code, out, errs)
		}
		return result
	}
	first := run("--agent", "builtin", "read hello.txt")
	if !strings.Contains(first.Text, "Hello from the workspace") || first.Usage == nil || first.Usage.Requests != 2 {
		t.Errorf("%+v", first)
	}
	var events []struct{ Kind, Tool, State string }
	if err := json.Unmarshal(first.Events, &events); err != nil || len(events) != 5 || events[2].Kind != "tool_call" || events[2].State != "done" {
		t.Errorf("%v, events %s", err, first.Events)
	}
	if second := run("--resume", first.Session[:8], "say", "and", "on"); second.Text != "and on" || second.Session != first.Session {
		t.Errorf("%+v", second)
	}
	history, err := os.ReadFile(filepath.Join(home, "state", "sessions", first.Session, "home", "conversation.jsonl"))
	if err != nil || strings.Count(string(history), `"role":"user","text"`) != 2 {
		t.Errorf("the conversation: %v, %s", err, history)
	}
	began := time.Now()
	if _, _, code := runStart(t, home, "", "--agent", "builtin", "--timeout", "2s", "write "+filepath.Join(home, "state", "demo", "outside", "x")+" y"); code != 4 {
		t.Errorf("a task that waits for a person: code %d after %s", code, time.Since(began))
	}
}

// A task tells whoever reads its events that most of the budget is used, and then that all is.
func TestBuiltinTaskTellsOfItsBudget(t *testing.T) {
	t.Parallel()
	buildBeside(t, "ironcurtain-mux-code")
	buildBeside(t, "ironcurtain-mux-ask")
	home := newHome(t)
	spendsAtMost(t, home, 5)
	t.Cleanup(func() { (&driver{t: t, home: home}).stop() })
	to := []string{"--agent", "builtin"}
	for n, want := range []struct {
		code         int
		event, about string
	}{{cli.ExitOK, "step_finish", ""}, {cli.ExitOK, "budget_warning", "4 requests of 5 requests"}, {cli.ExitBudget, "budget_exhausted", "5 requests of 5 requests"}} {
		out, errs, code := runStart(t, home, "", append(append([]string{"--output", "json"}, to...), "read hello.txt")...)
		var result start.TaskResult
		if err := json.Unmarshal([]byte(out), &result); err != nil || code != want.code {
			t.Fatalf("task %d: %v, code %d: %s%s", n, err, code, out, errs)
		}
		var events []struct{ Kind, Text string }
		if err := json.Unmarshal(result.Events, &events); err != nil || len(events) < 2 {
			t.Fatalf("task %d: %v: %s", n, err, result.Events)
		}
		if last := events[len(events)-1]; last.Kind != want.event || !strings.Contains(last.Text, want.about) || strings.Count(string(result.Events), `"budget_`) > 1 {
			t.Errorf("task %d: %s", n, result.Events)
		}
		to = []string{"--resume", result.Session[:8]}
	}
}

// What is typed while the agent starts is an order like any other.
func TestBuiltinTypedEarly(t *testing.T) {
	t.Parallel()
	buildBeside(t, "ironcurtain-mux-code")
	buildBeside(t, "ironcurtain-mux-ask")
	argv := append(append([]string{}, withoutEngine...), "ironcurtain-mux", "demo", "--agent", "builtin")
	d := driveArgv(t, newHome(t), 110, 40, argv...)
	d.see(patience, " 1 ")
	d.send("read hello.txt\r")
	d.see(patience, "Done: read hello.txt")
	d.quit()
}
