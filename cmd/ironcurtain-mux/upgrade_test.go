package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
)

// ownProgram copies the program to where a test can replace it, and returns its path.
func ownProgram(t *testing.T, home string) string {
	t.Helper()
	original, err := exec.LookPath("ironcurtain-mux")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(home, "bin", "ironcurtain-mux")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	copyExecutable(t, original, path)
	return path
}

// copyExecutable puts a copy of a program at a path, in place of the file that is there. What this process
// wrote itself, another child of it might hold open for a moment: it could not be run then.
func copyExecutable(t *testing.T, program, path string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "cp", program, path+".new").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// replace puts a script in the place of a program.
func replace(t *testing.T, program, script string) {
	t.Helper()
	if err := os.WriteFile(program+".new", []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(program+".new", program); err != nil {
		t.Fatal(err)
	}
}

var counted = regexp.MustCompile(`(?m)^n(\d+)\.$`)

// newest returns the last number of a counter on a screen; 0: there is none.
func newest(screen string) (n int) {
	if all := counted.FindAllStringSubmatch(screen, -1); len(all) > 0 {
		n, _ = strconv.Atoi(all[len(all)-1][1])
	}
	return n
}

// copier writes an editor that copies what it is given to a file below home, and returns both.
func copier(t *testing.T, home string) (editor, file string) {
	t.Helper()
	editor, file = filepath.Join(home, "editor"), filepath.Join(home, "edited")
	if err := os.WriteFile(editor, []byte("#!/bin/sh\nfor last; do :; done\ncp \"$last\" "+file+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return editor, file
}

// scrollback returns what the tab in front has printed, as /edit gives it to a copier. The view
// has the terminal again when it returns: the editor's terminal would change an Enter.
func (d *driver) scrollback(file string) []byte {
	d.t.Helper()
	back := d.takesTerminal()
	d.send("\x01/edit\r")
	select {
	case <-back:
	case <-time.After(patience):
		d.t.Fatalf("no editor has ended; the screen:\n%s", d.text())
	}
	text, err := os.ReadFile(file)
	if err != nil {
		d.t.Fatal(err)
	}
	return text
}

// numbersOf returns the numbers that a counter has printed, as the scrollback of the tab in front
// has them.
func (d *driver) numbersOf(file string) (all []int) {
	d.t.Helper()
	text := d.scrollback(file)
	for _, m := range counted.FindAllSubmatch(text, -1) {
		n, err := strconv.Atoi(string(m[1]))
		if err != nil {
			d.t.Fatal(err)
		}
		all = append(all, n)
	}
	return all
}

// countedOn stops the counter of the tab in front, and checks that the scrollback has each of its
// numbers once. waiting is what the status line says of waiting calls.
func (d *driver) countedOn(file, waiting string) {
	d.t.Helper()
	d.send("\x03")
	d.see(patience, "/workspace$", waiting)
	all := d.numbersOf(file)
	if len(all) < 100 {
		d.t.Errorf("%d numbers", len(all))
	}
	for i, n := range all {
		if n != i+1 {
			d.t.Fatalf("line %d of %d is n%d", i+1, len(all), n)
		}
	}
}

// The daemon becomes the installed program while agents write without end, a call waits, and
// two terminals look: no byte of the output is lost or repeated, the call is approved afterwards,
// and the person was notified of it once.
func TestUpgradeLosesNothing(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	// The strip of the waiting call would cover the newest lines of the counter.
	told := filepath.Join(home, "told")
	configure(t, home, fmt.Sprintf(`{"agent":"shell","maxSessions":9,"scrollback":100000,"strip":false,"notifyOn":["escalation"],"notifyCommand":["sh","-c",%q]}`, `echo "$IRONCURTAIN_TITLE: $IRONCURTAIN_TEXT" >>`+told))
	d := serveDaemon(t, home)
	editor, kept := copier(t, home)
	a := driveArgv(t, home, 120, 30, "env", "VISUAL="+editor, "ironcurtain-mux", "attach")
	a.see(patience, "/workspace$")
	c := a.tools(t, d.onlySession())
	path := filepath.Join(home, "note.txt")
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"filesystem__write_file","arguments":{"path":%q,"content":"as approved"}}}`, path))
	asked := d.waiting(func(broker.Escalation) bool { return true })
	a.send("\x01/new\r")
	a.inTab(2, "/workspace$")
	// A shell of its own ends at Ctrl-C. The interactive one would go on if Ctrl-C came
	// just when a sleep had ended.
	a.send("sh -c 'i=0; while :; do i=$((i+1)); echo n$i.; [ $((i%20)) = 0 ] && sleep 0.05; done'\r")
	a.see(patience, "n100")
	b := attach(t, home, 120, 30)
	b.see(patience, "1 waiting")
	pid := d.daemon()
	var written []byte
	var left atomic.Bool
	tap := func(data []byte) {
		written = append(written, data...)
		left.Store(left.Load() || bytes.Contains(written, []byte("\x1b[?1049l")))
	}
	a.tap.Store(&tap)
	began := time.Now()
	out, errs, code := d.command("upgrade")
	if code != 0 || !strings.Contains(errs, "its agents keep running") {
		t.Fatalf("upgrade: %d, %s%s", code, out, errs)
	}
	if now := d.daemon(); now != pid {
		t.Errorf("the daemon was process %d and is %d", pid, now)
	}
	shown := newest(a.text())
	a.until("more of the counter", patience, func(screen string) bool { return newest(screen) > max(shown, 100) })
	again := d.waiting(func(e broker.Escalation) bool { return e.Restored && !e.Unclaimed })
	took := time.Since(began)
	a.tap.Store(nil)
	if left.Load() {
		t.Error("the terminal left the alternate screen meanwhile")
	}
	a.countedOn(kept, "1 waiting")
	if again.ID != asked.ID || again.Number != asked.Number {
		t.Errorf("%+v waited, and now %+v", asked, again)
	}
	// Its time was paused while no view was there, and has not begun again.
	if more := again.ExpiresAt.Sub(asked.ExpiresAt); more < 0 || more > took {
		t.Errorf("it waits for %v longer after an upgrade of %v, which began %v after it was asked", more, took, began.Sub(asked.AskedAt))
	}
	if out, errs, code := d.command("approve", again.ID); code != 0 {
		t.Fatalf("approve: %d, %s%s", code, out, errs)
	}
	b.until("the answer", patience, func(string) bool { return c.answer(1) != "" })
	if data, err := os.ReadFile(path); err != nil || string(data) != "as approved" {
		t.Errorf("%q, %v: %s", data, err, c.answer(1))
	}
	if data, err := os.ReadFile(told); string(data) != fmt.Sprintf("ironcurtain-mux shell %s: approval #1: filesystem/write_file\n", asked.Session[:8]) {
		t.Errorf("the person was notified of %q, %v", data, err)
	}
	if out, errs, code := d.command("stop", "--now"); code != 0 {
		t.Errorf("stop: %d, %s%s", code, out, errs)
	}
	for _, view := range []*driver{a, b} {
		if code := view.exit(patience); code != 0 {
			t.Errorf("a view ends with %d: %s", code, view.text())
		}
	}
}

// An upgrade is offered to a terminal whose program is of another version, unless the daemon was just upgraded
// under it.
func TestAnUpgradeIsOfferedToAnotherProgram(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		daemon, program string
		kept, offered   bool
	}{
		"another version": {"v1", "v2", false, true},
		"the same":        {"v2", "v2", false, false},
		"an upgraded one": {"v2", "v1", true, false},
		"an unknown one":  {"", "v2", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if offer := offerUpgrade(c.daemon, c.program, c.kept); (offer != "") != c.offered {
				t.Errorf("offered %q", offer)
			}
		})
	}
}

// A program that does not work is refused, and one that cannot be executed in the end changes
// nothing: the tab and its terminal go on.
func TestUpgradeThatFailsChangesNothing(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	configure(t, home, `{"agent":"shell"}`)
	program := ownProgram(t, home)
	d := driveArgv(t, home, 80, 24, program, "serve")
	d.until("the daemon", patience, func(string) bool { return d.daemon() != 0 })
	pid := d.daemon()
	a := attach(t, home, 100, 24)
	a.see(patience, "/workspace$")
	a.tools(t, d.onlySession()) // a server of tools is the program itself, which is replaced below
	tests := []struct{ name, script, says string }{
		{"it does not work", "exit 3\n", "does not work"},
		{"it says nothing", "exit 0\n", "does not report"},
		{"its configuration is wrong", `echo '{"version":"2","protocol":1,"state":1,"error":"no such policy"}'` + "\n", "no such policy"},
		{"it is older", `echo '{"version":"0","protocol":1,"state":0}'` + "\n", "older"},
		{"it is gone then", `echo '{"version":"2","protocol":1,"state":1}'; rm "$0"` + "\n", "continues as before"},
	}
	for i, tt := range tests {
		replace(t, program, tt.script)
		if out, errs, code := d.command("upgrade"); code != cli.ExitFailure || !strings.Contains(errs, tt.says) {
			t.Errorf("%s: %d, %s%s", tt.name, code, out, errs)
		}
		if now := d.daemon(); now != pid {
			t.Fatalf("%s: the daemon was process %d and is %d", tt.name, pid, now)
		}
		a.send(fmt.Sprintf("echo still-$((%d+10))\r", i))
		a.see(patience, fmt.Sprintf("still-%d", i+10))
	}
	a.see(patience, "still-10", "still-14")
	if _, errs, code := d.command("stop", "--now"); code != 0 {
		t.Errorf("stop: %d, %s", code, errs)
	}
	a.exit(patience)
}

// A tool call that is under way puts the upgrade off, or is interrupted by it.
func TestUpgradeDuringACall(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	slow := filepath.Join(home, "slow.py")
	server := `import json, sys, time
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m: continue
    r = {}
    if m["method"] == "initialize": r = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "slow", "version": "1"}}
    if m["method"] == "tools/list": r = {"tools": [{"name": "wait", "description": "Waits", "inputSchema": {"type": "object"}}]}
    if m["method"] == "tools/call":
        time.sleep(3600)
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
`
	if err := os.WriteFile(slow, []byte(server), 0o644); err != nil {
		t.Fatal(err)
	}
	configure(t, home, fmt.Sprintf(`{"agent":"shell","mcpServers":{"slow":{"command":"python3","args":[%q]}}}`, slow))
	d := serveDaemon(t, home)
	a := attach(t, home, 100, 24)
	a.see(patience, "/workspace$")
	c := a.tools(t, d.onlySession())
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow__wait","arguments":{}}}`)
	asked := d.waiting(func(broker.Escalation) bool { return true })
	if out, errs, code := d.command("approve", asked.ID); code != 0 {
		t.Fatalf("approve: %d, %s%s", code, out, errs)
	}
	a.until("the call", patience, func(string) bool { return strings.Contains(d.audit(d.onlySession().ID), "escalated-approved") })
	if out, errs, code := d.command("upgrade", "--wait", "0s"); code != cli.ExitFailure || !strings.Contains(errs, "a tool call of session "+string(asked.Session[:8])) {
		t.Errorf("upgrade during a call: %d, %s%s", code, out, errs)
	}
	if answer := c.answer(1); answer != "" {
		t.Errorf("the call was answered: %s", answer)
	}
	pid := d.daemon()
	if out, errs, code := d.command("upgrade", "--now"); code != 0 || d.daemon() != pid {
		t.Errorf("upgrade --now: %d, %s%s", code, out, errs)
	}
	a.until("the end of the call", patience, func(string) bool { return strings.Contains(c.answer(1), "INTERRUPTED") })
	a.send("echo goes-$((1+1))\r")
	a.see(patience, "goes-2")
	if _, errs, code := d.command("stop", "--now"); code != 0 {
		t.Errorf("stop: %d, %s", code, errs)
	}
	a.exit(patience)
}

