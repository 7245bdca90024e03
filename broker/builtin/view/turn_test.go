package view

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/builtin"
)

// begins has a turn run until the test ends.
func (d *desk) begins() {
	d.t.Helper()
	d.types("begin\r")
	<-d.agent.asked
	d.sees("> begin\n")
}

// Only what is live is drawn anew in another size, and nothing of it is left behind, as long
// as the terminal does not move the beginning of it to the scrollback.
func TestResizeWithinAStream(t *testing.T) {
	d := sit(t, 80, 24, nil)
	d.begins()
	d.emits(saying("A paragraph that is done, and wide enough that it is wrapped in a terminal of 40.\n\nOne that is not done, with words to wrap"))
	d.emits(builtin.Event{Kind: builtin.ProgramBegan, Program: 1},
		call(1, "filesystem/read_text_file", "/workspace/a/long/name/of/a/file.txt", builtin.CallDone, time.Second), call(2, "git/git_push", "", builtin.CallWaits, 0))
	d.sees("waits for you")
	for i, cols := range []int{50, 100, 51, 90, 61, 60, 59, 79, 80} {
		d.resize(cols, 24)
		d.types("x")
		text := d.sees("> " + strings.Repeat("x", i+1))
		if n := strings.Count(text, "program 1"); n != 1 && !t.Failed() {
			t.Errorf("%q is there %d times in %d columns:\n%s", "program 1", n, cols, text)
		}
	}
	d.emits(saying("on the last size."))
	d.sees("on the last size.")
	text := d.sees("xxxxxxxxx")
	for _, once := range []string{"program 1", "waits for you", "xxx", "A paragraph", "> begin"} {
		if n := strings.Count(text, once); n != 1 && once != "xxx" || n == 0 {
			t.Errorf("%q is there %d times:\n%s", once, n, text)
		}
	}
}

func TestRetryCountsDown(t *testing.T) {
	d := sit(t, 80, 24, nil)
	d.begins()
	d.emits(builtin.Event{Kind: builtin.Retrying, Text: "busy \x1b[2J", Until: time.Now().Add(100 * time.Second)})
	first := regexp.MustCompile(`busy \\e\[2J +asked again in (100|99) s`)
	d.until("countdown", first.MatchString)
	d.until("countdown that goes on", regexp.MustCompile(`again in 9[78] s`).MatchString)
	d.emits(saying("here"))
	d.misses("asked again")
}

func TestSaid(t *testing.T) {
	d := sit(t, 80, 24, nil)
	d.begins()
	d.emits(saying("half"), builtin.Event{Kind: builtin.Said})
	d.sees("the part above is discarded")
	d.emits(builtin.Event{Kind: builtin.Said, Text: "whole at once"})
	d.sees("│ whole at once\n")
	d.emits(saying("first "), builtin.Event{Kind: builtin.Said, Text: "first rest"})
	d.sees("│ first rest\n")
	d.emits(saying("a para\n\nfirst"), builtin.Event{Kind: builtin.Said, Text: "other"})
	d.sees("  the complete answer differs from the part above:\n│ other")
	d.emits(builtin.Event{Kind: builtin.Notice, Text: "a word of ours"})
	d.sees("\n  a word of ours\n")
}

func TestLongProgram(t *testing.T) {
	d := sit(t, 80, 12, nil)
	d.begins()
	d.emits(builtin.Event{Kind: builtin.ProgramBegan, Program: 1})
	for i := range 40 {
		d.emits(call(i+1, fmt.Sprintf("server/tool_%d", i%2), "", builtin.CallDone, time.Millisecond))
	}
	d.emits(call(39, "server/tool_0", "", builtin.CallWaits, 0))
	text := d.sees("waits for you")
	if !strings.Contains(text, "  program 1") || !strings.Contains(text, "rows above") {
		t.Error(text)
	}
	d.emits(builtin.Event{Kind: builtin.ProgramEnded, Program: 1, Text: "40"})
	d.sees("→ 40")
	if n := strings.Count(d.text(), "server/tool_"); n != 40 {
		t.Errorf("%d calls:\n%s", n, d.text())
	}
}

