package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// runApprovePlus is /approve+. Without a scope it lays out below the call what
// its approval could be remembered for; only what was on the screen in full can
// then be given.
func (m *Model) runApprovePlus(args string) (tea.Cmd, error) {
	which, rest := splitTarget(args)
	if which == "all" {
		return nil, &hinted{errors.New("/approve+ all: a grant is made of one call at a time"), "/approve all lets all calls seen go on, this once"}
	}
	words := strings.Fields(rest)
	if len(words) > 2 {
		return nil, fmt.Errorf("/approve+ %s: takes a number, a scope and a time", view.Sanitize(args))
	}
	it, err := m.meant(which)
	if err != nil {
		return nil, err
	}
	if !it.scoped {
		if !it.scoping {
			it.scoping = true
			m.showInfo(fmt.Sprintf("looking for what the approval of #%d could be remembered for", it.call.Number))
			return m.findScopes(it.call.ID), errStay
		}
		return nil, errStay
	}
	if len(it.scopes) == 0 {
		return nil, &hinted{fmt.Errorf("#%d asks each time, its approval cannot be remembered", it.call.Number), "/approve lets it go on this once"}
	}
	if len(words) == 0 {
		return nil, fmt.Errorf("say for what: %s, and for how long if not 15m", it.scopeNames())
	}
	remember, err := it.remember(words)
	if err != nil {
		return nil, err
	}
	return m.decideOn(which, decision{approve: true, remember: remember})
}

// meant is the call that a number names, or the one shown.
func (m *Model) meant(which string) (*pendingItem, error) {
	it := m.approvals.current()
	if n, ok := input.Number(which); ok {
		if it = m.approvals.numbered(n); it == nil {
			return nil, m.approvals.unknown(n)
		}
		m.approvals.choose(it.call.ID, m.now())
	}
	if it == nil {
		return nil, errors.New("nothing waits for a decision")
	}
	return it, nil
}

// remember reads a scope and a time.
func (it *pendingItem) remember(words []string) (*broker.Remember, error) {
	r := &broker.Remember{Scope: strings.ToLower(words[0])}
	known := false
	for _, s := range it.scopes {
		known = known || s.Name == r.Scope
	}
	if !known {
		return nil, fmt.Errorf("#%d has no scope %s, it has: %s", it.call.Number, view.Sanitize(words[0]), it.scopeNames())
	}
	if len(words) == 2 {
		d, err := time.ParseDuration(words[1])
		if err != nil || d < time.Second {
			return nil, &hinted{fmt.Errorf("%s is no time", view.Sanitize(words[1])), "write it like 90s, 30m or 2h"}
		}
		r.Seconds = int(d / time.Second)
	}
	return r, nil
}

func (it *pendingItem) scopeNames() string {
	var names []string
	for _, s := range it.scopes {
		names = append(names, view.Sanitize(s.Name))
	}
	return strings.Join(names, ", ")
}

// findScopes asks the broker what an approval could be remembered for.
func (m *Model) findScopes(id string) tea.Cmd {
	return m.do(func(ctx context.Context) tea.Msg {
		scopes, err := m.api.Scopes(ctx, id)
		return scopesMsg{id, scopes, err}
	})
}

// onScopes adds the scopes to the call in the panel. It has to be looked at
// again: what can be given has changed.
func (m *Model) onScopes(msg scopesMsg) {
	it := m.approvals.find(msg.id)
	if it == nil {
		return
	}
	it.scoping, m.dirty = false, true
	if msg.err != nil {
		m.showError(fmt.Errorf("remember #%d: %w", it.call.Number, msg.err))
		return
	}
	it.scopes, it.scoped = msg.scopes, true
	it.unlay()
	it.complete = false
	if len(it.scopes) == 0 {
		m.showInfo(fmt.Sprintf("#%d asks each time, its approval cannot be remembered", it.call.Number))
		return
	}
	if m.line.Text() == "/approve+" {
		m.line.Insert(" ", false) // the scope is typed next
	}
	m.showInfo(fmt.Sprintf("below #%d stands what its approval can be remembered for: %s", it.call.Number, it.scopeNames()))
}

// scopes adds the rows that say in full what each scope would let through.
func (b *itemBody) scopes(list []broker.Scope) {
	if len(list) == 0 {
		return
	}
	b.add(rowHeading, "", "/approve+ SCOPE [TIME] also lets these go on, for 15m if no time is given:")
	for _, s := range list {
		past := fmt.Sprintf(" (%d of %d past calls)", s.Matched, s.Past)
		b.add(rowPlain, view.Sanitize(s.Name)+": ", view.Sanitize(s.Text)+past)
	}
}
