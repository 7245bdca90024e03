package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
)

// TestProgramsOfClients has a client of "proxy mcp" run a program, in the real isolate, that
// calls the real filesystem server in its sandbox.
func TestProgramsOfClients(t *testing.T) {
	program := buildBeside(t, "ironcurtain-mux-code")
	cache, work, list, log := filesystemServer(t)
	code, err := json.Marshal(`for (let i = 0; i < 20; i++) await filesystem.write_file({ path: ` + "`/workspace/${i}.txt`" + `, content: 'x'.repeat(i) });
		const texts: { content: string }[] = await Promise.all(Array.from({ length: 20 }, (_, i) => filesystem.read_text_file({ path: ` + "`/workspace/${i}.txt`" + ` })));
		let refused: ToolError | undefined;
		try { await filesystem.read_text_file({ path: '/etc/hostname' }) } catch (e) { refused = e }
		return { bytes: texts.reduce((n, t) => n + t.content.length, 0), rule: refused.rule };`)
	if err != nil {
		t.Fatal(err)
	}
	in := strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"proxy__execute","arguments":{"code":` + string(code) + `}}}`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"filesystem__read_text_file","arguments":{"path":"/workspace/1.txt"}}}`,
	}, "\n") + "\n"
	serve := exec.CommandContext(t.Context(), program, "proxy", "mcp", "--servers", list, "--sandbox", work, "--stdio", "--audit", log, "--code-mode", "only")
	serve.Env = append(os.Environ(), "IRONCURTAIN_CACHE="+cache, "IRONCURTAIN_HOME="+t.TempDir())
	serve.Stdin = strings.NewReader(in)
	var complaints bytes.Buffer
	serve.Stderr = &complaints
	out, err := serve.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, complaints.String())
	}
	for _, want := range []string{
		`{\"bytes\":190,\"rule\":\"escalate-reads-outside\"}`, `"tools":[{"name":"proxy__execute"`, "declare namespace filesystem",
		"call it in a program of proxy__execute",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the answers lack %s:\n%s%s", want, out, complaints.String())
		}
	}
	if code, shown, _ := invoke(t, "audit", "show", "--tool", "execute", "--decision", "allow", log); code != cli.ExitOK || !strings.Contains(shown, "  [") {
		t.Fatalf("the program in the audit: %d, %s", code, shown)
	} else {
		id := shown[strings.LastIndex(shown, "[")+1:][:16]
		code, shown, _ := invoke(t, "audit", "show", "--program", id, log)
		if code != cli.ExitOK || strings.Count(shown, "\n") != 1+2+2*40+1 || !strings.Contains(shown, ", call 41 of program "+id+", line ") {
			t.Errorf("the program %s and its calls: %d, %s", id, code, shown)
		}
	}
	checkLog(t, log)
}

func TestCodeModeIsSpelledRight(t *testing.T) {
	if code, _, stderr := invoke(t, "proxy", "mcp", "--servers", "s", "--audit", "a", "--stdio", "--sandbox", t.TempDir(), "--code-mode", "always"); code != cli.ExitUsage || !strings.Contains(stderr, "off, beside and only") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// TestProgramsOfAnAgent has a real agent in a container, which is offered programs alone, do
// everything by them: list, have a person asked, be refused.
func TestProgramsOfAnAgent(t *testing.T) {
	t.Parallel()
	buildBeside(t, "ironcurtain-mux-code")
	home := newHome(t)
	if err := os.MkdirAll(filepath.Join(home, "state"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "state", "config.json"), []byte(withWay(`{"agents": {"claude-code": {"codeMode": "only"}}}`)), 0o600); err != nil {
		t.Fatal(err)
	}
	a := realAgentNamed(t, "claude-code")
	d := a.openIn(t, home)
	id := d.onlySession().ID
	a.waitsForAPerson(t, d)
	d.prompt("read " + d.state("config.json"))
	d.see(patience, "I could not read", "was denied")

	// The multiplexer is killed while a program waits: it waits again, and nothing is done twice.
	notes := d.state("demo", "outside", "notes.txt")
	d.prompt("write " + notes + " never-written")
	d.see(patience, "1 waiting")
	d.killAll(true)
	d = drive(t, home, 110, 40, "demo")
	again := d.waiting(func(e broker.Escalation) bool { return e.Restored && !e.Unclaimed })
	if out, errs, code := d.command("deny", again.ID); code != cli.ExitOK {
		t.Fatalf("deny: %s%s", out, errs)
	}
	d.see(patience, "ESCALATION DENIED")
	if text, _ := os.ReadFile(notes); strings.Contains(string(text), "never-written") {
		t.Error("the denied program has written")
	}
	d.send("\x01/quit!\r")
	if code := d.exit(2 * time.Minute); code != 0 {
		t.Errorf("exit code %d", code)
	}
	d.nothingLeft(id)
	made := 0
	for line := range strings.Lines(d.audit(id)) {
		switch {
		case !strings.Contains(line, `"plane":"tool"`) || strings.Contains(line, `"outcome"`) || strings.Contains(line, `"tool":"execute"`):
		case strings.Contains(line, `"program":"`):
			made++
		default:
			t.Errorf("a call that no program has made: %s", line)
		}
	}
	if made < 3 {
		t.Errorf("programs made %d calls", made)
	}
}
