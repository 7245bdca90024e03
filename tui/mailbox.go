package tui

import (
	"context"
	"slices"
	"sync"

	tea "charm.land/bubbletea/v2"
)

// mailbox brings messages to the event loop from goroutines that must not wait for it: those
// that read agents, which other views share.
type mailbox struct {
	mu      sync.Mutex
	waiting []tea.Msg
	ready   chan struct{} // capacity 1, lossy: a message waits
}

// mailboxSize is how many messages wait at most; then the oldest are dropped, except those that
// come once for a tab.
const mailboxSize = 256

func newMailbox() *mailbox { return &mailbox{ready: make(chan struct{}, 1)} }

// put takes a message for the event loop. It never blocks.
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

// changes reports whether a message says no more than that something has changed.
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
