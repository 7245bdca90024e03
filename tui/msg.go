package tui

import (
	"context"
	"slices"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/menu"
)

// The messages of the event loop. Most are named after the event that they report.
type (
	// inputMsg is one event of the person's terminal.
	inputMsg struct{ event keys.Event }

	// sizeMsg is the size of the person's terminal.
	sizeMsg struct{ cols, rows int }

	// brokerMsg is one event of the broker.
	brokerMsg struct{ event broker.Event }

	// listedMsg is the whole state of the broker. It is listed after each subscription to
	// events, because some may have been missed before.
	listedMsg struct {
		at       time.Time // when the listing began
		sessions []broker.Session
		pending  []broker.Escalation
	}

	// brokerLostMsg says that subscribing to the broker's events, or listing its state, has failed.
	brokerLostMsg struct{ err error }

	// answerMsg answers a request; it shows or notes the result.
	answerMsg func()

	// openedMsg answers a request for a new session.
	openedMsg struct {
		tabRequest
		session broker.Session
		err     error
	}

	// storedMsg lists the sessions on disk: for the picker or, with a prefix, to resume
	// the session whose id begins with it.
	storedMsg struct {
		prefix   string
		sessions []broker.StoredSession
		err      error
	}

	// attachedMsg answers an attempt to connect to an agent's terminal.
	attachedMsg struct {
		id  broker.SessionID
		err error
	}

	// changedMsg says that something about a pane has changed that is drawn outside of it.
	changedMsg struct{}

	// endedMsg says that the output of a pane's terminal has ended.
	endedMsg struct {
		id  broker.SessionID
		err error
	}

	// readyMsg asks whether a tab is ready for its first prompt.
	readyMsg struct{ id broker.SessionID }

	// decidedMsg answers a decision.
	decidedMsg struct {
		id         string
		number     int
		approve    bool
		resolution broker.Resolution
		err        error
	}

	// submittedMsg answers a trusted input.
	submittedMsg struct {
		id      broker.SessionID
		slot    int // the place that is reserved for it in the agent's input queue
		pieces  []input.Piece
		receipt broker.Receipt
		err     error
	}

	// paintedMsg says that the scene seq has been painted on the person's terminal.
	paintedMsg struct {
		seq uint64
		at  time.Time
	}

	// continuedMsg says that the program continues after it was stopped. Other programs
	// may have used the screen meanwhile.
	continuedMsg struct{}

	// stalledMsg says whether the person's terminal takes no output.
	stalledMsg struct{ stalled bool }

	// retitleMsg comes when the title of the window may change again.
	retitleMsg struct{}

	// tickMsg comes once a second while something on the screen shows a time.
	tickMsg struct{}

	// paneMsg is something that a program asked its terminal for besides drawing: a bell,
	// a title, a copy to the clipboard.
	paneMsg struct {
		id    broker.SessionID
		event term.Event
	}

	// copyMsg comes when a program may copy again.
	copyMsg struct{}

	// finishedMsg asks whether a session is still idle a while after it became idle.
	finishedMsg struct {
		id      broker.SessionID
		changes int // tab.changes when it became idle
	}

	// foundMsg has the entries that were looked up for the menu above the command line.
	foundMsg struct {
		source menu.Source
		found  []menu.Entry
	}
)

// mailbox passes messages to the event loop from goroutines that must not wait for it, such as those
// that read an agent's output for several views.
type mailbox struct {
	mu      sync.Mutex
	waiting []tea.Msg
	ready   chan struct{} // capacity 1, lossy: a message waits
}

// mailboxSize is how many messages wait at most. Then the oldest ones are dropped, except endedMsg,
// which is sent once for a tab.
const mailboxSize = 256

func newMailbox() *mailbox { return &mailbox{ready: make(chan struct{}, 1)} }

// put adds a message for the event loop. It never blocks.
func (b *mailbox) put(msg tea.Msg) {
	b.mu.Lock()
	if !changes(msg) || len(b.waiting) == 0 || !changes(b.waiting[len(b.waiting)-1]) {
		b.waiting = append(b.waiting, msg)
	}
	if len(b.waiting) > mailboxSize {
		lossy := func(m tea.Msg) bool { _, once := m.(endedMsg); return !once }
		if at := slices.IndexFunc(b.waiting, lossy); at >= 0 {
			b.waiting = slices.Delete(b.waiting, at, at+1)
		}
	}
	b.mu.Unlock()
	select {
	case b.ready <- struct{}{}:
	default:
	}
}

// changes reports whether a message is a changedMsg, of which one is enough.
func changes(msg tea.Msg) bool { _, is := msg.(changedMsg); return is }

// forward sends the messages in their order until ctx ends.
func (b *mailbox) forward(ctx context.Context, send func(tea.Msg)) {
	for {
		select {
		case <-b.ready:
		case <-ctx.Done():
			return
		}
		b.mu.Lock()
		waiting := b.waiting
		b.waiting = nil
		b.mu.Unlock()
		for _, msg := range waiting {
			send(msg)
		}
	}
}
