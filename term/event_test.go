package term

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A program that asks whether the terminal reads its reports gets an answer.
func TestStatusReportsAreOffered(t *testing.T) {
	s, err := NewScreen(Options{Cols: 20, Rows: 5})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Write([]byte("\x1b]7501;?\a\x1b[c")); err != nil {
		t.Fatal(err)
	}
	if got := string(s.TakeReplies()); !strings.HasPrefix(got, "\x1b]7501;?\x1b\\\x1b[?") {
		t.Errorf("answered %q", got)
	}
}

func TestEvents(t *testing.T) {
	tests := []struct {
		name, input string
		want        []Event
	}{
		{"bell", "a\ab", []Event{{Kind: EventBell}}},
		{"title", "\x1b]0;one\a\x1b]2;two; three\x1b\\", []Event{{Kind: EventTitle, Title: "two; three"}}},
		{"the same title", "\x1b]0;one\a\a\x1b]0;one\a", []Event{{Kind: EventTitle, Title: "one"}, {Kind: EventBell}}},
		{"title without controls", "\x1b]0;a\tb\u009bc\xff\a", []Event{{Kind: EventTitle, Title: "abc"}}},
		{"title kept and given back", "\x1b]0;one\a\x1b[22t\a\x1b]0;two\a\a\x1b[23t", []Event{
			{Kind: EventTitle, Title: "one"}, {Kind: EventBell}, {Kind: EventTitle, Title: "two"}, {Kind: EventBell}, {Kind: EventTitle, Title: "one"},
		}},
		{"copy", "\x1b]52;c;aGVsbG8=\a\x1b]52;p;aGVsbG8\x1b\\", []Event{
			{Kind: EventClipboard, Text: "c", Data: []byte("hello")}, {Kind: EventClipboard, Text: "p", Data: []byte("hello")},
		}},
		{"copy of nonsense", "\x1b]52;c;!!!\a\x1b]52;c;\a\x1b]52;c;?\a\x1b]52;\a", nil},
		{"notification", "\x1b]9;done\a\x1b]777;notify;Title;text; more\x1b\\", []Event{
			{Kind: EventNotification, Text: "done"}, {Kind: EventNotification, Title: "Title", Text: "text; more"},
		}},
		{"progress is no notification", "\x1b]9;4;1;50\a", nil},
		{"a question whether reports are read is no report", "\x1b]7501;?\a", nil},
		{"status", "\x1b]7501;working\x1b\\", []Event{{Kind: EventStatus, Text: "working"}}},
		{"a shell runs a command", "\x1b]133;A\a$ \x1b]133;B\als\x1b]133;C\a", []Event{{Kind: EventCommand}}},
		{"a shell has run it", "\x1b]133;C\a\a\x1b]133;D;1\x1b\\\x1b]133;A\x1b\\", []Event{{Kind: EventCommand}, {Kind: EventBell}, {Kind: EventPrompt}}},
		{"a mark of nothing", "\x1b]133\a\x1b]133;\a\x1b]133;X\a", nil},
		{"cancelled", "\x1b]0;t\x18\x1b]0;u\x1a", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []Event
			s, err := NewScreen(Options{Cols: 20, Rows: 4})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			s.notify = func(ev Event) {
				got = append(got, ev)
				s.Title() // the lock is free
			}
			_, _ = s.Write([]byte(tt.input))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEventFloodKeepsTheLastTitle(t *testing.T) {
	var got []Event
	s, err := NewScreen(Options{Cols: 20, Rows: 4, Notify: func(ev Event) { got = append(got, ev) }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, _ = s.Write([]byte(strings.Repeat("\a", 5000) + "\x1b]0;last\a"))
	if len(got) > maxEvents || got[len(got)-1].Title != "last" {
		t.Errorf("%d events, the last is %+v", len(got), got[len(got)-1])
	}
}
