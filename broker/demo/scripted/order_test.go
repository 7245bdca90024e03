package scripted

import (
	"strings"
	"testing"
)

func TestParseOrder(t *testing.T) {
	tests := []struct {
		prompt string
		want   order
		found  bool
		fault  string // part of the error
	}{
		{prompt: "read notes.txt", want: order{verb: verbRead, path: "notes.txt"}, found: true},
		{prompt: "  Read   /workspace/a  ", want: order{verb: verbRead, path: "/workspace/a"}, found: true},
		{prompt: `read "my notes.txt"`, want: order{verb: verbRead, path: "my notes.txt"}, found: true},
		{prompt: `list "a b"`, want: order{verb: verbList, path: "a b"}, found: true},
		{prompt: "list .", want: order{verb: verbList, path: "."}, found: true},
		{prompt: "write a.txt hello, world", want: order{verb: verbWrite, path: "a.txt", text: "hello, world"}, found: true},
		{prompt: "write a.txt one\ntwo", want: order{verb: verbWrite, path: "a.txt", text: "one\ntwo"}, found: true},
		{prompt: `write "a b.txt" x`, want: order{verb: verbWrite, path: "a b.txt", text: "x"}, found: true},
		{prompt: "push", want: order{verb: verbPush}, found: true},
		{prompt: "push my changes to origin", want: order{verb: verbPush, to: "origin"}, found: true},
		{prompt: "Push to backup.", want: order{verb: verbPush, to: "backup"}, found: true},
		{prompt: "PUSH", want: order{verb: verbPush}, found: true},
		{prompt: "say hello there", want: order{verb: verbSay, text: "hello there"}, found: true},

		{prompt: "run go test ./...", want: order{verb: verbRun, text: "go test ./..."}, found: true},

		{prompt: "batch 1", want: order{verb: verbBatch, n: 1}, found: true},
		{prompt: "batch 4 /a/b.txt", want: order{verb: verbBatch, n: 4, path: "/a/b.txt"}, found: true},
		{prompt: "Batch  500 ", want: order{verb: verbBatch, n: 500}, found: true},

		{prompt: "batch", found: true, fault: "from 1 to 500"},
		{prompt: "batch 0", found: true, fault: "from 1 to 500"},
		{prompt: "batch 501", found: true, fault: "from 1 to 500"},
		{prompt: "batch of bread", found: true, fault: "from 1 to 500"},
		{prompt: "run", found: true, fault: "needs a command"},
		{prompt: "read", found: true, fault: "needs a path"},
		{prompt: "list ", found: true, fault: "needs a path"},
		{prompt: "write", found: true, fault: "needs a path and a text"},
		{prompt: "write a.txt", found: true, fault: "needs a path and a text"},
		{prompt: `write "a.txt hello`, found: true, fault: "needs a path and a text"},
		{prompt: `read "a.txt`, found: true, fault: "does not end"},
		{prompt: `read ""`, found: true, fault: "does not end"},
		{prompt: "say", found: true, fault: "needs a text"},

		{prompt: ""},
		{prompt: "hello"},
		{prompt: "read the manual"},
		{prompt: "push it to the limit"},
		{prompt: "push my changes"},
		{prompt: "reading list"},
		{prompt: "please read a.txt"},
	}
	for _, tt := range tests {
		t.Run(tt.prompt, func(t *testing.T) {
			got, found, err := parseOrder(tt.prompt)
			if found != tt.found {
				t.Fatalf("found = %v, want %v", found, tt.found)
			}
			if tt.fault != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fault) {
					t.Fatalf("error = %v, want one about %q", err, tt.fault)
				}
				return
			}
			if err != nil || got != tt.want {
				t.Fatalf("got %+v, %v, want %+v", got, err, tt.want)
			}
		})
	}
}

// Whatever a usage line promises is understood when its words are filled in.
func TestOrdersAreUnderstood(t *testing.T) {
	for _, o := range Orders() {
		prompt := strings.NewReplacer("PATH", "a.txt", "TEXT", "hello", "N", "3").Replace(o.Usage)
		if _, found, err := parseOrder(prompt); !found || err != nil {
			t.Errorf("%q is not understood: found %v, %v", prompt, found, err)
		}
	}
}

// What was said in turns that got no answer is not ordered again.
func TestLastParagraphCounts(t *testing.T) {
	for prompt, want := range map[string]order{
		"say long\n\n(The person interrupted you here.)\n\nread a": {verb: verbRead, path: "a"},
		"read a\n\nread a":             {verb: verbRead, path: "a"},
		"say two\n\nparagraphs":        {verb: verbSay, text: "two\n\nparagraphs"},
		"say two\n\nread it all again": {verb: verbSay, text: "two\n\nread it all again"},
		"say two\n\nwrite":             {verb: verbSay, text: "two\n\nwrite"},
		"push\n\n(The person interrupted you here.)\n\nand then?": {},
	} {
		c := &conversation{}
		c.said([]string{prompt})
		got, found, err := c.order()
		if err != nil || got != want || found != (want != order{}) {
			t.Errorf("%q: %+v, %v, %v", prompt, got, found, err)
		}
	}
}
