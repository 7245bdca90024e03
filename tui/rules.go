package tui

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// runRules is /rules.
func (m *Model) runRules(string) (tea.Cmd, error) { return m.listRules(""), nil }

// runRevoke is /revoke.
func (m *Model) runRevoke(args string) (tea.Cmd, error) {
	if _, ok := positive(args); !ok && args != "all" {
		return nil, &hinted{errors.New("/revoke takes the number of a rule, or all"), "/rules lists them"}
	}
	return m.listRules(strings.TrimPrefix(args, "#")), nil
}

// listRules asks for the rules in force, to show them or to end some.
func (m *Model) listRules(revoke string) tea.Cmd {
	return m.do(func(ctx context.Context) tea.Msg {
		rules, err := m.api.Rules(ctx)
		return rulesMsg{revoke, rules, err}
	})
}

func (m *Model) onRules(msg rulesMsg) tea.Cmd {
	if msg.err != nil {
		m.showError(fmt.Errorf("rules: %w", msg.err))
		return nil
	}
	if msg.revoke == "" {
		m.showRules(msg.rules)
		return nil
	}
	var ending []broker.Rule
	for _, r := range msg.rules {
		if msg.revoke == "all" || msg.revoke == strconv.Itoa(r.Number) {
			ending = append(ending, r)
		}
	}
	if len(ending) == 0 {
		m.showError(&hinted{errors.New("revoke: no such rule is in force"), "/rules lists them"})
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
	for _, r := range msg.rules {
		numbers = append(numbers, fmt.Sprintf("#%d", r.Number))
	}
	m.showSuccess("revoked: rule " + strings.Join(numbers, " "))
}

// showRules opens the list of rules, each in full.
func (m *Model) showRules(rules []broker.Rule) {
	lines := []helpLine{}
	for _, r := range rules {
		lines = append(lines, helpLine{
			key: fmt.Sprintf("#%d tab %d, %s", r.Number, r.Tab, sanitize(r.Scope)),
			text: fmt.Sprintf("%s left, used %d times, given by %s: %s", timeLeft(r.ExpiresAt.Sub(m.now())), r.Used,
				deciderName(r.By), sanitize(r.Text)),
		})
	}
	if len(lines) == 0 {
		lines = append(lines, helpLine{text: "no approval is remembered; /approve+ shows what one could be remembered for"})
	} else {
		lines = append(lines, helpLine{text: "/revoke N ends one, /revoke all every one"})
	}
	m.showHelp("remembered approvals", lines)
}

// deciderName names the one who decided something.
func deciderName(by string) string {
	switch by {
	case "tui":
		return "you"
	case "":
		return "the broker"
	}
	return sanitize(by)
}
