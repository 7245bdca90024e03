package mcpproxy

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/preview"
)

// left is a call as a killed process leaves it: it was asked, and nobody decided.
func (r *harness) left(n int, arguments string) approval.Escalation {
	r.t.Helper()
	a := r.agent()
	a.send(callLine("1", "filesystem__write_file", arguments))
	var waiting struct{ Ticket string }
	for waiting.Ticket == "" {
		if m := a.receive(); m.Method == notifyWaiting {
			if err := json.Unmarshal(m.Params, &waiting); err != nil {
				r.t.Fatal(err)
			}
		}
	}
	item := r.pending(1)[0]
	if item.Ticket != waiting.Ticket {
		r.t.Fatalf("the ticket is %q, the agent was given %q", item.Ticket, waiting.Ticket)
	}
	_ = a.conn.Close()
	r.pending(0)
	item.ID, item.Number = fmt.Sprint("restored-", n), 100+n
	return item
}

// restore puts a call back and follows it to its end.
func (r *harness) restore(f approval.Escalation) <-chan approval.Resolution {
	r.t.Helper()
	h, err := r.queue.Restore(f, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	settled := make(chan approval.Resolution, 1)
	go func() {
		if res, ok := h.Wait(r.t.Context()); ok {
			settled <- res
		}
		close(settled)
	}()
	return settled
}

func resumeLine(id, ticket, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{"ticket":%q,"call":{"name":"filesystem__write_file","arguments":%s}}}`,
		id, methodResume, ticket, arguments)
}

func resumable(c *Config) {
	c.Tickets = true
	c.Preview = &preview.Previewer{UserHome: "/nonexistent", Command: gitCommand}
}

// A call that waited when its process was killed goes on under its own request,
// once it is approved, and once only; whatever was not certainly left waiting ends
// as interrupted and reaches no server.
func TestResumedCall(t *testing.T) {
	r := newHarness(t, resumable)
	arguments := fmt.Sprintf(`{"path":%q,"content":"x"}`, filepath.Join(r.outside, "a"))
	f := r.left(1, arguments)
	held := r.restore(f)
	a := r.agent()
	a.send(resumeLine("7", "made-up", arguments))
	if m := a.answerTo("7"); !m.isError() || !strings.Contains(m.text(), "INTERRUPTED") {
		t.Fatalf("%s", m.Result)
	}
	a.send(resumeLine("8", f.Ticket, arguments))
	eventually(t, func() bool { i, ok := r.queue.Find(f.ID); return ok && !i.Unclaimed }, "the call")
	if _, settled := <-held; settled {
		t.Error("it was settled without its caller")
	}
	if _, won, err := r.queue.Answer(f.ID, f.Digest, approval.Answer{Approve: true, Effect: f.Fingerprint(), By: "tui"}); !won || err != nil {
		t.Fatal(won, err)
	}
	if m := a.answerTo("8"); m.isError() {
		t.Fatalf("%s", m.Result)
	}
	a.send(resumeLine("9", f.Ticket, arguments))
	if m := a.answerTo("9"); !strings.Contains(m.text(), "INTERRUPTED") {
		t.Fatalf("%s", m.Result)
	}
	if n := len(r.forwarded()); n != 1 {
		t.Errorf("%d calls were forwarded", n)
	}
	last := r.decisions()[len(r.decisions())-1]
	if last.Decision != audit.EscalatedApproved || last.Call != f.Ticket || last.EscalationID != f.ID || last.Detail["askedBeforeRestart"] != true {
		t.Errorf("on record: %+v", last)
	}
}

// A resumed call that is another one by now is asked about anew; nobody is left to
// decide about the former one.
func TestResumedCallIsAnother(t *testing.T) {
	r := newHarness(t, resumable)
	arguments := fmt.Sprintf(`{"path":%q,"content":"x"}`, filepath.Join(r.outside, "a"))
	f := r.left(1, arguments)
	held := r.restore(f)
	a := r.agent()
	a.send(resumeLine("8", f.Ticket, strings.Replace(arguments, `"x"`, `"y"`, 1)))
	for _, item := range r.pending(2) {
		if item.ID == f.ID {
			continue
		}
		if item.Restored || item.Digest == f.Digest {
			t.Errorf("%+v", item)
		}
		if _, _, err := r.queue.Decide(item.ID, item.Digest, false, "tui", "no"); err != nil {
			t.Fatal(err)
		}
	}
	if m := a.answerTo("8"); !m.isError() || !strings.Contains(m.text(), "denied") {
		t.Errorf("%s", m.Result)
	}
	if res := <-held; res.Outcome != approval.Withdrawn {
		t.Errorf("%+v", res)
	}
	if n := len(r.forwarded()); n != 0 {
		t.Errorf("%d calls were forwarded", n)
	}
}

// An answer that was given while nobody waited is for what was shown: the agent's
// own retry gets it, but when the file is another one by then, the person is asked
// again.
func TestKeptAnswerIsForWhatWasShown(t *testing.T) {
	for _, changed := range []bool{false, true} {
		t.Run(fmt.Sprintf("changed %v", changed), func(t *testing.T) {
			r := newHarness(t, resumable)
			path := filepath.Join(r.outside, "a")
			arguments := fmt.Sprintf(`{"path":%q,"content":"x"}`, path)
			f := r.left(1, arguments)
			held := r.restore(f)
			if _, _, err := r.queue.Answer(f.ID, f.Digest, approval.Answer{Approve: true, Effect: f.Fingerprint(), By: "cli"}); err != nil {
				t.Fatal(err)
			}
			if res := <-held; !res.Kept {
				t.Fatalf("%+v", res)
			}
			if changed {
				if err := os.WriteFile(path, []byte("something else"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			a := r.agent()
			a.send(callLine("1", "filesystem__write_file", arguments))
			if !changed {
				if m := a.answerTo("1"); m.isError() || len(r.forwarded()) != 1 {
					t.Fatalf("%s, %d forwarded", m.Result, len(r.forwarded()))
				}
				a.send(callLine("2", "filesystem__write_file", arguments))
				r.pending(1) // one answer, one call
				return
			}
			if item := r.pending(1)[0]; !item.Effect.Changed || len(r.forwarded()) != 0 {
				t.Errorf("%+v, %d forwarded", item, len(r.forwarded()))
			}
		})
	}
}
