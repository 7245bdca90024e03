package tui

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/panel"
)

// runGrants is /grants.
func (m *Model) runGrants(string) (tea.Cmd, error) { return m.listGrants(""), nil }

// runRevoke is /revoke.
func (m *Model) runRevoke(args string) (tea.Cmd, error) {
	if _, ok := input.Number(args); !ok && args != "all" {
		return nil, &hinted{errors.New("/revoke takes the number of a grant, or all"), "/grants lists them"}
	}
	return m.listGrants(strings.TrimPrefix(args, "#")), nil
}

// listGrants asks for the grants in force, to show them or to end some.
func (m *Model) listGrants(revoke string) tea.Cmd {
	return m.do(func(ctx context.Context) tea.Msg {
		grants, err := m.api.Grants(ctx)
		return grantsMsg{revoke, grants, err}
	})
}

func (m *Model) onGrants(msg grantsMsg) tea.Cmd {
	if msg.err != nil {
		m.showError(fmt.Errorf("list grants: %w", msg.err))
		return nil
	}
	if msg.revoke == "" {
		m.showHelp("grants", panel.GrantLines(msg.grants, m.now()))
		return nil
	}
	var ending []broker.Grant
	for _, r := range msg.grants {
		if msg.revoke == "all" || msg.revoke == strconv.Itoa(r.Number) {
			ending = append(ending, r)
		}
	}
	if len(ending) == 0 {
		m.showError(&hinted{errors.New("revoke: no such grant is in force"), "/grants lists them"})
		return nil
	}
	return m.do(func(ctx context.Context) tea.Msg {
		for i, r := range ending {
			if _, err := m.api.Revoke(ctx, r.Number, "tui"); err != nil {
				return revokedMsg{ending[:i], err}
			}
		}
		return revokedMsg{ending, nil}
	})
}

func (m *Model) onRevoked(msg revokedMsg) {
	if msg.err != nil {
		m.showError(msg.err)
		return
	}
	var numbers []string
	for _, r := range msg.grants {
		numbers = append(numbers, fmt.Sprintf("#%d", r.Number))
	}
	m.showSuccess("revoked: grant " + strings.Join(numbers, " "))
}
