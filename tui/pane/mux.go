package pane

import (
	"context"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
)

// Mux has the panes of all sessions. They stay while no view shows them.
type Mux struct {
	Priority *Priority // of what people type in any view
	ctx      context.Context
	tasks    *Tasks
	options  term.Options

	mu    sync.Mutex
	panes map[place]*entry
}

// place is what a pane belongs to: a session in one of its lives.
type place struct {
	session broker.SessionID
	life    int
}

type entry struct {
	pane *Pane
	made time.Time
}

// NewMux makes a Mux without panes, whose goroutines belong to tasks and end with ctx. Of the
// options it takes the engine and the scrollback.
func NewMux(ctx context.Context, tasks *Tasks, options term.Options) *Mux {
	return &Mux{Priority: new(Priority), ctx: ctx, tasks: tasks, options: options, panes: map[place]*entry{}}
}

// View adds a view to the pane of a session, which is made if there is none yet. New panes have
// the size and the colors of o.
func (m *Mux) View(s broker.Session, o term.Options, hooks Hooks) (*View, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := place{s.ID, s.Life}
	e := m.panes[at]
	if e == nil {
		o.Engine, o.Scrollback = m.options.Engine, m.options.Scrollback
		p, err := New(m.ctx, m.tasks, m.Priority, s.ID, o)
		if err != nil {
			return nil, err
		}
		e = &entry{p, time.Now()}
		m.panes[at] = e
	}
	return e.pane.View(hooks), nil
}

// Connect connects the panes that have no terminal, as those that Load has added, to their agents
// as soon as these run.
func (m *Mux) Connect(api broker.API) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.panes {
		m.tasks.Start(func() { _ = e.pane.connect(api) }) // a view gets the error again
	}
}

// Remove closes the pane of a session that is gone.
func (m *Mux) Remove(s broker.Session) {
	m.drop(func(at place, _ *entry) bool { return at == place{s.ID, s.Life} })
}

// Keep closes the panes of sessions that were gone when the sessions were listed, at a time.
func (m *Mux) Keep(sessions []broker.Session, listed time.Time) {
	alive := map[place]bool{}
	for _, s := range sessions {
		alive[place{s.ID, s.Life}] = true
	}
	m.drop(func(at place, e *entry) bool { return !alive[at] && e.made.Before(listed) })
}

// Close closes all panes. It does not wait for their goroutines; Tasks.Wait does.
func (m *Mux) Close() {
	m.drop(func(place, *entry) bool { return true })
}

// drop closes the panes that are gone.
func (m *Mux) drop(gone func(place, *entry) bool) {
	m.mu.Lock()
	var closed []*Pane
	for at, e := range m.panes {
		if gone(at, e) {
			closed = append(closed, e.pane)
			delete(m.panes, at)
		}
	}
	m.mu.Unlock()
	for _, p := range closed {
		p.Close()
	}
}
