package mcpproxy

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/sandbox"
)

// taken tells whether a server has no slot left.
func (r *harness) taken() bool {
	free := r.proxy.backend("filesystem").slots.free
	if free.TryAcquire(1) {
		free.Release(1)
		return false
	}
	return true
}

// told counts the calls that the stub was told to give up.
func (r *harness) told() int {
	r.t.Helper()
	data, err := os.ReadFile(filepath.Join(r.stub, "received"))
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.Count(string(data), "notifications/cancelled")
}

// TestACancelledCallKeepsItsSlot: as long as the server works on it, an agent that makes
// calls and takes them back has no more of them under way than one that waits.
func TestACancelledCallKeepsItsSlot(t *testing.T) {
	r := newHarness(t, func(c *Config) { c.Limits.PerServer = 2 })
	a := r.agent()
	for i := range 2 {
		a.send(callLine(fmt.Sprint(i), "filesystem__read_text_file", `{"path":"/workspace/held"}`))
	}
	eventually(t, func() bool { return len(r.forwarded()) == 2 }, "two calls at the server")
	a.send(fmt.Sprintf(cancelLine, 0))
	eventually(t, func() bool { return r.told() == 1 }, "the cancellation at the server")
	r.endings(1) // the call has come to its end for the agent
	if !r.taken() {
		t.Fatal("the slot is free, and the server still works on the call")
	}
	a.send(callLine("2", "filesystem__read_text_file", `{"path":"/workspace/a"}`))
	if err := os.WriteFile(filepath.Join(r.stub, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if m := a.answerTo("2"); m.text() != "done /workspace/a" {
		t.Errorf("answer %s", m.Result)
	}
}

// TestAServerThatAnswersNoCancelledCallIsStartedAgain: most servers never answer a call
// that was cancelled, so nothing else would give its slot back.
func TestAServerThatAnswersNoCancelledCallIsStartedAgain(t *testing.T) {
	r := newHarness(t, func(c *Config) { c.Limits.PerServer = 3 })
	a := r.agent()
	for round := range 2 {
		for i := range 3 {
			a.send(callLine(fmt.Sprint(i), "filesystem__read_text_file", `{"path":"/workspace/hang"}`))
		}
		eventually(t, func() bool { return len(r.forwarded()) == 4*round+3 }, "three calls at the server")
		for i := range 3 {
			a.send(fmt.Sprintf(cancelLine, i))
		}
		eventually(t, func() bool { return r.told() == 3*(round+1) }, "three cancellations at the server")
		if m := a.call("9", "filesystem__read_text_file", `{"path":"/workspace/a"}`); m.text() != "done /workspace/a" {
			t.Errorf("answer %s", m.Result)
		}
		if r.taken() {
			t.Error("the slots did not come back with the server")
		}
	}
}

// TestGitHasOneSlot: each of its calls has a process with memory of its own.
func TestGitHasOneSlot(t *testing.T) {
	r := newHarness(t, nil)
	b := newBackend(r.proxy, sandbox.Spec{Name: "git"})
	defer b.close()
	for i, want := range []bool{true, false} {
		if b.slots.free.TryAcquire(1) != want {
			t.Errorf("slot %d: free %v", i, !want)
		}
	}
}
