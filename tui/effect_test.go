package tui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/panel"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// hostileDiff is an effect in which every text is hostile.
func hostileDiff() *broker.Effect {
	return &broker.Effect{
		Kind: "diff", Summary: "changes /home/me/outside/notes.txt: 2 lines added, 1 line removed",
		Lines: []broker.EffectLine{
			{Kind: broker.EffectHunk, Text: "@@ -1,3 +1,4 @@"},
			{Kind: broker.EffectSame, Text: "first line"},
			{Kind: broker.EffectRemoved, Text: "second line"},
			{Kind: broker.EffectAdded, Text: "second \x1b[2J line\u202e"},
			{Kind: broker.EffectAdded, Text: "\tthird line with a tab and 漢字 "},
			{Kind: broker.EffectNote, Text: "no line end at the end of the file"},
		},
	}
}

func pushEffect() *broker.Effect {
	return &broker.Effect{
		Kind: "push", Summary: "pushes 2 commits of refs/heads/main (1a2b3c4d5e6f) to main at https://gіthub.com/me/x", Changed: true, More: 7,
		Lines: []broker.EffectLine{
			{Kind: broker.EffectNote, Text: "to https://xn--gthub-2of.com/me/x"},
			{Kind: broker.EffectWarning, Text: "looks like github.com, and is not"},
			{Kind: broker.EffectItem, Text: "1a2b3c4d5e6f Fix the parser  (Ann <ann@example.org>)"},
			{Kind: broker.EffectFile, Text: "M parser.go"},
			{Kind: broker.EffectFile, Text: "D old\nname"},
		},
	}
}

func (r *harness) escalateWith(e *broker.Effect) {
	call := escalation(1, `{"path":"/home/me/outside/notes.txt"}`, "")
	call.Effect = e
	r.broker.mu.Lock()
	r.broker.pending = append(r.broker.pending, call)
	r.broker.mu.Unlock()
	r.send(brokerMsg{msgOf(call)})
}

func TestGoldenEffects(t *testing.T) {
	for name, effect := range map[string]*broker.Effect{"effect-diff": hostileDiff(), "effect-push": pushEffect()} {
		for _, size := range [][2]int{{20, 6}, {40, 10}, {80, 24}, {200, 50}} {
			name := fmt.Sprintf("%s-%dx%d", name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				r := newHarness(t, size[0], size[1], demo())
				r.state(1, broker.StateIdle)
				r.agentSays(1, agentScreen)
				r.escalateWith(effect)
				r.keys("\x01")
				r.m.dirty = true
				r.m.refresh()
				golden(t, name, r.screen())
			})
		}
	}
}

// The drawn text of an effect decodes to its exact bytes at every width, and no row is
// wider than the panel.
func TestEffectsDecodeBack(t *testing.T) {
	texts := hostileStrings()
	for _, width := range []int{18, 38, 78, 198} {
		for _, text := range texts {
			b := panel.Body{Width: width}
			b.Effect(&broker.Effect{Summary: text, Lines: []broker.EffectLine{{Kind: broker.EffectAdded, Text: text}}})
			var drawn strings.Builder
			for _, row := range b.Rows {
				if view.TextWidth(row.Label)+view.TextWidth(row.Text) > width {
					t.Errorf("a row of %q is wider than %d", text, width)
				}
				if row.Kind == panel.RowAdded {
					drawn.WriteString(row.Text)
				}
			}
			if back, err := unsanitize(drawn.String()); err != nil || back != text {
				t.Errorf("%q came back as %q, %v", text, back, err)
			}
		}
	}
}

// An effect that is longer than the panel has to be seen whole before the call
// can be decided.
func TestEffectHasToBeSeen(t *testing.T) {
	r := newHarness(t, 80, 24, demo())
	e := hostileDiff()
	for i := range 60 {
		e.Lines = append(e.Lines, broker.EffectLine{Kind: broker.EffectAdded, Text: fmt.Sprint("line ", i)})
	}
	r.escalateWith(e)
	r.keys("\x01")
	r.look()
	r.keys("/approve\r")
	r.decided(0)
	r.wants("more ↓")
	for range 10 {
		r.keys("\x1b[6~")
		r.look()
	}
	r.keys("\r")
	r.decided(1)
}
