package main

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// What tabs say while the engine does not answer, and how soon they must: it takes
// them less than two seconds, and on a busy machine not many times as long.
const (
	engineAway = "the container engine does not answer"
	toldWithin = 15 * time.Second
)

// The engine hangs under two tabs: that of the container says so, the other one
// answers each key, and when the engine goes on nothing has been lost, neither of
// what the agent wrote nor of what was typed.
func TestEngineHangsUnderTabs(t *testing.T) {
	t.Parallel()
	e := startEngine(t)
	d := e.driveShell()
	// Each line begins with a line end, because what is typed meanwhile is echoed anywhere.
	d.send("for i in 1 2 3 4 5 6 7 8 9; do read -t 0.5 < <(:); sleep 0.5; printf '\\nline-%d\\n' $i; done\r")
	d.see(patience, "\nline-1")
	d.send("\x01/new local-shell\r")
	d.see(patience, "here>")

	e.signal(syscall.SIGSTOP)
	d.see(toldWithin, " 1 ? shell")
	for i := range 40 {
		d.send(fmt.Sprintf("echo %d-$((%d*3))\r", i, i))
		d.see(toldWithin, fmt.Sprintf("%d-%d", i, i*3))
	}
	d.send("\x01/new shell\r") // one more waits for the engine, and says so
	d.see(toldWithin, "starting shell", engineAway)
	d.send("\x1b1")
	d.see(toldWithin, engineAway, "out of reach")
	d.send("echo typed-$((40+2))-meanwhile\r")

	e.signal(syscall.SIGCONT)
	d.until("everything that was held back", patience, func(screen string) bool {
		for i := range 9 {
			if !strings.Contains(screen, fmt.Sprintf("\nline-%d", i+1)) {
				return false
			}
		}
		return strings.Contains(screen, "\ntyped-42-meanwhile") && !strings.Contains(screen, engineAway)
	})
	d.send("\x1b3")
	d.see(patience, "/workspace$")
	d.quit()
	e.empty()
}

// A multiplexer that ends while the engine hangs does not wait for it for long, and
// says what it leaves behind and how to get rid of it.
func TestQuitWhileEngineHangs(t *testing.T) {
	t.Parallel()
	e := startEngine(t)
	d := e.driveShell()
	e.signal(syscall.SIGSTOP)
	d.see(toldWithin, engineAway)
	if s := d.onlySession(); s.State != broker.StateUnknown || s.Trouble == "" {
		t.Errorf("listed as %+v", s)
	}
	d.send("\x01/quit!\r")
	d.exit(time.Minute)
	d.see(patience, "is not gone", "ironcurtain-mux gc")
}

// The engine is restarted. With live-restore the agent lives on and is heard again.
// Without, the agent ends; its tab says by what, and begins anew.
func TestEngineRestarts(t *testing.T) {
	t.Parallel()
	e := startEngine(t, "--live-restore")
	d := e.driveShell()
	d.send("mine=alive\r")
	e.stop(syscall.SIGTERM)
	d.see(toldWithin, engineAway)
	e.start()
	d.until("the engine's return", patience, func(screen string) bool { return !strings.Contains(screen, engineAway) })
	d.until("an answer", patience, func(screen string) bool { // what is typed before the attachment is new may be lost
		d.send("echo $mine-$((40+2))\r")
		return strings.Contains(screen, "alive-42")
	})

	e.stop(syscall.SIGTERM)
	d.see(toldWithin, engineAway)
	e.flags = nil // now it ends what it finds running
	e.start()
	d.see(patience, "when the container engine was stopped or restarted", "/restart, /resume")
	d.send("\x01/restart\r")
	d.until("a new shell", patience, func(screen string) bool {
		return strings.Contains(screen, "/workspace$") && !strings.Contains(screen, "alive")
	})
	d.quit()
	e.empty()
}
