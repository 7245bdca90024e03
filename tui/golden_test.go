package tui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/here"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

var update = flag.Bool("update", false, "write the golden screens anew")

// golden compares a screen with the stored one.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, diff)
	}
}

// introOf returns an intro that is the same for every session.
func introOf(lines ...string) func(broker.Session) []string {
	return func(broker.Session) []string { return lines }
}

// demo are the options of the golden screens.
func demo() Options {
	return Options{
		Workspace: "/home/me/project",
		Notices:   []string{"scripted model"},
		Intro:     introOf("read notes.txt is allowed", "read ../outside/notes.txt asks you", "read ../config.json is denied"),
		Phrase:    "amber fox",
		Prefix:    "ctrl+b",
	}
}

const agentScreen = "\x1b[1mWelcome to the agent\x1b[m\r\n\r\n> try \"edit <file>\"\r\n\x1b[32m● 漢字 and text\x1b[m\r\n"

const twoArguments = `{"path":"/home/me/outside/notes.txt","content":"first line\nsecond line\twith\u202e tricks","mode":{"append":true,"lines":[1,2]}}`

const asWritten = `{"path":"../outside/notes.txt","content":"first line\nsecond line\twith\u202e tricks","mode":{"append":true,"lines":[1,2]},"x":null}`

// TestGoldenScreens draws every mode at four sizes.
func TestGoldenScreens(t *testing.T) {
	modes := []struct {
		name string
		do   func(r *harness)
	}{
		{"starting", func(r *harness) {
			r.m.numbered(1).attached = false
			for _, p := range []broker.Progress{
				{Session: "s1", Step: "building the agent image", Detail: "Step 3/9 : RUN apt-get install", Done: false},
				{Session: "s1", Step: "starting the proxies", Done: true},
			} {
				r.send(brokerMsg{broker.Event{Progress: &p}})
			}
		}},
		{"building", func(r *harness) { r.builds() }},
		{"build-log", func(r *harness) { r.builds(); r.keys("\x0c") }},
		{"build-failed", func(r *harness) { r.builds(); r.buildFails() }},
		{"terminal", func(r *harness) { r.keys("x") }},
		{"intro", func(*harness) {}},
		{"command", func(r *harness) { r.keys("\x01fix the tests") }},
		{"command-long", func(r *harness) {
			r.keys("\x01please look at the failing tests in the parser and repair whatever is wrong there, then tell me")
		}},
		{"far", func(r *harness) {
			s := r.m.tabs[0].session
			s.Far = "build-box · files copied · 152 ms"
			r.send(brokerMsg{broker.Event{Kind: broker.EventSession, Session: &s}})
			r.keys("x")
		}},
		{"error", func(r *harness) { r.keys("\x01/frobnicate\r") }},
		{"budget", func(r *harness) {
			used := broker.Usage{Requests: 12, In: 1234, Out: 56_789, CacheRead: 12_345_678, CacheWrite: 4321, CostUSD: 4.5678, Time: 61 * time.Minute}
			one := broker.Budget{Session: "s1", Used: used, Allowance: broker.Allowance{CostUSD: 5, Tokens: 20_000_000}, Part: 0.91}
			r.send(brokerMsg{broker.Event{Budget: &one}})
			total := used
			total.CostUSD, total.GuessedUSD = 123.4, 0.5
			r.broker.budgets = broker.Budgets{Sessions: []broker.Budget{one}, Total: total, PricesDate: "2026-11-20"}
			r.keys("\x01/budget\r")
		}},
		{"waiting", func(r *harness) {
			r.state(1, broker.StateWaiting)
			r.escalate(1, twoArguments, asWritten)
		}},
		{"panel", func(r *harness) {
			r.escalate(1, twoArguments, asWritten)
			r.escalate(2, `{"path":"/tmp/b"}`, "")
			r.keys("\x01")
		}},
		{"panel-focused", func(r *harness) {
			r.escalate(1, `{"path":"/tmp/b"}`, "")
			r.keys("\x01\t\x1b[D")
		}},
		{"panel-end", func(r *harness) {
			r.escalate(1, twoArguments, asWritten)
			r.keys("\x01")
			for range 60 {
				r.keys("\x1b[B")
			}
		}},
		{"decided", func(r *harness) {
			r.escalate(1, `{"path":"/tmp/b"}`, "")
			r.keys("\x01")
			for range 30 {
				r.paint()
				r.keys("\x1b[B")
			}
			r.keys("/approve\r")
		}},
		{"remember", func(r *harness) {
			r.broker.scopes = []broker.Scope{
				{Name: "exact", Text: "filesystem/write_file with exactly these arguments", Matched: 1, Past: 7},
				{Name: "file", Text: `filesystem/write_file with path (write-path) "/tmp/b"; any content; no other argument`, Matched: 4, Past: 7},
			}
			r.escalate(1, `{"path":"/tmp/b","content":"x"}`, "")
			r.keys("\x01/approve+\r")
		}},
		{"grants", func(r *harness) {
			r.broker.grants = []broker.Grant{{
				Number: 2, Session: "s1", Agent: "claude-code", Scope: "file", By: "tui", Used: 3, ExpiresAt: r.now.Add(90 * time.Second),
				Text: `filesystem/write_file with path (write-path) "/tmp/b"; any content; no other argument`,
			}}
			r.keys("\x01/grants\r")
		}},
		{"landing", func(r *harness) {
			r.broker.landing = broker.Landing{ID: "x", Origin: "/home/p/project", Files: 3, Run: 1, More: 7, Lines: []broker.LandingLine{
				{Head: true, Text: "programs of this machine run or obey these by themselves; look at them before you land them"},
				{What: "added", Text: ".envrc (the shell loads it)"},
				{Head: true, Text: "to be landed in /home/p/project"},
				{What: "changed", Text: "main.go (4.1 KB, was 3.9 KB)"},
				{What: "deleted", Text: "old.go"},
				{Head: true, Text: "changed on both sides; these stay as they are"},
				{What: "changed", Text: "README.md (it was changed in /home/p/project, too)"},
				{Head: true, Text: "git ignores these; --ignored lands them, too"},
				{Text: "node_modules/ (4,312 files)"},
			}}
			r.keys("\x01/land\r")
		}},
		{"history", func(r *harness) {
			r.broker.history = []broker.Decided{
				{At: testTime, Session: "s1", Agent: "claude-code", Server: "git", Tool: "git_push", Decision: "auto-approved", Rule: "asks-before-push", Detail: map[string]any{"receipt": 4, "quote": "push to origin"}},
				{At: testTime, Session: "s2", Agent: "shell", Server: "filesystem", Tool: "write_file", Arguments: []byte(`{"path":"/a"}`), Decision: "escalated-denied", By: "cli", Waited: 2300 * time.Millisecond, Rule: "escalate-writes-outside"},
			}
			r.keys("\x01/history\r")
		}},
		{"receipt", func(r *harness) {
			r.send(brokerMsg{broker.Event{Receipt: &broker.Receipt{Number: 4, Session: "s1", Left: 1, ExpiresAt: r.now.Add(80 * time.Second)}}})
		}},
		{"question", func(r *harness) { r.state(1, broker.StateWorking); r.keys("\x01/quit\r") }},
		{"tabs", func(r *harness) {
			for range 11 {
				r.keys("\x01/new shell /tmp\r")
			}
			r.state(3, broker.StateWorking)
			r.state(12, broker.StateWaiting)
			r.keys("\x01/tab 5\r")
		}},
		{"dead", func(r *harness) {
			s := r.m.numbered(1).session
			s.State, s.ExitCode, s.Reason = broker.StateDead, 137, "the container ran out of memory"
			r.send(brokerMsg{broker.Event{Session: &s}})
		}},
		{"help", func(r *harness) { r.keys("\x01?") }},
		{"copy", func(r *harness) { r.keys("\x01["); r.keys("gvll") }},
		{"search", func(r *harness) { r.keys("\x01["); r.keys("/text") }},
		{"selection", func(r *harness) { r.keys("\x01[gVj") }},
		{"no-tab", func(r *harness) { r.keys("\x01/close\ry") }},
		{"completion", func(r *harness) { r.keys("\x01/re\t") }},
		{"arguments", func(r *harness) { r.keys("\x01/new ") }},
		{"history-search", func(r *harness) { r.keys("\x01/theme dark\r\x01\x12dark") }},
		{"help-search", func(r *harness) { r.keys("\x01?/scrollback") }},
		{"first-prompt", func(r *harness) { r.keys("\x01/new shell -- look at the tests\r"); r.m.numbered(2).attached = false }},
		{"notice", func(r *harness) {
			r.keys("\x01/new shell\r\x1b1")
			r.send(brokerMsg{broker.Event{Notice: &broker.Notice{Session: "s2", Urgent: true, Text: "the audit cannot be written: no space left on device; its calls are refused"}}})
			r.send(paneMsg{"s2", term.Event{Kind: term.EventBell}})
		}},
		{"done", func(r *harness) {
			r.keys("\x01/new shell\r\x1b1")
			r.state(2, broker.StateWorking)
			r.state(2, broker.StateIdle)
			r.settle()
		}},
		{"rename", func(r *harness) { r.keys("\x01/rename the parser 漢字\r") }},
		{"muted", func(r *harness) {
			r.keys("\x01/new shell\r\x01/mute\r\x1b1")
			r.keys("\x1b2")
			r.m.messages = view.Messages{}
		}},
		{"all-muted", func(r *harness) { r.keys("\x01/mute all\r"); r.m.messages = view.Messages{} }},
		{"picker", func(r *harness) { r.broker.stored = storedSessions(); r.keys("\x01/resume\r") }},
		{"here", func(r *harness) {
			r.m.o.Here = &here.Project{Dir: "/home/x/src/project", Worktree: true}
			r.m.askHere()
		}},
		{"prefix", func(r *harness) { r.keys("\x02") }},
		{"scrolled", func(r *harness) {
			r.agentSays(1, strings.Repeat("more\r\n", 60))
			r.keys("\x1b[<64;5;3M")
		}},
		{"zoom", func(r *harness) {
			r.keys("\x01/new shell\r\x01/split down\r")
			r.agentSays(2, "$ ls\r\n")
			r.keys("\x01/zoom\r")
		}},
		{"four-panes", func(r *harness) {
			for range 3 {
				r.keys("\x01/new shell\r")
			}
			r.keys("\x01/split\r\x01/split\r\x01/split\r")
		}},
		{"split", func(r *harness) {
			r.keys("\x01/new shell\r")
			r.agentSays(2, "$ ls\r\n")
			r.keys("\x01/split right\r")
		}},
	}
	for _, size := range [][2]int{{20, 6}, {40, 10}, {80, 24}, {200, 50}} {
		for _, mode := range modes {
			name := fmt.Sprintf("%s-%dx%d", mode.name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				r := newHarness(t, size[0], size[1], demo())
				r.state(1, broker.StateIdle)
				r.agentSays(1, agentScreen)
				mode.do(r)
				r.m.dirty = true
				r.m.refresh()
				golden(t, name, r.screen())
				r.themed()
			})
		}
	}
}

