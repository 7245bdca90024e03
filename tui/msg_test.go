package tui

import (
	"context"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
)

// An event loop that takes nothing holds nobody up, and takes bounded memory. Ends of terminals
// are not lost.
func TestMailboxWaitsForNobody(t *testing.T) {
	b := newMailbox()
	b.put(endedMsg{id: "s1"})
	for range 10 * mailboxSize {
		b.put(changedMsg{})
		b.put(changedMsg{})
		b.put(paneMsg{"s1", term.Event{Kind: term.EventBell}})
	}
	b.put(endedMsg{id: "s2"})
	var got []tea.Msg
	ctx, cancel := context.WithCancel(t.Context())
	b.forward(ctx, func(msg tea.Msg) {
		got = append(got, msg)
		if len(got) == mailboxSize {
			cancel()
		}
	})
	first, _ := got[0].(endedMsg)
	last, _ := got[len(got)-1].(endedMsg)
	if len(got) != mailboxSize || first.id != "s1" || last.id != "s2" {
		t.Errorf("%d messages came, the first is %v, the last %v", len(got), got[0], got[len(got)-1])
	}
}
