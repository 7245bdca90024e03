package mcpproxy

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
)

// writeOutside is a call that waits for a person and has a content of that many bytes.
func (r *harness) writeOutside(id, bytes int) string {
	return callLine(fmt.Sprint(id), "filesystem__write_file",
		fmt.Sprintf(`{"path":%q,"content":%q}`, filepath.Join(r.outside, fmt.Sprint(id)), strings.Repeat("x", bytes)))
}

// TestWhatWaitsHasOneBound for all connections of a session: a call beyond it is
// refused, recorded and named, and there is room again when others have ended.
func TestWhatWaitsHasOneBound(t *testing.T) {
	r := newHarness(t, func(c *Config) { c.Limits.Room = 4 << 20 }) // 3 MiB for requests
	a, b := r.agent(), r.agent()
	a.send(r.writeOutside(1, 1<<20)) // kept as it was written and as it was understood
	item := r.pending(1)[0]
	for id := 2; id < 5; id++ {
		b.send(r.writeOutside(id, 1<<20))
		if m := b.answerTo(fmt.Sprint(id)); !strings.Contains(fmt.Sprint(m.text(), m.Error), errNoRoom.Error()) {
			t.Errorf("call %d: %s %v", id, m.Result, m.Error)
		}
	}
	if got := r.decisions(); len(got) != 3 || got[0].Decision != audit.Deny || !strings.Contains(got[0].Reason, "under way") {
		t.Errorf("records: %+v", got)
	}
	if m := b.call("5", "filesystem__read_text_file", `{"path":"/workspace/a"}`); m.isError() {
		t.Errorf("a small call beside it: %s", m.Result)
	}
	if _, _, err := r.queue.Decide(item.ID, item.Digest, false, "tui", ""); err != nil {
		t.Fatal(err)
	}
	a.answerTo("1")
	b.send(r.writeOutside(6, 1<<20))
	r.pending(1)
}

// TestAMessageThatIsNotKeptIsNamed: the agent learns which request was refused, wherever
// its id stands.
func TestAMessageThatIsNotKeptIsNamed(t *testing.T) {
	r := newHarness(t, func(c *Config) { c.Limits.Room, c.Limits.Request = 1<<20, 900<<10 })
	a := r.agent()
	for i, bytes := range []int{800 << 10, 1 << 20} {
		t.Run(fmt.Sprint(bytes), func(t *testing.T) { // more than there is room for, and longer than a message may be
			for j, line := range []string{
				r.writeOutside(10*i, bytes),
				fmt.Sprintf(`{"method":"tools/call","params":{"id":7,"x":"\"id\":8,","y":%q},"jsonrpc":"2.0" , "id" : %d}`, strings.Repeat("x", bytes), 10*i+1),
			} {
				a.send(line)
				if m := a.answerTo(fmt.Sprint(10*i + j)); m.Error == nil {
					t.Errorf("answer %s", m.Result)
				}
			}
		})
	}
}

// TestAMessageThatIsNotKeptTakesNothing, however long its end is in coming.
func TestAMessageThatIsNotKeptTakesNothing(t *testing.T) {
	r := newHarness(t, func(c *Config) { c.Limits.Room = 1 << 20 })
	a := r.agent()
	if _, err := io.WriteString(a.conn, `{"id":1,"x":"`+strings.Repeat("x", 1<<20)); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool {
		all := int64(1<<20) - r.proxy.room.forOne
		if !r.proxy.room.requests.TryAcquire(all) {
			return false
		}
		r.proxy.room.requests.Release(all)
		return true
	}, "the room to be free")
	a.send(`"}`)
	if m := a.answerTo("1"); m.Error == nil || !strings.Contains(m.Error.Message, "under way") {
		t.Errorf("answer %+v", m)
	}
}

// TestAFullRecordRefusesBeforeTheJudge: what has no record any more is not even judged,
// and what was under way still ends with one.
func TestAFullRecordRefusesBeforeTheJudge(t *testing.T) {
	r := newHarness(t, nil)
	fill := func(err error) {
		r.log.mu.Lock()
		defer r.log.mu.Unlock()
		r.log.full = err
	}
	a := r.agent()
	a.send(r.writeOutside(1, 10))
	item := r.pending(1)[0]
	fill(errors.New("the log is full"))
	if m := a.call("2", "filesystem__read_text_file", `{"path":"/workspace/a"}`); !m.isError() || !strings.Contains(m.text(), "record of decisions is full") {
		t.Errorf("answer %s", m.Result)
	}
	a.send(`no message`)
	a.answerTo("null")
	if got := r.decisions(); len(got) != 0 || len(r.forwarded()) != 0 {
		t.Errorf("records: %+v", got)
	}
	if _, _, err := r.queue.Decide(item.ID, item.Digest, true, "tui", ""); err != nil {
		t.Fatal(err)
	}
	if m := a.answerTo("1"); m.isError() {
		t.Errorf("answer %s", m.Result)
	}
	r.endings(1)
	if got := r.decisions(); len(got) != 1 || got[0].Decision != audit.EscalatedApproved {
		t.Errorf("records: %+v", got)
	}
	fill(nil)
	if m := a.call("3", "filesystem__read_text_file", `{"path":"/workspace/a"}`); m.isError() {
		t.Errorf("answer %s", m.Result)
	}
}