// themed fails if the multiplexer's own parts have a style that is not one of the theme, whose
// styles are known to be readable. Any of them may be bold or underlined.
func (r *harness) themed() {
	r.t.Helper()
	known := map[term.Style]bool{}
	theme := reflect.ValueOf(r.m.theme)
	for i := range theme.NumField() {
		if style, ok := theme.Field(i).Interface().(term.Style); ok {
			style.Attr, style.Underline = style.Attr&^term.Bold, term.NoUnderline
			known[style] = true
		}
	}
	for _, layer := range r.scene.Layers {
		for i, cell := range layer.Cells {
			cell.Style.Attr, cell.Style.Underline = cell.Style.Attr&^term.Bold, term.NoUnderline
			if !known[cell.Style] {
				r.t.Fatalf("column %d of row %d has a style of its own: %+v", layer.At.X+i%layer.At.W, layer.At.Y+i/layer.At.W, cell.Style)
			}
		}
	}
}

// A terminal that is too small shows one line that says so, and the screen comes back when
// the terminal grows.
func TestTooSmall(t *testing.T) {
	for _, size := range [][2]int{{19, 30}, {80, 4}, {5, 2}, {1, 1}} {
		r := newHarness(t, size[0], size[1], demo())
		r.escalate(1, `{"path":"/tmp/b"}`, "")
		r.keys("\x01/approve\r")
		r.paint()
		if n := len(r.broker.decisions()); n != 0 {
			t.Errorf("%v: decided %d calls that could not be shown", size, n)
		}
		if size[0] >= 9 {
			r.wants("too small")
		}
		r.send(sizeMsg{80, 24})
		r.wants("approval 1/1")
	}
}
