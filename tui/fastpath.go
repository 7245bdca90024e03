package tui

import (
	"context"
	"sync/atomic"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
)

// intake gives the person's input to the model. Most input is keys for an agent, which change
// nothing in the model. Such a key bypasses the event loop if the loop has handled all earlier input.
type intake struct {
	model *Model
	send  func(tea.Msg)             // sends a message to the event loop
	await func(ctx context.Context) // waits while the focused agent's queue is crowded
}

// take delivers events of the person's terminal in order. Before each event it waits while the
// focused agent's queue is crowded.
func (in *intake) take(ctx context.Context, batch []keys.Event) {
	for _, ev := range batch {
		if ev.Kind == keys.KeyEvent || ev.Kind == keys.MouseEvent || ev.Kind == keys.PasteEvent {
			in.model.o.Used()
		}
		in.await(ctx)
		if !in.model.takeFastPath(ev) {
			in.model.underway.add()
			in.send(inputMsg{ev})
		}
	}
}

// underway counts the events of the person's terminal that the event loop has not handled
// yet.
type underway struct{ events atomic.Int64 }

func (u *underway) add() { u.events.Add(1) }
func (u *underway) done() {
	if !u.none() {
		u.events.Add(-1)
	}
}
func (u *underway) none() bool { return u.events.Load() <= 0 }

// takeFastPath sends a key to the focused agent at once, if no earlier event is underway and the key
// means nothing to the multiplexer now. Otherwise it does nothing and reports false, and the event
// loop handles the key. The goroutine that reads the person's terminal calls takeFastPath.
func (m *Model) takeFastPath(ev keys.Event) bool {
	if ev.Kind != keys.KeyEvent || ev.Key.Action == keys.Release || ev.Key.IsModifier() {
		return false
	}
	if !m.mayOperate() || !m.underway.none() || !m.mu.TryLock() {
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
