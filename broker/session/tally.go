package session

import (
	"sync"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
)

// tally counts what a session is doing and derives its state from the counts. The
// proxies and the approval queue change the counts; the screen never does.
type tally struct {
	mu        sync.Mutex
	running   bool
	connected bool // to the tools; true from the start for agents that use none
	dead      bool
	closed    bool
	requests  int // model requests under way
	calls     int // tool calls under way, waiting ones included
	waiting   int // calls that wait for a person
}

// update changes the counts and reports the state before and after.
func (t *tally) update(change func(*tally)) (before, after stored.State) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before = t.state()
	change(t)
	return before, t.state()
}

func (t *tally) state() stored.State {
	switch {
	case t.closed:
		return stored.StateClosed
	case t.dead:
		return stored.StateDead
	case !t.running || !t.connected:
		return stored.StateStarting
	case t.waiting > 0:
		return stored.StateWaiting
	case t.requests > 0 || t.calls > 0:
		return stored.StateWorking
	}
	return stored.StateIdle
}
