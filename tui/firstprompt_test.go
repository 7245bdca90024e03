package tui

import (
	"os"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
)

// quietFor moves the time of an agent's last output into the past.
func (r *harness) quietFor(tab int, d time.Duration) {
	r.m.numbered(tab).pane.NoteOutput(r.now.Add(-d))
}

// lookReady lets the model check whether a first prompt can be sent.
func (r *harness) lookReady() {
	r.t.Helper()
	if r.ready == nil {
		r.t.Fatal("the model does not check whether the agent is ready")
	}
	msg := *r.ready
	r.ready = nil
	r.send(msg)
}

func TestFirstPrompt(t *testing.T) {
	r := newHarness(t, 80, 24, Options{})
	r.keys("\x01/new shell --workspace /tmp -- fix \x1b[200~all -- tests\x1b[201~ now \r")
	if last := r.broker.opened[1]; last.Agent != "shell" || last.Workspace != "/tmp" {
		t.Errorf("opened %+v", last)
	}
	r.m.numbered(2).attached = false
	r.m.dirty = true
	r.m.refresh()
	r.wants("first prompt: fix all -- tests now")
	r.m.numbered(2).attached = true
	sent := func(when string, want int) {
		t.Helper()
		if got := len(r.broker.inputs); got != want {
			t.Fatalf("%s: %d prompts were sent, want %d", when, got, want)
		}
	}
	r.quietFor(2, readyQuiet)
	r.lookReady()
	sent("while it starts", 0)
	r.m.dirty = true
	r.m.refresh()
	r.wants("waiting for shell to show something")
	r.state(2, broker.StateIdle)
	r.lookReady()
	sent("before it edits lines", 0)
	r.agentSays(2, "\x1b[?2004h")
	r.quietFor(2, readyQuiet-time.Millisecond)
	r.lookReady()
	sent("while it draws", 0)
	r.quietFor(2, readyQuiet)
	r.lookReady()
	sent("when it is ready", 1)
	want := broker.TrustedInput{
		Session: "s2", Text: "fix all -- tests now",
		Spans: []broker.Span{{Start: 0, End: 4}, {Start: 4, End: 16, Pasted: true}, {Start: 16, End: 20}},
	}
	if diff := cmp.Diff(want, r.broker.inputs[0]); diff != "" {
		t.Error(diff)
	}
	if got := r.queued(2); got != "fix all -- tests now\r" {
		t.Errorf("the agent got %q", got)
	}
	if r.ready != nil {
		t.Error("the model checks again after the prompt was sent")
	}
}

// The wait for an agent that never asks for its tools is bounded, and the person is told
// that the agent has not asked for them.
func TestFirstPromptWithoutTools(t *testing.T) {
	r := newHarness(t, 100, 24, Options{Prompt: "fix the tests"})
	r.agentSays(1, "\x1b[?2004h")
	r.now = r.now.Add(toolTimeout - time.Millisecond)
	r.quietFor(1, readyQuiet)
	r.lookReady()
	if len(r.broker.inputs) != 0 {
		t.Fatal("the prompt was sent although the tools may still come")
	}
	r.now = r.now.Add(time.Millisecond)
	r.lookReady()
	if len(r.broker.inputs) != 1 {
		t.Fatal("the prompt was not sent")
	}
	r.wants("has not asked for its tools within 1:00")
}

// While an agent is slow to show something, the screen is not empty: it shows the steps of
// the start.
func TestNothingIsBlank(t *testing.T) {
	r := newHarness(t, 80, 24, Options{Intro: introOf("type read hello.txt")})
	began := 0
	r.m.post = func(msg tea.Msg) {
		if _, ok := msg.(changedMsg); ok {
			began++
			r.send(msg)
		}
	}
	r.send(brokerMsg{broker.Event{Progress: &broker.Progress{Session: "s1", Step: "starting the container", Done: true}}})
	r.wants("✓ starting the container", "… waiting for claude-code to show something", "command line · starting")
	if n := strings.Count(r.screen(), "type read hello.txt"); n != 1 {
		t.Errorf("the intro is shown %d times", n)
	}
	r.agentSays(1, "\x1b[c\x1b[?1049h\x1b[2J ") // nothing that anybody could read
	r.wants("✓ starting the container")
	r.agentSays(1, "Welcome")
	r.wants("Welcome", "connecting tools")
	if strings.Contains(r.screen(), "starting the container") {
		t.Errorf("the steps are still shown:\n%s", r.screen())
	}
	r.agentSays(1, " again")
	if began != 1 {
		t.Errorf("Began was called %d times", began)
	}
}

// A program that does not edit lines gets its prompt all the same.
func TestFirstPromptOfAPlainProgram(t *testing.T) {
	r := newHarness(t, 80, 24, Options{Prompt: "from outside"})
	r.state(1, broker.StateIdle)
	r.quietFor(1, readyQuiet)
	r.lookReady()
	if len(r.broker.inputs) != 0 {
		t.Fatal("the prompt was sent at once")
	}
	r.now = r.now.Add(editorTimeout)
	r.lookReady()
	want := []broker.TrustedInput{{
		Session: "s1", Text: "from outside", Spans: []broker.Span{{Start: 0, End: 12, Pasted: true}},
	}}
	if diff := cmp.Diff(want, r.broker.inputs); diff != "" {
		t.Error(diff)
	}
}

