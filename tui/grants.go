package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/panel"
)

// runGrants is /grants.
func (m *Model) runGrants(string) (tea.Cmd, error) {
	return m.askGrants(func(grants []broker.Grant) {
		m.showHelp("grants", panel.GrantLines(grants, m.o.Client, m.now()))
	}), nil
}

// runRevoke is /revoke.
func (m *Model) runRevoke(args string) (tea.Cmd, error) {
	number, ok := input.Number(args)
	if !ok && args != "all" {
		return nil, fault.New("/grants lists them", "/revoke takes the number of a grant, or all")
	}
	return m.askGrants(func(grants []broker.Grant) {
		if args != "all" {
			grants = slices.DeleteFunc(grants, func(g broker.Grant) bool { return g.Number != number })
		}
		if len(grants) == 0 {
			m.showError(fault.New("/grants lists them", "revoke: no such grant is in force"))
			return
		}
		m.later = join(m.later, m.revoke(grants))
	}), nil
}

// askGrants asks for the grants in force.
func (m *Model) askGrants(show func([]broker.Grant)) tea.Cmd {
	return request(m, func(ctx context.Context) ([]broker.Grant, error) {
		grants, err := m.api.Grants(ctx)
		return grants, fault.Wrap("list grants", err, "")
	}, show)
}

// revoke revokes grants.
func (m *Model) revoke(grants []broker.Grant) tea.Cmd {
	var numbers []string
	for _, g := range grants {
		numbers = append(numbers, fmt.Sprintf("#%d", g.Number))
	}
	return m.carryOut("revoked: grant "+strings.Join(numbers, " "), func(ctx context.Context) error {
		for _, g := range grants {
			if _, err := m.api.Revoke(ctx, broker.Revocation{Number: g.Number, By: "tui", Client: m.o.Client}); err != nil {
				return err
			}
		}
		return nil
	})
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

// findScopes asks the broker for the scopes for which an approval could be remembered, and adds them to
// the rows of their call. The person has to look at the call again, because these rows are new.
func (m *Model) findScopes(id string) tea.Cmd {
	return m.do(func(ctx context.Context) tea.Msg {
		scopes, err := m.api.Scopes(ctx, id)
		return answerMsg(func() {
			if it := m.approvals.Find(id); it != nil {
				m.showScopes(it, scopes, err)
			}
		})
	})
}

func (m *Model) showScopes(it *panel.Item, scopes []broker.Scope, err error) {
	it.Scoping, m.dirty = false, true
	if err != nil {
		m.showError(fmt.Errorf("remember #%d: %w", it.Call.Number, err))
		return
	}
	it.Scopes, it.Scoped = scopes, true
	it.Unlay()
	it.Complete = false
	if len(it.Scopes) == 0 {
		m.showInfo(fmt.Sprintf("#%d must be decided each time: its approval cannot be remembered", it.Call.Number))
		return
	}
	if m.line.Text() == "/approve+" {
		m.line.Insert(" ", false) // the scope is typed next
	}
	next := "explained below the call"
	if args, ok := strings.CutPrefix(m.line.Text(), "/approve+ "); ok {
		if _, scope := panel.SplitTarget(args); scope != "" {
			next += "; look at it, then press Enter again"
		}
	}
	m.showAbout(it.Call.ID, fmt.Sprintf("#%d can be remembered for: %s (%s)", it.Call.Number, it.ScopeNames(), next))
}
