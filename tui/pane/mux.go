package pane

import (
	"context"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
)

// Mux keeps the panes of all sessions, also while no view shows them.
type Mux struct {
	Priority *Priority // of the keys that are typed in any view
	ctx      context.Context
	tasks    *Tasks
	options  term.Options

	mu    sync.Mutex
	panes map[paneID]*entry
}

// paneID identifies a pane by its session and the session's life.
type paneID struct {
	session broker.SessionID
	life    int
}

type entry struct {
	pane *Pane
	made time.Time
}

// NewMux makes a Mux without panes, whose goroutines belong to tasks and end with ctx. It uses
// only the Engine and Scrollback of the options.
func NewMux(ctx context.Context, tasks *Tasks, options term.Options) *Mux {
	return &Mux{Priority: new(Priority), ctx: ctx, tasks: tasks, options: options, panes: map[paneID]*entry{}}
}

// View adds a view to the pane of a session. If there is no pane yet, View makes one with the
// size and the colors of o.
func (m *Mux) View(s broker.Session, o term.Options, hooks Hooks) (*View, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	id := paneID{s.ID, s.Life}
	e := m.panes[id]
	if e == nil {
		o.Engine, o.Scrollback = m.options.Engine, m.options.Scrollback
		p, err := New(m.ctx, m.tasks, m.Priority, s.ID, o)
		if err != nil {
			return nil, err
		}
		e = &entry{p, time.Now()}
		m.panes[id] = e
	}
	return e.pane.View(hooks), nil
}

// Connect connects panes without a terminal, such as those that Load has added, to their agents
// as soon as the agents run.
func (m *Mux) Connect(api broker.API) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.panes {
		m.tasks.Start(func() { _ = e.pane.connect(api) }) // View.Connect tries again and returns the error
	}
}

// Remove closes the pane of a session that is gone.
func (m *Mux) Remove(s broker.Session) {
	m.drop(func(id paneID, _ *entry) bool { return id == paneID{s.ID, s.Life} })
}

// Keep closes the panes whose sessions are not in a list of all sessions. listed is when the list
// was made: a pane that is newer stays.
func (m *Mux) Keep(sessions []broker.Session, listed time.Time) {
	alive := map[paneID]bool{}
	for _, s := range sessions {
		alive[paneID{s.ID, s.Life}] = true
	}
	m.drop(func(id paneID, e *entry) bool { return !alive[id] && e.made.Before(listed) })
}

// Close closes all panes. It does not wait for their goroutines; Tasks.Wait does.
func (m *Mux) Close() {
	m.drop(func(paneID, *entry) bool { return true })
}

// drop closes and removes the panes for which gone returns true.
func (m *Mux) drop(gone func(paneID, *entry) bool) {
	m.mu.Lock()
	var closed []*Pane
	for id, e := range m.panes {
		if gone(id, e) {
			closed = append(closed, e.pane)
			delete(m.panes, id)
		}
	}
	m.mu.Unlock()
	for _, p := range closed {
		p.Close()
	}
}
