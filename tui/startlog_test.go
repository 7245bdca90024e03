package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

const buildStep = "build image base (step 2 of 3)"

// progress delivers progress of the start of tab 1.
func (r *harness) progress(all ...broker.Progress) {
	for _, p := range all {
		p.Session = "s1"
		r.send(brokerMsg{broker.Event{Progress: &p}})
	}
}

// builds puts tab 1 into the step that builds its image.
func (r *harness) builds() {
	r.m.numbered(1).attached = false
	r.state(1, broker.StateStarting)
	r.progress(
		broker.Progress{Step: "preparing the session"},
		broker.Progress{Step: "preparing the session", Elapsed: 3 * time.Millisecond, Done: true},
		broker.Progress{Step: "get the root file system (step 1 of 3)"},
		broker.Progress{Step: "get the root file system (step 1 of 3)", Elapsed: 127 * time.Second, Done: true},
		broker.Progress{Step: buildStep},
		broker.Progress{Step: buildStep, Detail: "Get:14 http://mirror.example/debian bookworm/main amd64 libcurl3-gnutls amd64 7.88.1 [386 kB]", Elapsed: 4200 * time.Millisecond},
	)
	log := broker.StartLog{Lines: []broker.StartLine{
		{Step: true, Text: "get the root file system (step 1 of 3)", After: 3 * time.Millisecond},
		{Text: "from the cache: base.tar", After: 5 * time.Millisecond},
		{Step: true, Text: buildStep, After: 127 * time.Second},
	}}
	for i := range 40 {
		log.Lines = append(log.Lines, broker.StartLine{Text: fmt.Sprintf("Get:%d http://mirror.example/debian bookworm/main amd64 package-%d [386 kB]", i, i), After: 130 * time.Second})
	}
	r.broker.startLog = log
}

// buildFails lets the build of tab 1 fail.
func (r *harness) buildFails() {
	r.progress(broker.Progress{Step: buildStep, Elapsed: 61 * time.Second, Failed: true, Tail: []string{
		"E: Unable to locate package libfoo", "The command '/bin/sh -c apt-get install libfoo' returned a non-zero code: 100",
	}})
	s := r.m.numbered(1).session
	s.State, s.ExitCode = broker.StateDead, 1
	s.Reason = "prepare image shell: build image base: the build ended with code 100 ('ironcurtain-mux images build shell' builds it again and shows every line)"
	r.send(brokerMsg{broker.Event{Session: &s}})
}

// While an image is built, the screen shows the steps and their times, and one key shows
// and hides the whole output of the builder.
func TestBuildIsShown(t *testing.T) {
	r := newHarness(t, 80, 24, Options{})
	r.builds()
	r.wants("✓ preparing the session", "✓ get the root file system (step 1 of 3) · 2:07", "… build image base (step 2 of 3) · 4 s", "Get:14", "Ctrl-L shows the log")
	r.progress(broker.Progress{Step: buildStep, Detail: "Unpacking", Elapsed: 5 * time.Second})
	r.wants("build image base (step 2 of 3) · 5 s", "Unpacking")
	r.keys("ls\r")
	if got := r.queued(1); got != "ls\r" {
		t.Errorf("the agent will get %q", got)
	}
	r.keys("\x0c")
	r.wants("how claude-code s1 was started", "package-39")
	r.broker.startLog.Lines = append(r.broker.startLog.Lines, broker.StartLine{Text: "Setting up the last \x1b[31mthing"})
	r.progress(broker.Progress{Step: buildStep, Detail: "Setting up", Elapsed: 6 * time.Second})
	r.wants("Setting up the last \\e[31mthing") // it follows
	r.keys("\x1b[5~\x1b[5~\x1b[5~")
	r.wants("from the cache: base.tar", "get the root file system (step 1 of 3) · after 0 s")
	r.progress(broker.Progress{Step: buildStep, Detail: "more", Elapsed: 7 * time.Second})
	r.wants("from the cache: base.tar") // and does not scroll a list that shows earlier lines
	r.keys("\x0c")
	r.wants("… build image base (step 2 of 3) · 7 s")
	r.buildFails()
	r.wants("✗ build image base (step 2 of 3) · 1:01", "E: Unable to locate package libfoo", "claude-code was not started: ", "images build shell", "/restart starts it again")
	r.keys("\x0c")
	r.wants("how claude-code s1 was started", "package-39", "claude-code was not started: prepare image shell") // the reason is in the log, too
	r.keys("q\x01/log\r")
	r.wants("how claude-code s1 was started")
}

// Once the agent's terminal is attached the key is for the agent. When the log cannot be
// had, an error says so.
func TestLogOfARunningAgent(t *testing.T) {
	r := newHarness(t, 80, 24, Options{})
	r.state(1, broker.StateIdle)
	r.keys("\x0c")
	if got := r.queued(1); got != "\x0c" {
		t.Errorf("the agent got %q", got)
	}
	r.keys("\x01/log\r")
	r.wants("the log is empty")
	r.keys("q")
	r.broker.startLogErr = errNoAgent
	r.keys("\x01/log\r")
	r.wants("no agent")
	if strings.Contains(r.screen(), "was started") {
		t.Error("an empty log stays")
	}
}
