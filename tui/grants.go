package tui

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/panel"
)

// runGrants is /grants.
func (m *Model) runGrants(string) (tea.Cmd, error) { return m.listGrants(""), nil }

// runRevoke is /revoke.
func (m *Model) runRevoke(args string) (tea.Cmd, error) {
	if _, ok := input.Number(args); !ok && args != "all" {
		return nil, fault.New("/grants lists them", "/revoke takes the number of a grant, or all")
	}
	return m.listGrants(strings.TrimPrefix(args, "#")), nil
}

// listGrants asks for the grants in force, to show them or to revoke some.
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
		m.showHelp("grants", panel.GrantLines(msg.grants, m.o.Client, m.now()))
		return nil
	}
	var revoking []broker.Grant
	for _, r := range msg.grants {
		if msg.revoke == "all" || msg.revoke == strconv.Itoa(r.Number) {
			revoking = append(revoking, r)
		}
	}
	if len(revoking) == 0 {
		m.showError(fault.New("/grants lists them", "revoke: no such grant is in force"))
		return nil
	}
	return m.do(func(ctx context.Context) tea.Msg {
		for i, r := range revoking {
			if _, err := m.api.Revoke(ctx, broker.Revocation{Number: r.Number, By: "tui", Client: m.o.Client}); err != nil {
				return revokedMsg{revoking[:i], err}
			}
		}
		return revokedMsg{revoking, nil}
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

// runApprovePlus is /approve+. The first time, it shows below the call the scopes for which its
// approval could be remembered. A scope can be chosen once all rows of them were on the screen.
func (m *Model) runApprovePlus(args string) (tea.Cmd, error) {
	which, rest := panel.SplitTarget(args)
	if which == "all" {
		return nil, fault.New("/approve all approves all calls that you have seen, once", "/approve+ takes one call at a time, not all")
	}
	words := strings.Fields(rest)
	it, err := m.approvals.Meant(which, m.now())
	if err != nil {
		return nil, err
	}
	if !it.Scoped {
		if !it.Scoping {
			it.Scoping = true
			m.showAbout(it.Call.ID, fmt.Sprintf("looking for the scopes that the approval of #%d could be remembered for", it.Call.Number))
			return m.findScopes(it.Call.ID), errStay
		}
		return nil, errStay
	}
	if len(it.Scopes) == 0 {
		return nil, fault.New("/approve approves it once", "#%d must be decided each time: its approval cannot be remembered", it.Call.Number)
	}
	if len(words) == 0 {
		return nil, fmt.Errorf("/approve+ takes a scope: %s; and a time, if not 15m", it.ScopeNames())
	}
	remember, err := it.Remember(words)
	if err != nil {
		return nil, err
	}
	return m.decideOn(which, panel.Decision{Approve: true, Remember: remember})
}

// findScopes asks the broker for the scopes for which an approval could be remembered.
func (m *Model) findScopes(id string) tea.Cmd {
	return m.do(func(ctx context.Context) tea.Msg {
		scopes, err := m.api.Scopes(ctx, id)
		return scopesMsg{id, scopes, err}
	})
}

// onScopes adds the scopes to the rows of their call. The person has to look at the call again,
// because these rows are new.
func (m *Model) onScopes(msg scopesMsg) {
	it := m.approvals.Find(msg.id)
	if it == nil {
		return
	}
	it.Scoping, m.dirty = false, true
	if msg.err != nil {
		m.showError(fmt.Errorf("remember #%d: %w", it.Call.Number, msg.err))
		return
	}
	it.Scopes, it.Scoped = msg.scopes, true
	it.Unlay()
	it.Complete = false
	if len(it.Scopes) == 0 {
		m.showInfo(fmt.Sprintf("#%d must be decided each time: its approval cannot be remembered", it.Call.Number))
		return
	}
	if m.line.Text() == "/approve+" {
		m.line.Insert(" ", false) // the scope is typed next
	}
	m.showAbout(it.Call.ID, fmt.Sprintf("#%d can be remembered for: %s (explained below the call)", it.Call.Number, it.ScopeNames()))
}
