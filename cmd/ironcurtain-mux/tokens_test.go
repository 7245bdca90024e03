package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
)

// withToken runs a command as a helper with a token does, which has nothing of the home but the
// socket for it.
func (d *driver) withToken(secret string, args ...string) (text string, code int) {
	d.t.Helper()
	cage := d.t.TempDir()
	if err := os.Mkdir(filepath.Join(cage, "run"), 0o700); err != nil {
		d.t.Fatal(err)
	}
	if err := os.Symlink(d.state("run", "answer.sock"), filepath.Join(cage, "run", "answer.sock")); err != nil {
		d.t.Fatal(err)
	}
	cmd := exec.CommandContext(d.t.Context(), "ironcurtain-mux", args...)
	cmd.Env = append(environment(d.home, cacheDirectory(d.t)), "IRONCURTAIN_HOME="+cage, "IRONCURTAIN_ANSWER_TOKEN="+secret)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		d.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// A helper with a token sees and decides the calls of its session and does nothing else, until the
// token is revoked; with one that may only deny it approves nothing.
func TestATokenAnswers(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	configure(t, home, `{"agent":"shell"}`)
	d := serveDaemon(t, home)
	a := attach(t, home, 120, 30)
	a.see(patience, "/workspace$")
	s := d.onlySession()
	c := a.tools(t, s)
	a.send("\x01/new\r")
	a.inTab(2, "/workspace$")
	other := d.otherThan(s.ID)
	write := func(id int) (path string, asked broker.Escalation) {
		t.Helper()
		path = filepath.Join(home, fmt.Sprint("note", id))
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"filesystem__write_file","arguments":{"path":%q,"content":"x"}}}`, id, path))
		return path, d.waiting(func(broker.Escalation) bool { return true })
	}
	create := func(args ...string) (secret string) {
		t.Helper()
		out, errs, code := d.command(append([]string{"tokens", "create"}, args...)...)
		if code != 0 || strings.Count(out, "\n") != 1 || len(out) != 44 {
			t.Fatalf("tokens create: %d, %s%s", code, out, errs)
		}
		return strings.TrimSpace(out)
	}
	refused := func(says, secret string, args ...string) {
		t.Helper()
		if out, code := d.withToken(secret, args...); code == 0 || !strings.Contains(out, says) {
			t.Errorf("%q: %d, %s; want %q", args, code, out, says)
		}
	}
	_, first := write(1)
	refused("cannot be used", "x", "pending")
	deny, both, foreign := create("bot", string(s.ID)[:8], "--deny-only"), create("helper", string(s.ID)), create("stranger", string(other.ID))
	if out, code := d.withToken(foreign, "pending"); code != 0 || strings.Contains(out, "note1") {
		t.Errorf("a token for another session: %d, %s", code, out)
	}
	refused("no call with this id", foreign, "deny", first.ID)
	refused("may only deny", deny, "approve", first.ID)
	refused("may not do that", both, "approve", first.ID, "--remember", "file")
	refused("may not do that", both, "grants")
	refused("may not do that", both, "reload")
	refused("wrong", both+"x", "deny", first.ID)
	if out, code := d.withToken(deny, "pending"); code != 0 || !strings.Contains(out, first.ID) {
		t.Errorf("pending: %d, %s", code, out)
	}
	if out, code := d.withToken(deny, "deny", first.ID); code != 0 {
		t.Errorf("deny: %d, %s", code, out)
	}
	a.until("the answer", patience, func(string) bool { return c.answer(1) != "" })
	path, second := write(2)
	if out, code := d.withToken(both, "approve", second.ID); code != 0 {
		t.Errorf("approve: %d, %s", code, out)
	}
	a.until("the answer", patience, func(string) bool { return c.answer(2) != "" })
	if _, err := os.Stat(path); err != nil {
		t.Errorf("%v: %s", err, c.answer(2))
	}
	if record := d.audit(s.ID); !strings.Contains(record, `"decidedBy":"token"`) || !strings.Contains(record, `"name":"bot"`) || !strings.Contains(record, `"name":"helper"`) {
		t.Errorf("the audit: %s", record)
	}
	if out, errs, code := d.command("upgrade"); code != 0 {
		t.Errorf("upgrade: %d, %s%s", code, out, errs)
	}
	if out, code := d.withToken(both, "pending"); code != 0 {
		t.Errorf("pending after an upgrade: %d, %s", code, out)
	}
	for _, name := range []string{"bot", "helper", "stranger"} {
		if out, _, _ := d.command("tokens", "ls"); strings.Count(out, name+" ") != 1 {
			t.Errorf("tokens ls: %s", out)
		}
		if _, errs, code := d.command("tokens", "revoke", name); code != 0 {
			t.Errorf("revoke: %d, %s", code, errs)
		}
	}
	a.until("the end of the socket", patience, func(string) bool { _, err := os.Lstat(d.state("run", "answer.sock")); return err != nil })
	if _, errs, code := d.command("tokens", "revoke", "bot"); code != cli.ExitFailure || !strings.Contains(errs, "no token with the name") {
		t.Errorf("revoked twice: %d, %s", code, errs)
	}
	if _, errs, code := d.command("stop", "--now"); code != 0 {
		t.Errorf("stop: %d, %s", code, errs)
	}
	a.exit(patience)
}
