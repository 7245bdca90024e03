package mcpproxy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
)

// ended waits for what the queue is told of a call.
func (r *harness) ended(changes <-chan approval.Change) approval.Ending {
	r.t.Helper()
	for {
		select {
		case c := <-changes:
			if c.Ended != nil {
				return *c.Ended
			}
		case <-time.After(time.Minute):
			r.t.Fatal("nobody is told what became of the call")
		}
	}
}

// Whoever decides is told what became of the call: done, failed, or refused all the same,
// and why.
func TestWhatBecameOfACallIsTold(t *testing.T) {
	for name, test := range map[string]struct {
		file   string
		deny   bool
		broken bool // the audit cannot be written
		state  approval.EndState
		reason string
	}{
		"done":             {file: "a", state: approval.EndDone},
		"an error result":  {file: "blocked", state: approval.EndFailed, reason: "read-only file system"},
		"a server's error": {file: "refuse", state: approval.EndFailed, reason: "not today"},
		"no record":        {file: "a", broken: true, state: approval.EndRefused, reason: "its record could not be written: "},
		"denied":           {file: "a", deny: true, state: approval.EndRefused},
		"denied, no record": {
			file: "a", deny: true, broken: true, state: approval.EndRefused,
			reason: "this could not be recorded: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, nil)
			_, changes := r.queue.Subscribe(t.Context())
			a := r.agent()
			a.send(callLine("1", "filesystem__read_text_file", `{"path":"`+filepath.Join(r.outside, test.file)+`"}`))
			item := r.pending(1)[0]
			if test.broken {
				r.log.set(os.ErrClosed)
			}
			if _, won, err := r.queue.Decide(item.ID, item.Digest, !test.deny, "cli", "because"); !won || err != nil {
				t.Fatal(won, err)
			}
			e := r.ended(changes)
			if e.ID != item.ID || e.Number != item.Number || e.Session != "s1" || e.State != test.state ||
				(e.Reason == "") != (test.reason == "") || !strings.Contains(e.Reason, test.reason) {
				t.Errorf("%+v", e)
			}
			a.answerTo("1")
		})
	}
}

// A call whose effect has changed is told to be refused before it waits again.
func TestWhoApprovedAChangedCallIsTold(t *testing.T) {
	r := newHarness(t, previewing)
	_, changes := r.queue.Subscribe(t.Context())
	r.notes("old\n")
	a := r.agent()
	a.send(r.writeCall("1", "new\n"))
	item := r.pending(1)[0]
	r.notes("other\n")
	answer := approval.Answer{Approve: true, Effect: item.Fingerprint(), By: "tui"}
	if _, won, err := r.queue.Answer(item.ID, item.Digest, answer); !won || err != nil {
		t.Fatal(won, err)
	}
	if e := r.ended(changes); e.ID != item.ID || e.State != approval.EndRefused || !strings.Contains(e.Reason, "it waits again") {
		t.Errorf("%+v", e)
	}
	item = r.pending(1)[0]
	answer.Effect = item.Fingerprint()
	if _, won, err := r.queue.Answer(item.ID, item.Digest, answer); !won || err != nil {
		t.Fatal(won, err)
	}
	if e := r.ended(changes); e.ID != item.ID || e.State != approval.EndDone {
		t.Errorf("%+v", e)
	}
	a.answerTo("1")
}
