package tui

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// runForget is /forget.
func (m *Model) runForget(string) (tea.Cmd, error) {
	t := m.current()
	if t == nil {
		return nil, errNoTab("with a receipt")
	}
	id := t.session.ID
	return m.carryOut("what you typed last in this tab approves no more calls", func(ctx context.Context) error {
		return m.api.Forget(ctx, id)
	}), nil
}

// forget drops the receipt of a session whose agent did not get the text, if there is one.
func (m *Model) forget(id broker.SessionID) tea.Cmd {
	return m.do(func(ctx context.Context) tea.Msg {
		_ = m.api.Forget(ctx, id) // an error only means that there was no receipt
		return nil
	})
}

// onReceipt notes the receipt for the person's last text to a tab.
func (m *Model) onReceipt(r broker.Receipt) {
	if t := m.tabOf(r.Session); t != nil {
		t.receipt, m.dirty = r, true
	}
}

// receiptLeft says for how long, and for how many calls, a tab's receipt is still valid; empty: it is
// not.
func (m *Model) receiptLeft(t *tab) string {
	r := t.receipt
	left := r.ExpiresAt.Sub(m.now())
	if r.Left <= 0 || left <= 0 || t.dead() {
		return ""
	}
	calls := "calls"
	if r.Left == 1 {
		calls = "call"
	}
	return fmt.Sprintf("receipt %d: %s left, %d %s", r.Number, view.TimeLeft(left), r.Left, calls)
}

// onAutoApproval shows a toast for a call that was approved automatically.
func (m *Model) onAutoApproval(a broker.AutoApproval) tea.Cmd {
	parts := []string{
		fmt.Sprintf("approved automatically: #%d %s/%s of %s %s · /done shows it", a.Call.Number, text.Drawable(a.Call.Server), text.Drawable(a.Call.Tool), text.Drawable(a.Call.Agent), broker.ShortID(a.Call.Session)),
		fmt.Sprintf("receipt %d: “%s”", a.Receipt, text.Drawable(a.Quote)),
	}
	if a.Call.Effect != nil {
		parts = append(parts, text.Drawable(a.Call.Effect.Summary))
	}
	return m.addToast(view.Toast{Parts: parts, More: "/done"})
}

// addToast shows a toast; when there are too many, it replaces the oldest.
func (m *Model) addToast(t view.Toast) tea.Cmd {
	m.toasts.Add(t, m.now())
	m.dirty = true
	return m.tick()
}
