package broker

import "sync"

// tally counts what a session has under way and derives its state from that.
// It is fed by the proxies and the approval queue, never by the screen.
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
func (t *tally) update(change func(*tally)) (before, after SessionState) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before = t.state()
	change(t)
	return before, t.state()
}

func (t *tally) state() SessionState {
	switch {
	case t.closed:
		return StateClosed
	case t.dead:
		return StateDead
	case !t.running || !t.connected:
		return StateStarting
	case t.waiting > 0:
		return StateWaiting
	case t.requests > 0 || t.calls > 0:
		return StateWorking
	}
	return StateIdle
}
