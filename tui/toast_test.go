package tui

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

func automatic(n int, quote string) broker.AutoApproval {
	call := escalation(n, `{"remote":"https://github.com/me/x.git","branch":"main"}`, "")
	call.Server, call.Tool, call.Effect = "git", "git_push", pushEffect()
	return broker.AutoApproval{Call: call, Receipt: 2, Quote: quote, At: testTime}
}

func (r *harness) letThrough(a broker.AutoApproval) {
	r.broker.mu.Lock()
	r.broker.automatic = append(r.broker.automatic, a)
	r.broker.mu.Unlock()
	r.send(brokerMsg{broker.Event{Kind: broker.EventAutoApproval, AutoApproval: &a}})
}

func TestGoldenToast(t *testing.T) {
	for _, size := range [][2]int{{20, 6}, {40, 10}, {80, 24}, {200, 50}} {
		name := fmt.Sprintf("toast-%dx%d", size[0], size[1])
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, size[0], size[1], demo())
			r.state(1, broker.StateIdle)
			r.agentSays(1, agentScreen)
			r.letThrough(automatic(1, "push my changes to origin"))
			r.m.dirty = true
			r.m.refresh()
			golden(t, name, r.screen())
		})
	}
}

// A toast takes no key, and goes away by itself.
func TestToastTakesNothing(t *testing.T) {
	r := newHarness(t, 80, 24, demo())
	r.letThrough(automatic(1, "push my changes to origin"))
	r.wants("approved automatically: #1 git/git_push", "receipt 2: “push my changes to origin”")
	r.keys("abc\r")
	if got := r.queued(1); got != "abc\r" {
		t.Errorf("the agent got %q", got)
	}
	r.now = r.now.Add(view.ToastTime)
	r.send(tickMsg{})
	if strings.Contains(r.screen(), "approved automatically") {
		t.Error("the toast is still there")
	}
}

// /done shows every part of the call, with hostile text sanitized.
func TestUndoShowsEverything(t *testing.T) {
	r := newHarness(t, 100, 50, demo())
	r.keys("\x01/done\r")
	r.wants("nothing was approved automatically")
	a := automatic(1, "push my changes to origin")
	a.Call.Arguments = json.RawMessage(`{"branch":"main\u001b[2J","remote":"https://github.com/me/x.git"}`)
	a.Model = "anthropic/claude-haiku-4-5"
	r.letThrough(a)
	r.keys("\x01/done\r")
	r.wants("cannot be undone", "#1 git/git_push", "push my changes to origin", "anthropic/claude-haiku-4-5", "Fix the parser",
		"! looks like github.com, and is not", `"main\e[2J"`, "https://github.com/me/x.git", "rule", "digest")
}

// Every hostile text is made harmless in a toast.
func TestToastsAreSanitized(t *testing.T) {
	r := newHarness(t, 80, 24, demo())
	for i, s := range hostileStrings() {
		a := automatic(i+1, s)
		a.Call.Effect.Summary = s
		r.letThrough(a)
		for _, toast := range r.m.toasts {
			if strings.ContainsFunc(strings.Join(toast.Parts, ""), func(c rune) bool { return c < ' ' || c == 0x7f || c == 0x202e || c == 0x200b }) {
				t.Fatalf("%q is drawn as %q", s, toast.Parts)
			}
		}
		r.now = r.now.Add(time.Second)
	}
	if n := len(r.m.toasts); n > view.MaxToasts {
		t.Errorf("%d toasts", n)
	}
}
