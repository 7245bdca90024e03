package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// A policy that is reloaded while a call waits is shown first, and what it denies is not
// carried out by an approval.
func TestPolicyIsReloaded(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	dir, outside := filepath.Join(home, "policy"), filepath.Join(home, "outside")
	_, annotations := policy.Default()
	write := func(path string, text []byte) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rules := func(rules string) { write(filepath.Join(dir, "compiled-policy.json"), []byte(`{"rules":[`+rules+`]}`)) }
	rules(`{"name":"ask-outside","if":{"server":["filesystem"],"roles":["write-path"]},"then":"escalate"}`)
	write(filepath.Join(dir, "tool-annotations.json"), annotations.Encode())
	write(filepath.Join(outside, "there"), nil)
	configure(t, home, fmt.Sprintf(`{"policy":%q}`, dir))
	d := driveFramed(t, home, 120, 30, "ironcurtain-mux", "--agent", "shell")
	d.see(patience, "/workspace$")
	s := d.onlySession()
	lines := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"filesystem__write_file","arguments":{"path":%q,"content":"x"}}}
`, filepath.Join(outside, "new"))
	workOf(t, s).add("lines", lines)
	d.send("(cat lines; sleep 600) | ironcurtain-mux-bridge mcp >answer &\r")
	d.until("the call", patience, func(string) bool { return len(d.pending()) == 1 })
	d.send("\x01/policy reload\r")
	d.see(patience, "nothing has changed")
	rules("{")
	d.send("\x1b\x01/policy reload\r")
	d.see(patience, "reload policy: "+filepath.Join(dir, "compiled-policy.json"))
	rules("")
	d.send("\x1b\x01/policy reload\r")
	d.see(patience, "- rule ask-outside: escalate, filesystem", "/policy apply puts this in force")
	d.send("q\x01/policy apply\r")
	d.see(patience, "the new policy is in force for 1 session")
	if _, errs, code := d.command("approve", d.pending()[0].ID); code == cli.ExitOK {
		t.Errorf("approved what the policy denies now: %s", errs)
	}
	d.until("the answer", patience, func(string) bool {
		answer, _ := workOf(t, s).read("answer")
		return strings.Contains(answer, "DENIED")
	})
	if _, err := os.Stat(filepath.Join(outside, "new")); err == nil {
		t.Error("the file was written")
	}
	d.send("\x1b\x01/quit!\r")
	d.ended(patience)
	if record := d.audit(s.ID); !strings.Contains(record, "policy reloaded") {
		t.Errorf("on record:\n%s", record)
	}
}
