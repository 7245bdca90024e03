package mcpproxy

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
)

// writes makes calls that write to a directory, each followed by a line of its own.
func (a *agent) writes(n int, dir, behind string) {
	for i := range n {
		path := filepath.Join(dir, fmt.Sprint(i))
		line := callLine(fmt.Sprint(i), "filesystem__write_file", fmt.Sprintf(`{"path":%q,"content":"x"}`, path))
		if behind != "" {
			line += "\n" + fmt.Sprintf(behind, i)
		}
		a.send(line)
	}
}

const cancelLine = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`

// decided waits for the records of decisions about n calls.
func (r *harness) decided(n int) {
	r.t.Helper()
	calls := map[string]audit.Decision{}
	eventually(r.t, func() bool {
		for _, d := range r.decisions() {
			calls[d.Call] = d.Decision
		}
		return len(calls) == n
	}, "a decision about each of %d calls", n)
}

// TestAWithdrawnCallHasItsDecision: whatever reached the judge has the record of a
// decision, also when the agent takes it back in the same breath.
func TestAWithdrawnCallHasItsDecision(t *testing.T) {
	for where, dir := range map[string]func(*harness) string{
		"allowed":   func(r *harness) string { return r.work },
		"escalated": func(r *harness) string { return r.outside },
	} {
		t.Run(where+", cancelled", func(t *testing.T) {
			r := newHarness(t, nil)
			r.agent().writes(20, dir(r), cancelLine)
			r.decided(20)
		})
		t.Run(where+", closed", func(t *testing.T) {
			r := newHarness(t, nil)
			a := r.agent()
			a.writes(20, dir(r), "")
			_ = a.conn.Close()
			r.decided(20)
		})
	}
}

// TestACallWithdrawnBeforeItsServerRunsHasItsDecision: stopped servers are started
// by the first call, which leaves an agent much time to take it back.
func TestACallWithdrawnBeforeItsServerRunsHasItsDecision(t *testing.T) {
	known := &Known{}
	newHarness(t, func(c *Config) { c.Known = known })
	for name, leave := range map[string]func(a *agent){
		"cancelled": func(a *agent) {
			for i := range 20 {
				a.send(fmt.Sprintf(cancelLine, i))
			}
		},
		"closed": func(a *agent) { _ = a.conn.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, func(c *Config) {
				c.Known, c.Limits.Idle = known, time.Hour
				c.Servers[0].Argv = []string{"sleep", "600"} // it never says that it runs
			})
			a := r.agent()
			a.writes(20, r.work, "")
			b := r.proxy.backend("filesystem")
			eventually(t, func() bool {
				b.mu.Lock()
				defer b.mu.Unlock()
				return b.demand.calls == 20
			}, "20 calls that wait for the server")
			leave(a)
			r.decided(20)
		})
	}
}
