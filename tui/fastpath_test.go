package tui

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
)

// pressed are keys as terminals send them: those that mean something to the
// multiplexer in one of its states, and some that never do.
var pressed = []string{
	"a", "b", "q", "y", "n", "c", "l", "?", "[", "/", " ", "é", "\r", "\t", "\x7f", "\x1b", "\x03",
	"\x01", "\x02", "\x0c", "\x1b1", "\x1b2", "\x1b9", "\x1bb", "\x1b\x01", "\x1b\x02", "\x1b\x03",
	"%", "}", "!", "\x02%", "\x02\x1b[1;5D", "\x1b[1;5D", // panes
	"\x1b[A", "\x1b[D", "\x1b[5~", "\x1b[6~", "\x1bOQ", "\x1b[6;5~",
	"\x1b[97;1u", "\x1b[97;1:2u", "\x1b[97;1:3u", "\x1b[97;5u", "\x1b[97;5:3u", "\x1b[98;5u", "\x1b[98;5:3u",
	"\x1b[108;5u", "\x1b[108;5:3u", "\x1b[57441;2u", "\x1b[57441;1:3u", "\x1b[57442;5u", "\x1b[99;1:3u",
}

// happenings change the multiplexer's state in ways that change the meaning of keys.
var happenings = map[string]func(*harness){
	"an urgent notice": func(r *harness) {
		r.send(brokerMsg{broker.Event{Kind: broker.EventNotice, Notice: &broker.Notice{Text: "look", Urgent: true}}})
	},
	"a second tab": func(r *harness) {
		if len(r.m.tabs) == 1 {
			r.run(r.m.open(tabRequest{agent: "shell"}))
		}
	},
	"the end of the agent":  func(r *harness) { r.onFocused(func(t *tab) { t.session.State = broker.StateDead }) },
	"the agent begins anew": func(r *harness) { r.onFocused(func(t *tab) { t.session.State = broker.StateIdle }) },
	"the agent starts":      func(r *harness) { r.onFocused(func(t *tab) { t.attached = false }) },
	"the agent has started": func(r *harness) { r.onFocused(func(t *tab) { t.attached = true }) },
	"a look back":           func(r *harness) { r.onFocused(func(t *tab) { t.scrolled = true }) },
	"nothing was typed yet": func(r *harness) { r.m.touched = false },
	"a question":            func(r *harness) { r.m.ask("sure?", func(*Model) tea.Cmd { return nil }) },
	"the end of all modes":  func(r *harness) { r.m.leaveCommand(); r.m.prefixed = false },
}

func (r *harness) onFocused(change func(*tab)) {
	if t := r.m.current(); t != nil {
		change(t)
	}
}

// chrome describes everything that a key can change, except the agents' input.
func (r *harness) chrome() string {
	m := r.m
	scrolled := []bool{}
	for _, t := range m.tabs {
		scrolled = append(scrolled, t.scrolled)
	}
	return fmt.Sprintf("mode %d, tab %d, scrolled %v, prefixed %t, touched %t, ours %v, line %q, flash %q urgent %t, question %t, help %q, quit %t, dirty %t",
		m.mode, m.active, scrolled, m.prefixed, m.touched, m.claimed, m.line.Text(), m.said().Text, m.said().Urgent, m.question != nil, m.help.Title, r.quit, m.dirty)
}

// typed describes the input that the agents got.
func (r *harness) typed() string {
	var b strings.Builder
	for _, t := range r.m.tabs {
		fmt.Fprintf(&b, "\ntab %d: used %v, got %q", r.m.place(t), t.usedAt, r.queued(r.m.place(t)))
	}
	return b.String()
}

// In every state a key has the same effect with and without the fast path, and the fast
// path changes nothing but the agent's input.
func TestBothWaysOfAKeyAreEqual(t *testing.T) {
	taken, refused := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		options := Options{Prefix: "ctrl+b", Intro: introOf("try this"), Keys: map[string][]string{"agent.next": {"ctrl+pgdown"}}}
		fast, slow := newHarness(t, 80, 24, options), newHarness(t, 80, 24, options)
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			if rapid.IntRange(0, 3).Draw(rt, "what") == 0 {
				what := rapid.SampledFrom(slices.Sorted(maps.Keys(happenings))).Draw(rt, "happening")
				for _, r := range []*harness{fast, slow} {
					happenings[what](r)
					r.send(nil) // draws it
				}
			}
			bytes := rapid.SampledFrom(pressed).Draw(rt, "key")
			for _, ev := range append(fast.decoder.Feed([]byte(bytes)), fast.decoder.Flush()...) {
				before := fast.chrome()
				if fast.m.takeFastPath(ev) {
					taken++
					if now := fast.chrome(); now != before {
						rt.Fatalf("the fast path of %q changed\n%s\nto\n%s", bytes, before, now)
					}
				} else {
					refused++
					fast.send(inputMsg{ev})
				}
				slow.send(inputMsg{ev})
			}
			if a, b := fast.chrome()+fast.typed(), slow.chrome()+slow.typed(); a != b {
				rt.Fatalf("after %q the fast path has\n%s\nand the event loop\n%s", bytes, a, b)
			}
		}
	})
	if taken == 0 || refused == 0 {
		t.Errorf("%d keys took the fast path and %d did not", taken, refused)
	}
}

// Finding the meaning of an ordinary key allocates nothing.
func TestMeaningAllocatesNothing(t *testing.T) {
	r := newHarness(t, 80, 24, Options{})
	r.keys("x")
	ev := keys.Event{Kind: keys.KeyEvent, Key: keys.Key{Code: 'a', Text: "a"}, Raw: []byte("a")}
	state := r.m.keyState('a')
	if n := testing.AllocsPerRun(100, func() { r.m.keys.Meaning(state, ev) }); n != 0 {
		t.Errorf("the meaning of a key costs %v allocations", n)
	}
}
