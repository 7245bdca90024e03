package tui

import (
	"context"
	"sync/atomic"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
)

// intake brings what the person does to the model. Most of it is keys for an
// agent, which change nothing in the model: those take a fast path past the event
// loop, as long as nothing that came before them is still on its way there.
type intake struct {
	model *Model
	tell  func(tea.Msg) // delivers a message to the event loop
	await func(ctx context.Context)
}

// take delivers what was read from the person's terminal, in order, holding back
// while the focused agent has more waiting than it should.
func (in *intake) take(ctx context.Context, batch []keys.Event) {
	for _, ev := range batch {
		in.await(ctx)
		if !in.model.takeFastPath(ev) {
			in.model.underway.add()
			in.tell(inputMsg{ev})
		}
	}
}

// underway counts the events of the person that the event loop has not dealt
// with yet.
type underway struct{ events atomic.Int64 }

func (u *underway) add() { u.events.Add(1) }
func (u *underway) done() {
	if !u.none() {
		u.events.Add(-1)
	}
}
func (u *underway) none() bool { return u.events.Load() <= 0 }

// takeFastPath gives a key to the focused agent right away if that is all there is to
// do: no earlier event is underway, and the key means nothing to the multiplexer now. Otherwise it does nothing and reports false; the event loop
// then decides. It is for the goroutine that reads the person's terminal.
func (m *Model) takeFastPath(ev keys.Event) bool {
	if ev.Kind != keys.KeyEvent || ev.Key.Action == keys.Release || ev.Key.IsModifier() {
		return false
	}
	if !m.underway.none() || !m.mu.TryLock() {
		return false
	}
	defer m.mu.Unlock()
	t := m.current()
	if m.keys.Meaning(m.keyState(ev.Key.Code), ev).Kind != input.MeansNothing {
		return false
	}
	t.used(ev, m.now())
	return t.pane.Send(keys.Encode(ev, t.pane.Screen.Modes()))
}
