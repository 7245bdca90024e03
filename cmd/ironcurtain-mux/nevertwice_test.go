package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// agentClient is an MCP client in a shell's container, behind the bridge; its messages
// and answers are files of the workspace.
type agentClient struct {
	t    *testing.T
	work work
}

// tools connects a client of the tools that runs in a shell's container.
func (d *driver) tools(t *testing.T, s broker.Session) agentClient {
	t.Helper()
	return d.toolsIn(t, workOf(t, s))
}

// toolsIn is tools in a workspace.
func (d *driver) toolsIn(t *testing.T, w work) agentClient {
	t.Helper()
	c := agentClient{t, w}
	c.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	d.send("tail -n +1 -F calls 2>/dev/null | ironcurtain-mux-bridge mcp >answers &\r")
	d.until("the tools", patience, func(string) bool {
		_, there := c.work.read("answers")
		return there && c.answer(0) != ""
	})
	return c
}

func (c agentClient) send(lines ...string) {
	c.t.Helper()
	c.work.add("calls", strings.Join(lines, "\n")+"\n")
}

// answer is the answer to a request, or empty while there is none.
func (c agentClient) answer(id int) string {
	c.t.Helper()
	all, there := c.work.read("answers")
	if !there {
		c.t.Fatal("the agent has no file of answers")
	}
	for line := range strings.Lines(all) {
		if strings.Contains(line, fmt.Sprintf(`"id":%d,`, id)) {
			return line
		}
	}
	return ""
}

// The multiplexer is killed at a random moment around an approval, again and
// again: the call is carried out once or not at all, never twice, and never when
// it waits again. The client gets exactly one answer in every case.
func TestKilledWhileItIsApproved(t *testing.T) {
	t.Parallel()
	d := drive(t, newHome(t), 100, 24, "demo", "--agent", "shell")
	d.see(patience, "/workspace$")
	s := d.onlySession()
	c := d.tools(t, s)
	path := d.state("demo", "outside", "tally.txt")
	if err := os.WriteFile(path, []byte("end"), 0o600); err != nil {
		t.Fatal(err)
	}
	tally := func() int {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(data), "x")
	}
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	for id := 1; id <= *enduredRounds; id++ {
		before := tally()
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"filesystem__edit_file","arguments":{"path":%q,"edits":[{"oldText":"end","newText":"x end"}]}}}`, id, path))
		e := d.waiting(func(broker.Escalation) bool { return true })
		approved := make(chan struct{})
		go func() {
			defer close(approved)
			_, _, _ = d.command("approve", e.ID) // it may find nobody any more
		}()
		pause := time.Duration(random.IntN(80)) * time.Millisecond
		<-time.After(pause)
		d.killAll(true)
		<-approved
		d = drive(t, d.home, 100, 24, "demo") // shows the tab that was taken back
		again := false
		d.until("the call or its answer", patience, func(string) bool {
			if waiting := d.pending(); len(waiting) == 1 && !waiting[0].Unclaimed && !again {
				again = true
				if n := tally(); waiting[0].ID != e.ID || n != before {
					t.Fatalf("round %d: waits again as %+v, carried out %d times", id, waiting[0], n-before)
				}
				if _, errs, code := d.command("approve", e.ID); code != 0 {
					t.Fatalf("round %d: %s", id, errs)
				}
			}
			return c.answer(id) != ""
		})
		done, answer := tally()-before, c.answer(id)
		interrupted := strings.Contains(answer, "INTERRUPTED")
		t.Logf("round %d: killed after %v, waited again %v, interrupted %v, carried out %d times", id, pause, again, interrupted, done)
		if done > 1 || again && (interrupted || done != 1) || !interrupted && done != 1 {
			t.Errorf("round %d: carried out %d times, waited again %v, answer %s", id, done, again, answer)
		}
	}
	d.send("\x01/quit!\r")
	d.exit(2 * time.Minute)
	d.nothingLeft(s.ID)
	if record := d.audit(s.ID); strings.Count(record, `"escalated-approved"`) < tally() {
		t.Errorf("%d calls were carried out; on record:\n%s", tally(), record)
	}
}
