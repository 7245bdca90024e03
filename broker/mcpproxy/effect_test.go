package mcpproxy

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/preview"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

func previewing(c *Config) {
	c.Preview = &preview.Previewer{Known: preview.KnownHosts, Command: gitCommand}
}

func (r *harness) writeCall(id, text string) string {
	return callLine(id, "filesystem__write_file", fmt.Sprintf(`{"path":"%s/notes.txt","content":%q}`, r.outside, text))
}

func (r *harness) notes(text string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.outside, "notes.txt"), []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// A waiting call carries its effect; when that holds, the approved call goes on
// without another question.
func TestTheEffectIsAttached(t *testing.T) {
	r := newHarness(t, previewing)
	r.notes("old\n")
	a := r.agent()
	a.send(r.writeCall("1", "new\n"))
	item := r.pending(1)[0]
	if e := item.Effect; e == nil || e.Kind != preview.Diff || e.Changed || !strings.Contains(fmt.Sprint(e.Lines), "old") {
		t.Fatalf("effect %+v", item.Effect)
	}
	if _, won, err := r.queue.Answer(item.ID, item.Digest, approval.Answer{Approve: true, Effect: item.Fingerprint(), By: "tui"}); !won || err != nil {
		t.Fatal(won, err)
	}
	if m := a.answerTo("1"); m.isError() {
		t.Errorf("answer %s", m.Result)
	}
}

// A file that changed after it was shown is shown again before anything happens
// to it; one that never stands still is refused.
func TestAChangedFileIsShownAgain(t *testing.T) {
	r := newHarness(t, previewing)
	r.notes("old\n")
	a := r.agent()
	a.send(r.writeCall("1", "new\n"))
	for round := range maxAsked {
		item := r.pending(1)[0]
		if item.Effect.Changed != (round > 0) {
			t.Errorf("round %d: said to be changed: %v", round, item.Effect.Changed)
		}
		if round > 0 && !strings.Contains(fmt.Sprint(item.Effect.Lines), fmt.Sprint("other ", round-1)) {
			t.Errorf("round %d shows %v", round, item.Effect.Lines)
		}
		r.notes(fmt.Sprintf("other %d\n", round))
		if _, won, err := r.queue.Answer(item.ID, item.Digest, approval.Answer{Approve: true, Effect: item.Fingerprint(), By: "tui"}); !won || err != nil {
			t.Fatal(won, err)
		}
	}
	if m := a.answerTo("1"); !m.isError() || !strings.Contains(m.text(), "changed since it was shown") {
		t.Errorf("answer %s", m.Result)
	}
	if n := len(r.forwarded()); n != 0 {
		t.Errorf("%d calls went on", n)
	}
	var kinds []audit.Decision
	for _, d := range r.decisions() {
		kinds = append(kinds, d.Decision)
	}
	if got, want := fmt.Sprint(kinds), fmt.Sprint([]audit.Decision{audit.Noted, audit.Noted, audit.Deny}); got != want {
		t.Errorf("records %s, want %s", got, want)
	}
}

// Without somewhere to write that it changed, it is refused.
func TestAChangedFileWithoutRecordIsRefused(t *testing.T) {
	r := newHarness(t, previewing)
	r.notes("old\n")
	a := r.agent()
	a.send(r.writeCall("1", "new\n"))
	item := r.pending(1)[0]
	r.notes("other\n")
	r.log.set(os.ErrClosed)
	if _, won, err := r.queue.Answer(item.ID, item.Digest, approval.Answer{Approve: true, Effect: item.Fingerprint(), By: "tui"}); !won || err != nil {
		t.Fatal(won, err)
	}
	if m := a.answerTo("1"); !m.isError() {
		t.Errorf("answer %s", m.Result)
	}
	r.log.set(nil)
	if n := len(r.forwarded()); n != 0 {
		t.Errorf("%d calls went on", n)
	}
}

// gitCommand is the command of git that is usual for a tool's name.
func gitCommand(server, tool string) string {
	var none *policy.Engine
	return none.Behavior(server, tool).Command
}