// A call that nobody has reported to be over does not stand there as if it waited for ever.
func TestInterruptedCall(t *testing.T) {
	d := sit(t, 80, 24, nil)
	d.begins()
	d.emits(call(1, "git/git_push", "", builtin.CallWaits, 0))
	d.sees("waits for you")
	d.types("\x1b")
	d.sees("cut off")
	d.misses("waits for you")
}

// Nor does one when the person ends the agent: what was shown stays, as far as it is known.
func TestEndedCall(t *testing.T) {
	d := sit(t, 80, 24, nil)
	d.begins()
	d.emits(saying("I will push"), call(1, "git/git_push", "", builtin.CallWaits, 17*time.Millisecond))
	d.sees("waits for you")
	d.types("\x04")
	d.leaves()
	if text := d.text(); !strings.Contains(text, "│ I will push\n  program 1") || !strings.Contains(text, "git/git_push") || !strings.Contains(text, " cut off\n") {
		t.Error(text)
	}
}

// What was said before is shown again, the end of it.
func TestPast(t *testing.T) {
	past := []builtin.Event{{Kind: builtin.Asked, Text: "long ago"}}
	for i := range 300 {
		past = append(past, builtin.Event{Kind: builtin.Said, Text: fmt.Sprintf("answer %d", i)})
	}
	past = append(past, builtin.Event{Kind: builtin.ProgramBegan, Program: 3}, call(1, "a/b", "", builtin.CallCut, 0))
	d := sit(t, 80, 24, func(o *Options) { o.Agent.(*fake).past = past })
	text := d.sees("  continued\n")
	if strings.Contains(text, "answer 100\n") || !strings.Contains(text, "answer 299\n") || !strings.Contains(text, "cut off") {
		t.Error(text)
	}
	if got := d.reported(); got != "state=idle" {
		t.Error(got)
	}
	d.types("\x1b[A")
	d.sees("> long ago")
}

func TestNoColor(t *testing.T) {
	d := sit(t, 80, 24, func(o *Options) { o.NoColor = true })
	d.begins()
	d.emits(saying(told), builtin.Event{Kind: builtin.Said, Text: told}, builtin.Event{Kind: builtin.ProgramBegan, Program: 1},
		call(1, "a/b", "c", builtin.CallDone, 0), call(2, "a/c", "c", builtin.CallWaits, 0))
	d.sees("waits for you")
	d.golden("no-color")
	d.mu.Lock()
	defer d.mu.Unlock()
	if found := regexp.MustCompile(`\x1b\[[0-9;]*\b[349][0-7](;\d+)*m`).FindString(d.raw.String()); found != "" {
		t.Errorf("there is a color: %q", found)
	}
	if !strings.Contains(d.raw.String(), "\x1b[0;1m") {
		t.Error("nothing is bold")
	}
}

// An input of many rows grows to eight, and keeps its cursor in sight.
func TestTallInput(t *testing.T) {
	d := sit(t, 40, 30, nil)
	for i := range 12 {
		d.types(fmt.Sprintf("row %d\n", i))
	}
	d.types("end")
	text := d.sees("end")
	if strings.Contains(text, "row 3\n") || !strings.Contains(text, "row 5\n") {
		t.Error(text)
	}
	d.types("\r")
	if got := <-d.agent.asked; strings.Count(got, "\n") != 12 {
		t.Errorf("%q", got)
	}
	d.agent.orders <- func(context.Context) error { return nil }
}

// What is unfinished goes on by itself, unless a turn does that already, and can be interrupted.
func TestUnfinished(t *testing.T) {
	d := sit(t, 80, 24, nil)
	d.emits(builtin.Event{Kind: builtin.Unfinished})
	if text := <-d.agent.asked; text != "" {
		t.Errorf("asked for %q", text)
	}
	d.sees("working")
	d.emits(builtin.Event{Kind: builtin.Unfinished})
	d.types("\x1b")
	d.sees("interrupted")
	d.types("next\r")
	if text := <-d.agent.asked; text != "next" {
		t.Errorf("asked for %q", text)
	}
	d.agent.orders <- func(context.Context) error { return nil }
	d.misses("working")
	d.types("\x04")
	d.leaves()
}