// A first prompt that could not be sent is put back on the command line.
func TestFirstPromptIsKept(t *testing.T) {
	r := newHarness(t, 120, 24, Options{})
	r.keys("\x01/new shell -- do it\r")
	r.state(2, broker.StateDead)
	r.lookReady()
	r.wants("shell ended before its first prompt was sent; the text is kept on the command line")
	if got := r.m.line.Text(); got != "do it" {
		t.Errorf("the line holds %q", got)
	}
	r.keys("\x01\x15")
	r.broker.openErr = errNoAgent
	r.keys("/new shell -- do it\r")
	if got := r.m.line.Text(); got != "/new shell -- do it" {
		t.Errorf("the line holds %q", got)
	}
}

func TestNewCommandLines(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args, agent, dir, prompt, refused string
		repo, branch, policy              string
		worktree                          broker.WorktreeChoice
	}{
		{args: "", agent: "claude-code"},
		{args: "shell /tmp", agent: "shell", dir: "/tmp"},
		{args: "/tmp", agent: "claude-code", dir: "/tmp"},
		{args: "--workspace=/tmp", agent: "claude-code", dir: "/tmp"},
		{args: "shell --worktree /tmp -- no --worktree here", agent: "shell", dir: "/tmp", prompt: "no --worktree here", worktree: broker.WorktreeYes},
		{args: "--workspace /tmp --no-worktree", agent: "claude-code", dir: "/tmp", worktree: broker.WorktreeNo},
		{args: "shell --worktree", agent: "shell", dir: here, worktree: broker.WorktreeYes},
		{args: "shell --worktree -- go on", agent: "shell", dir: here, prompt: "go on", worktree: broker.WorktreeYes},
		{args: "shell --repo https://example.com/x.git --branch a/b -- --repo no", agent: "shell", repo: "https://example.com/x.git", branch: "a/b", prompt: "--repo no"},
		{args: "--branch=b --repo=me@example.com:x shell", agent: "shell", repo: "me@example.com:x", branch: "b"},
		{args: "shell --repo", refused: "--repo: has no value"},
		{args: "shell --policy /p /tmp", agent: "shell", dir: "/tmp", policy: "/p"},
		{args: "--policy=/p --no-worktree", agent: "claude-code", policy: "/p", worktree: broker.WorktreeNo},
		{args: "shell --policy /p -- x --policy y", agent: "shell", policy: "/p", prompt: "x --policy y"},
		{args: "shell --policy", refused: "--policy: has no value"},
		{args: "-- hello there", agent: "claude-code", prompt: "hello there"},
		{args: "shell /tmp/a b -- x", agent: "shell", dir: "/tmp/a b", prompt: "x"},
		{args: "shell --workspace '/tmp/a b' -- x", agent: "shell", dir: "/tmp/a b", prompt: "x"},
		{args: `/tmp/a\ b's`, agent: "claude-code", dir: `/tmp/a\ b's`},
		{args: `/tmp/a\ b`, agent: "claude-code", dir: "/tmp/a b"},
		{args: "/tmp/it's", agent: "claude-code", dir: "/tmp/it's"},
		{args: "shell --", agent: "shell"},
		{args: "shell --workspace", refused: "takes a directory"},
		{args: "--colour", refused: "takes an agent, --workspace DIR"},
		{args: "nobody -- x", refused: "no such agent; there are"},
	} {
		r := newHarness(t, 120, 24, Options{Agent: "claude-code"})
		r.keys("\x01/new " + test.args + "\r")
		if test.refused != "" {
			r.wants(test.refused)
			if len(r.broker.opened) != 1 {
				t.Errorf("/new %s opened a tab", test.args)
			}
			continue
		}
		if last := r.broker.opened[len(r.broker.opened)-1]; len(r.broker.opened) != 2 || last.Agent != test.agent || last.Workspace != test.dir || last.Worktree != test.worktree || last.Repo != test.repo || last.Branch != test.branch || last.Policy != test.policy {
			t.Errorf("/new %s: opened %+v", test.args, last)
			continue
		}
		if got := input.TextOf(r.m.numbered(2).pane.First()); got != test.prompt {
			t.Errorf("/new %s: the first prompt is %q", test.args, got)
		}
	}
}

// A first prompt that could not be sent does not replace a line that the person has begun
// since. It goes into the history.
func TestFirstPromptIsKeptBesideAnotherLine(t *testing.T) {
	r := newHarness(t, 120, 24, Options{})
	r.keys("\x01/new shell -- do it\r")
	r.keys("\x01begun")
	r.state(2, broker.StateDead)
	r.lookReady()
	r.wants("the text is kept in the history of the command line", "> begun")
	r.keys("\x1b[A")
	r.wants("> do it")
	r.keys("\x1b[B")
	r.wants("> begun")
}

// A tab on a clone says what is cloned before its branch is known. It is restarted as one,
// under the same policy.
func TestCloneIsClonedAgain(t *testing.T) {
	r := newHarness(t, 100, 24, Options{})
	s := r.m.numbered(1).session
	s.State, s.Worktree = broker.StateStarting, &broker.Worktree{Repository: "https://example.com/x.git", Cloned: true}
	r.send(brokerMsg{broker.Event{Session: &s}})
	r.wants("on https://example.com/x.git")
	s.Policy = "/p"
	s.State, s.Worktree = broker.StateDead, &broker.Worktree{Repository: "https://example.com/x.git", Branch: "b", Cloned: true}
	r.send(brokerMsg{broker.Event{Session: &s}})
	r.keys("\x01/restart\r")
	if last := r.broker.opened[len(r.broker.opened)-1]; last.Repo != "https://example.com/x.git" || last.Branch != "b" || last.Policy != "/p" || last.Workspace != "" || last.Worktree != broker.WorktreeAsConfigured {
		t.Errorf("opened %+v", last)
	}
}
