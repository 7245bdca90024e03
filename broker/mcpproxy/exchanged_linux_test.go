package mcpproxy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// While a call waits for a person, other calls fetch what the agent changes. What was shown is
// compared with that, as with a file that the agent itself can write to.
func TestFetchedByOthersWhileOneWaits(t *testing.T) {
	t.Run("a file", func(t *testing.T) {
		r, w := withCopies(t, previewing)
		r.notes("old\n")
		a, b := r.agent(), r.agent()
		a.send(r.writeCall("1", "new\n"))
		item := r.pending(1)[0]
		w.set(func(context.Context, int) error { r.notes("exchanged\n"); return nil }, nil)
		if m := b.call("1", "filesystem__read_text_file", `{"path":"/workspace/a"}`); m.isError() {
			t.Fatal(m.text())
		}
		w.set(nil, nil)
		if _, won, err := r.queue.Answer(item.ID, item.Digest, approval.Answer{Approve: true, Effect: item.Fingerprint(), By: "tui"}); !won || err != nil {
			t.Fatal(won, err)
		}
		again := r.pending(1)[0]
		if !again.Effect.Changed || !strings.Contains(fmt.Sprint(again.Effect.Lines), "exchanged") {
			t.Errorf("it shows %+v", again.Effect)
		}
		if n := len(r.forwarded()); n != 1 {
			t.Errorf("%d calls were forwarded", n)
		}
		r.decide(1, false)
		a.answerTo("1")
	})
	t.Run("the directory", func(t *testing.T) {
		r, w := withCopies(t)
		// The agent exchanges it between the approval and the judgment: with this call's own fetch.
		dir := filepath.Join(r.outside, "d")
		put(t, filepath.Join(dir, "x"), "text")
		a := r.agent()
		a.send(callLine("1", "filesystem__write_file", write(filepath.Join(dir, "x"), "text")))
		r.pending(1)
		w.set(func(context.Context, int) error {
			return errors.Join(os.Rename(dir, dir+".was"), os.Symlink(r.work, dir))
		}, nil)
		r.decide(1, true)
		if m := a.answerTo("1"); !m.isError() || !strings.Contains(m.text(), ruleChanged) {
			t.Errorf("answer %s", m.Result)
		}
		if len(r.forwarded()) != 0 {
			t.Error("it was forwarded")
		}
	})
	t.Run("between judgment and comparison", func(t *testing.T) {
		var r *harness
		show := &lookingAway{}
		r, w := withCopies(t, previewing, func(c *Config) {
			show.Previewer = c.Preview
			c.Preview = show
		})
		r.notes("old\n")
		a, b := r.agent(), r.agent()
		a.send(r.writeCall("1", "new\n"))
		item := r.pending(1)[0]
		show.before = func() { // the approved call is judged again, and its effect not compared yet
			w.set(func(context.Context, int) error { r.notes("exchanged\n"); return nil }, nil)
			b.call("1", "filesystem__read_text_file", `{"path":"/workspace/a"}`)
			w.set(nil, nil)
		}
		if _, won, err := r.queue.Answer(item.ID, item.Digest, approval.Answer{Approve: true, Effect: item.Fingerprint(), By: "tui"}); !won || err != nil {
			t.Fatal(won, err)
		}
		again := r.pending(1)[0]
		if !again.Effect.Changed || !strings.Contains(fmt.Sprint(again.Effect.Lines), "exchanged") {
			t.Errorf("it shows %+v", again.Effect)
		}
		r.decide(1, false)
		a.answerTo("1")
	})
}

// lookingAway is a previewer that does something before it looks whether an effect is still the
// same.
type lookingAway struct {
	Previewer
	before func()
}

func (p *lookingAway) Fingerprint(ctx context.Context, c policy.Call) string {
	p.before()
	return p.Previewer.Fingerprint(ctx, c)
}
