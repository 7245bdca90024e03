package tui

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/panel"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// runPolicy is /policy reload and /policy apply.
func (m *Model) runPolicy(args string) (tea.Cmd, error) {
	switch args {
	case "reload":
		return m.do(func(ctx context.Context) tea.Msg {
			review, err := m.api.ReviewPolicy(ctx)
			return policyMsg{review, err}
		}), nil
	case "apply":
		hash := m.reviewed
		if hash == "" {
			return nil, fault.New("/policy reload shows it first", "/policy apply: no policy was shown that could be put in force")
		}
		m.reviewed = ""
		return m.do(func(ctx context.Context) tea.Msg {
			sessions, err := m.api.ApplyPolicy(ctx, hash)
			return appliedMsg{sessions, err}
		}), nil
	}
	return nil, fmt.Errorf("/policy %s: takes reload, and then apply", text.Drawable(args))
}

// onPolicy shows what would change.
func (m *Model) onPolicy(msg policyMsg) {
	m.reviewed = ""
	switch {
	case msg.err != nil:
		m.showError(msg.err)
	case len(msg.review.Difference) == 0:
		m.showSuccess("the policy was read again: nothing has changed")
	default:
		m.reviewed = msg.review.Hash
		m.showHelp("policy", panel.PolicyLines(msg.review.Difference))
	}
}

func (m *Model) onApplied(msg appliedMsg) {
	if msg.err != nil {
		m.showError(msg.err)
		return
	}
	m.showSuccess("the new policy judges " + view.Counted(msg.sessions, "session") + ", and those to come")
}