// A task of start cannot be handed over: it puts the upgrade off, or is ended by it.
func TestUpgradeDuringATask(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	d := &driver{t: t, home: home}
	out, errs, code := runStart(t, home, "", "--agent", "shell", "--detach", "touch begun; sleep 1000")
	id := strings.TrimSpace(out)
	if code != cli.ExitOK || !eventually(patience, func() bool { return d.made("begun") }) {
		t.Fatalf("code %d: %q %s", code, out, errs)
	}
	pid := d.daemon()
	if _, errs, code := d.command("upgrade", "--wait", "0s"); code != cli.ExitFailure || !strings.Contains(errs, "the task of session "+id[:8]+" would end") || len(d.running()) != 1 {
		t.Errorf("upgrade during a task: %d, %s, %+v", code, errs, d.running())
	}
	if _, errs, code := d.command("upgrade", "--now"); code != cli.ExitOK || d.daemon() != pid || len(d.running()) != 0 {
		t.Errorf("upgrade --now: %d, %s, %+v", code, errs, d.running())
	}
	d.nothingLeft(id)
}

// BenchmarkUpgrade measures for how long a terminal gets nothing while the daemon becomes another
// program, with eight tabs.
func BenchmarkUpgrade(b *testing.B) {
	home := newHome(b)
	configure(b, home, `{"agent":"shell","maxSessions":8}`)
	d := drive(b, home, 120, 30)
	d.see(patience, "/workspace$")
	for n := 2; n <= 8; n++ {
		d.send("\x01/new\r")
		d.inTab(n, "/workspace$")
	}
	d.send("while :; do date +%N; sleep 0.005; done\r")
	var gaps []time.Duration
	for b.Loop() {
		last, longest := time.Now(), time.Duration(0)
		tap := func([]byte) {
			now := time.Now()
			longest, last = max(longest, now.Sub(last)), now
		}
		d.tap.Store(&tap)
		if _, errs, code := d.command("upgrade"); code != 0 {
			b.Fatal(errs)
		}
		<-time.After(time.Second) // so that the gap is over
		d.tap.Store(nil)
		gaps = append(gaps, longest)
	}
	slices.Sort(gaps)
	b.ReportMetric(float64(gaps[len(gaps)/2].Milliseconds()), "gap-p50-ms")
	b.ReportMetric(float64(gaps[len(gaps)-1].Milliseconds()), "gap-max-ms")
}
