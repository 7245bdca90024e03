package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/tui/tour"
)

// What was told in two views is kept together, and for the next daemon.
func TestSeenIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "seen.json")
	log := slog.New(slog.DiscardHandler)
	f := openSeen(path, log)
	if f.now() != (tour.Seen{}) {
		t.Fatalf("%+v", f.now())
	}
	for _, s := range []tour.Seen{{Steps: 3, Prefix: true}, {Steps: 1, Phrase: true}} {
		if err := f.keep(s); err != nil {
			t.Fatal(err)
		}
	}
	want := tour.Seen{Steps: 3, Prefix: true, Phrase: true}
	if f.now() != want || openSeen(path, log).now() != want {
		t.Errorf("%+v, %+v", f.now(), openSeen(path, log).now())
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if broken := openSeen(path, log).now(); broken != (tour.Seen{}) {
		t.Errorf("a broken file says %+v", broken)
	}
}

// The first start asks once whether there shall be a prefix key. The answer holds at once, is in
// config.json, and is there for the next terminal.
func TestTheFirstStartOffersAPrefix(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	allowLocalShell(t, home)
	if err := os.Remove(filepath.Join(home, "state", "seen.json")); err != nil {
		t.Fatal(err)
	}
	start := func() *driver {
		return driveArgv(t, home, 100, 24, "env", noEngine, "SHELL=/bin/sh", "PS1=here> ", "ENV=", "ironcurtain-mux", "--agent", "local-shell")
	}
	d := start()
	d.see(patience, "here>", "1/5 what you type goes to the agent")
	d.send("echo $((40+2)):\r")
	d.see(patience, "42:", "2/5 Ctrl-A")
	d.send("\x01")
	d.see(patience, "Do you know tmux?")
	d.send("\x02")
	d.see(patience, "Ctrl-B is now the prefix key")
	d.see(patience, "3/5 when a call waits")
	d.send("\x02")
	d.see(patience, "after Ctrl-B")
	d.send("d")
	if code := d.exit(2 * time.Minute); code != 0 {
		t.Errorf("exit code %d:\n%s", code, d.text())
	}
	if data, err := os.ReadFile(d.state("config.json")); err != nil || !strings.HasSuffix(strings.TrimSpace(string(data)), `"localShell": true, "prefix": "ctrl+b"}`) {
		t.Errorf("%v\n%s", err, data)
	}
	again := start()
	again.see(patience, "3/5 when a call waits")
	again.send("\x02")
	again.see(patience, "after Ctrl-B")
	again.send("\x1b\x01/quit!\r")
	if code := again.exit(2 * time.Minute); code != 0 {
		t.Errorf("exit code %d:\n%s", code, again.text())
	}
}
