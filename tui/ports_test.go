package tui

import (
	"slices"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// /port opens, closes and lists ports of the tab's container, and the status line shows
// those that are open.
func TestPort(t *testing.T) {
	r := newHarness(t, 110, 24, Options{})
	r.keys("\x01/port\r")
	if !strings.Contains(r.screen(), "open ports: none") {
		t.Errorf("nothing is listed:\n%s", r.screen())
	}
	r.keys("\x01/port 3000\r")
	if !strings.Contains(r.screen(), "open at http://localhost:3000") {
		t.Errorf("it is not said where:\n%s", r.screen())
	}
	r.keys("\x01/port 3000 8080\r\x01/port close 3000\r")
	r.keys("\x01/port --to 5432\r\x01/port --to localhost:5432 5433\r")
	if !strings.Contains(r.screen(), "reach port 5432 of this machine at their localhost:5433") {
		t.Errorf("it is not said where:\n%s", r.screen())
	}
	if want := []string{"open 3000 at 3000", "open 3000 at 8080", "close 3000", "out 5432 at 5432", "out 5433 at 5432"}; !slices.Equal(r.broker.carried, want) {
		t.Errorf("asked for %q", r.broker.carried)
	}
	for _, wrong := range []string{"x", "0", "65536", "1 2 3", "close", "close 1 2", "-1", "--to", "--to 1 2 3"} {
		r.keys("\x01/port " + wrong + "\r")
		if !strings.Contains(r.screen(), "/port "+wrong+": takes ") {
			t.Errorf("%s: no error:\n%s", wrong, r.screen())
		}
		r.keys("\x15\x1b")
	}
	r.keys("\x01/port --to example.com:80\r")
	if !strings.Contains(r.screen(), "only ports of this machine can be reached") {
		t.Errorf("another machine: no error:\n%s", r.screen())
	}
	r.keys("\x15\x1b")
	r.broker.carryErr = fault.New("use another one: /port 80 8080", "open port 80: port 80 of this machine is only for root")
	r.keys("\x01/port 80\r")
	if !strings.Contains(r.screen(), "/port 80 8080") {
		t.Errorf("the error is not shown:\n%s", r.screen())
	}
	s := r.m.tabs[0].session
	s.Ports = "localhost:8080→3000"
	r.send(brokerMsg{broker.Event{Kind: broker.EventSession, Session: &s}})
	if !strings.Contains(r.screen(), "localhost:8080→3000") {
		t.Errorf("the open port is not shown:\n%s", r.screen())
	}
}
