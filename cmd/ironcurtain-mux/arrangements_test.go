package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/identity"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/daemon"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/layout"
)

// A client has the arrangement of its name, or else the newest; only so many are kept.
func TestArrangementsOfClients(t *testing.T) {
	var a arrangements
	desk := daemon.Client{Identity: identity.Client{Name: "desk"}, Named: true}
	host := daemon.Client{Identity: identity.Client{Name: "desk"}} // a machine of that name
	front := func(c daemon.Client, want string) {
		t.Helper()
		if got := a.of(c).Front; got != want {
			t.Errorf("%v has %q, want %q", c, got, want)
		}
	}
	front(desk, "")
	a.keep(host, tui.Arrangement{Front: "a"})
	front(desk, "a")
	a.keep(desk, tui.Arrangement{Front: "b"})
	a.keep(host, tui.Arrangement{Front: "c"})
	front(desk, "b")
	front(host, "c")
	a.keep(desk, tui.Arrangement{Front: "d"})
	front(host, "d")
	for i := range 2 * maxArrangements {
		a.keep(daemon.Client{Identity: identity.Client{Name: fmt.Sprint(i)}, Named: true}, tui.Arrangement{Front: "e"})
	}
	front(desk, "e")
	if n := len(a.all()); n != maxArrangements {
		t.Errorf("%d are kept", n)
	}
	a.keep(desk, tui.Arrangement{Front: "a", Groups: []tui.Group{{
		Panes: layout.Tree{Share: 1, Down: true, Parts: []layout.Tree{layout.Of("b"), layout.Of("a")}}, Zoom: true,
	}}})
	var next handedOver // to the program that the daemon becomes
	text, err := json.Marshal(handedOver{Arrangements: a.all()})
	if err = errors.Join(err, json.Unmarshal(text, &next)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(a.all(), next.Arrangements); diff != "" {
		t.Error(diff)
	}
}

// A client finds the tabs as the last one of its name has left them, also one that was killed;
// a client without a name as the last one of all.
func TestTheTabsStayArranged(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	configure(t, home, `{"localShell":true,"agent":"local-shell"}`)
	d := serveDaemon(t, home, "env", noEngine)
	named := func(name string) *driver {
		return driveArgv(t, home, 120, 30, "env", "SHELL=/bin/sh", "PS1=here> ", "ENV=", "ironcurtain-mux", "attach", "--name", name)
	}
	desk := named("desk")
	desk.see(patience, "here>")
	desk.send("echo first-tab\r\x01/new\r")
	desk.inTab(2)
	desk.send("echo second-tab\r\x01/split\r")
	desk.see(patience, "first-tab", "second-tab")
	desk.signal(syscall.SIGKILL)
	desk.exit(patience)
	d.until("the end of the view", patience, func(string) bool { out, _, _ := d.command("clients", "ls"); return out == "" })

	wall := named("wall") // it has none of its own yet
	wall.see(patience, "first-tab", "second-tab")
	wall.send("\x01/unsplit\r\x1b1")
	wall.until("the first tab alone", patience, func(screen string) bool { return !strings.Contains(screen, "second-tab") })
	wall.send("\x01/detach\r")
	wall.exit(patience)

	desk = named("desk")
	desk.see(patience, "first-tab", "second-tab")
	other := attach(t, home, 120, 30)
	other.see(patience, "first-tab")
	if strings.Contains(other.text(), "second-tab") {
		t.Errorf("a client without a name has the split of another one:\n%s", other.text())
	}
	if out, errs, code := d.command("stop", "--now"); code != 0 {
		t.Errorf("stop --now: %d, %s%s", code, out, errs)
	}
	for _, view := range []*driver{desk, other, d} {
		view.exit(patience)
	}
}
