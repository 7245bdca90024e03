package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
)

// Whoever ends the multiplexer while a call waits is told before, where there is a
// before, and afterwards; the agent and the record are told too.
func TestEndWhileACallWaits(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		end  func(*driver)
		says string
	}{
		"quit": {func(d *driver) {
			d.send("\x01/quit\r")
			d.see(patience, "an agent runs, and 1 call that waits will not be carried out: end all and quit?")
			d.send("y")
		}, "1 call still waited for a decision; it was not carried out"},
		"stop": {(*driver).stop, "the multiplexer was ended"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := openShell(t, newHome(t))
			s := d.onlySession()
			call := fmt.Sprintf(`{"jsonrpc":"2.0","id":"asked","method":"tools/call","params":{"name":"filesystem__write_file","arguments":{"path":%q,"content":"x"}}}`,
				d.state("demo", "outside", "notes.txt"))
			const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
			workOf(t, s).add("lines", initialize+"\n"+call+"\n")
			d.send("(cat lines; sleep 600) | ironcurtain-mux-bridge mcp >answer &\r")
			d.see(patience, "1 waiting")
			tt.end(d)
			if code, said := d.ended(2 * time.Minute); code != cli.ExitOK || !strings.Contains(said, tt.says) {
				t.Errorf("exit code %d, %s", code, said)
			}
			d.nothingLeft(s.ID)
			answer, err := os.ReadFile(filepath.Join(s.Workspace, "answer"))
			if err != nil || !strings.Contains(string(answer), "ESCALATION WITHDRAWN") || !strings.Contains(string(answer), "the person ended the session") {
				t.Errorf("the agent was told %s (%v)", answer, err)
			}
			if record := d.audit(s.ID); !strings.Contains(record, "escalated-withdrawn") || !strings.Contains(record, "the person ended the session while it waited") {
				t.Errorf("on record:\n%s", record)
			}
		})
	}
}
