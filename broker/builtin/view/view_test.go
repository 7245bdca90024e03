package view

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/builtin"
)

func call(i int, tool, about string, s builtin.CallState, took time.Duration) builtin.Event {
	return builtin.Event{Kind: builtin.CallChanged, Program: 1, Call: builtin.Call{Index: i, Tool: tool, About: about, State: s, Took: took}}
}

func saying(s string) builtin.Event { return builtin.Event{Kind: builtin.Saying, Text: s} }

const told = `# What there is

I read the **folder** and *two* files, ` + "`notes.txt`" + ` first: see [the manual](https://example.org/manual).

- one item that is rather long, so that it has to be broken into rows on any of the screens
  - an item in it
1. a number

> quoted words

| file | size |
|---|---|
| notes.txt | 12 |
| a.go | 1,200 |

` + "```go\nfunc main() {\n\tprintln(\"\\n\")\n}\n```\n" + `
The end.`

// TestGoldenScreens draws a turn at its end and in the middle.
func TestGoldenScreens(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {20, 6}, {120, 36}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			d := sit(t, size[0], size[1], nil)
			d.types("tidy the notes and push them\r")
			<-d.agent.asked
			d.sees("push them\n")
			d.emits(
				saying("I will read the folder first."), builtin.Event{Kind: builtin.Said, Text: "I will read the folder first."},
				builtin.Event{Kind: builtin.ProgramBegan, Program: 1, Text: "await filesystem.list_directory()"},
				call(1, "filesystem/list_directory", "/workspace/notes", builtin.CallDone, 3*time.Millisecond),
				call(2, "filesystem/read_text_file", "/workspace/notes/a.md", builtin.CallRuns, 0),
				call(3, "filesystem/read_text_file", "/workspace/notes/b.md", builtin.CallDone, 20*time.Millisecond),
				call(2, "filesystem/read_text_file", "/workspace/notes/a.md", builtin.CallDone, 21*time.Millisecond),
				call(4, "git/git_push", "origin main", builtin.CallWaits, 0),
				builtin.Event{Kind: builtin.Used, Model: "claude-sonnet-4-6", Tokens: 12345, Window: 200000},
			)
			d.types("and then\x1b\rtell me")
			d.sees("waits for yo")
			d.sees("tell me")
			if size[0] > 20 {
				d.sees("12k")
			}
			d.golden(fmt.Sprintf("waits-%dx%d", size[0], size[1]))
			d.emits(
				call(4, "git/git_push", "origin main", builtin.CallRefused, 90*time.Second),
				call(5, "filesystem/write_file", "/workspace/x", builtin.CallFailed, 1500*time.Millisecond),
				builtin.Event{Kind: builtin.ProgramEnded, Program: 1, Failed: true, Text: "ToolError: denied"},
			)
			for _, r := range told {
				d.emits(saying(string(r)))
			}
			d.emits(builtin.Event{Kind: builtin.Said, Text: told})
			d.agent.orders <- func(context.Context) error { return nil }
			d.misses("working")
			d.sees("The end.")
			d.golden(fmt.Sprintf("done-%dx%d", size[0], size[1]))
			if got := d.reported(); !strings.Contains(got, "state=blocked") || !strings.HasSuffix(got, "state=done") {
				t.Error(got)
			}
			d.types("\x15\x7f\x15\x04")
			d.leaves()
		})
	}
}
