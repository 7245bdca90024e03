package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// "make endure" has more of both than "make test".
var (
	enduredRounds = flag.Int("rounds", 5, "how often TestNothingIsLost and TestKilledWhileItIsApproved end or replace something")
	enduredTabs   = flag.Int("tabs", 2, "how many tabs TestNothingIsLost has, 9 at most")
)

// endured is a tab whose shell counts without end while a call of it waits.
type endured struct {
	session broker.SessionID
	client  agentClient
	writes  string // the file that the call writes
}

// Clients are killed, terminals close, ssh is lost and the program is replaced, again and again,
// while the tabs count and a call of each waits: every tab goes on, every number is there once,
// and every call keeps its number and is carried out once, after it was approved.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	configure(t, home, `{"agent":"shell","maxSessions":9,"scrollback":100000,"strip":false}`)
	d := serveDaemon(t, home)
	box := startSSHD(t, home, os.Getenv("PATH"))
	editor, kept := copier(t, home)
	local := []string{"env", "VISUAL=" + editor, "ironcurtain-mux", "attach"}
	tabs := countingTabs(t, home, local)
	waiting := fmt.Sprintf("%d waiting", len(tabs))
	asked, pid := d.numbered(), d.daemon()
	ways := []struct {
		name string
		argv []string
		end  func(view *driver)
	}{
		{"the client is killed", local, func(view *driver) { view.signal(syscall.SIGKILL) }},
		{"the terminal hangs up", local, func(view *driver) { view.signal(syscall.SIGHUP) }},
		{"the terminal is gone", local, func(view *driver) { _ = view.pty.Close() }},
		{"ssh is lost", []string{"env", "PATH=" + box.path(), "ironcurtain-mux", "--host", "box"}, func(view *driver) { view.signal(syscall.SIGKILL) }},
		{"the program is replaced", local, func(view *driver) {
			if out, errs, code := d.command("upgrade"); code != 0 {
				t.Fatalf("upgrade: %d, %s%s", code, out, errs)
			}
			view.see(patience, waiting)
			view.send("\x01/detach\r")
		}},
	}
	for round := range *enduredRounds {
		way := ways[round%len(ways)]
		view := driveArgv(t, home, 120, 30, way.argv...)
		view.until("a counter that goes on", patience, func(screen string) bool { return newest(screen) > 0 && strings.Contains(screen, waiting) })
		shown := newest(view.text())
		view.until("more of the counter", patience, func(screen string) bool { return newest(screen) > shown })
		way.end(view)
		view.exit(patience)
		if now := d.daemon(); now != pid || len(d.sessions()) != len(tabs) {
			t.Fatalf("round %d, %s: the daemon was process %d and is %d, with %d of %d tabs", round, way.name, pid, now, len(d.sessions()), len(tabs))
		}
		if now := d.numbered(); !slices.Equal(now, asked) {
			t.Fatalf("round %d, %s: %q waited, and now %q", round, way.name, asked, now)
		}
	}
	view := driveArgv(t, home, 120, 30, local...)
	view.see(patience, waiting)
	for i := range tabs {
		view.send(fmt.Sprintf("\x1b%d", i+1))
		view.until("a counter that runs", patience, func(screen string) bool { return newest(screen) > 0 && !strings.Contains(screen, "^C") })
		view.countedOn(kept, waiting)
	}
	for _, tab := range tabs {
		tab.approved(t, d)
	}
	if out, errs, code := d.command("stop", "--now"); code != 0 {
		t.Errorf("stop: %d, %s%s", code, out, errs)
	}
	view.exit(patience)
}

// countingTabs opens the tabs in a terminal that is left then.
func countingTabs(t *testing.T, home string, argv []string) (tabs []endured) {
	t.Helper()
	view := driveArgv(t, home, 120, 30, argv...)
	known := map[broker.SessionID]bool{}
	for n := 1; n <= *enduredTabs; n++ {
		if n > 1 {
			view.send("\x01/new\r")
		}
		view.until("another tab", patience, func(screen string) bool {
			return strings.Contains(screen, "/workspace$") && len(view.sessions()) == n
		})
		for _, s := range view.sessions() {
			if known[s.ID] {
				continue
			}
			known[s.ID] = true
			tab := endured{s.ID, view.tools(t, s.Session), filepath.Join(home, fmt.Sprintf("note%d.txt", n))}
			tab.client.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"filesystem__write_file","arguments":{"path":%q,"content":"as approved"}}}`, tab.writes))
			tabs = append(tabs, tab)
		}
		view.see(patience, fmt.Sprintf("%d waiting", n))
		view.send("clear; sh -c 'i=0; while :; do i=$((i+1)); echo n$i.; [ $((i%20)) = 0 ] && sleep 0.5; done'\r")
		view.see(patience, "n100.")
	}
	view.send("\x01/detach\r")
	view.exit(patience)
	return tabs
}

// numbered lists the waiting calls whose agents wait, by number and id.
func (d *driver) numbered() (all []string) {
	d.t.Helper()
	d.until("all calls", patience, func(string) bool {
		all = nil
		for _, e := range d.pending() {
			if !e.Unclaimed {
				all = append(all, fmt.Sprintf("#%d %s", e.Number, e.ID))
			}
		}
		return len(all) == *enduredTabs
	})
	return all
}

// approved approves the tab's call, and checks that it is carried out and recorded once.
func (e endured) approved(t *testing.T, d *driver) {
	t.Helper()
	if _, err := os.Stat(e.writes); err == nil {
		t.Errorf("%s was written before anybody approved", e.writes)
	}
	waiting := d.pending()
	i := slices.IndexFunc(waiting, func(w broker.Escalation) bool { return w.Session == e.session })
	if i < 0 {
		t.Fatalf("no call of %s waits", e.session)
	}
	if out, errs, code := d.command("approve", waiting[i].ID); code != 0 {
		t.Fatalf("approve: %d, %s%s", code, out, errs)
	}
	d.until("the answer", patience, func(string) bool { return e.client.answer(1) != "" })
	if data, err := os.ReadFile(e.writes); err != nil || string(data) != "as approved" {
		t.Errorf("%q, %v: %s", data, err, e.client.answer(1))
	}
	if n := strings.Count(d.audit(e.session), `"escalated-approved"`); n != 1 {
		t.Errorf("%d approvals are on record", n)
	}
}
