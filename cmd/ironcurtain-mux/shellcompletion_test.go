package main

import (
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/complete"
)

// Every command whose arguments can be completed is there.
func TestCompletedCommandsAreThere(t *testing.T) {
	root := rootCommand()
	if missing := complete.Add(root); len(missing) > 0 {
		t.Errorf("there is no command %s", strings.Join(missing, ", "))
	}
}

// A shell completes what the running multiplexer has: its sessions, the calls that wait and what
// their approval can be remembered for, grants, terminals and tokens.
func TestShellsCompleteWhatRuns(t *testing.T) {
	t.Parallel()
	d := openBuiltin(t, newHome(t), "--agent", "builtin")
	d.idle()
	session := d.onlySession()
	d.ask("write " + d.state("demo", "outside", "notes.txt") + " hello")
	d.see(patience, "waits for you", "1 waiting")
	waits := d.pending()[0].ID
	short := session.ID[:8]
	if _, errs, code := d.command("tokens", "create", "bot", short, "--deny-only"); code != 0 {
		t.Fatal(errs)
	}
	completes := func(want string, args ...string) {
		t.Helper()
		out, _, code := d.command(append([]string{"__complete"}, args...)...)
		if line, _, _ := strings.Cut(out, "\n"); code != 0 || want != "" && !strings.HasPrefix(line, want) || want == "" && line != ":4" {
			t.Errorf("%q: code %d, want %q\n%s", args, code, want, out)
		}
	}
	completes(waits+"\t#1 filesystem/write_file of builtin, ", "approve", "")
	completes(waits, "deny", waits[:3])
	completes("", "approve", "zz")
	completes("", "approve", waits, "")
	completes("exact\tfilesystem/write_file with exactly these arguments", "approve", "1", "--remember", "")
	completes(short+"\tbuiltin, waiting for you, ", "sessions", "show", "")
	completes(short, "attach", "")
	completes("", "sessions", "rm", "")
	completes(short, "audit", "tail", "")
	completes("bot\tdenies, until ", "tokens", "revoke", "")
	completes("", "tokens", "create", "")
	completes(short, "tokens", "create", "helper", "")
	completes("", "tokens", "create", "helper", short, "")
	completes("", "revoke", "")
	if out, errs, code := d.command("approve", waits, "--remember", "exact"); code != 0 {
		t.Fatal(out, errs)
	}
	completes("1\texact of builtin, ", "revoke", "")
	completes("all\tall grants", "revoke", "a")
	completes("", "approve", "")
	if out, _, _ := d.command("__complete", "clients", "kick", ""); !strings.Contains(out, "\t") {
		t.Errorf("no terminal is completed: %s", out)
	}
	d.quit()
}
