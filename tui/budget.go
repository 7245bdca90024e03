package tui

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/timespan"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// nearlySpent is the part of a limit at which the usage is highlighted.
const nearlySpent = 0.8

// runBudget is /budget: it shows what was used, or lets this tab use more.
func (m *Model) runBudget(args string) (tea.Cmd, error) {
	if args == "" {
		return request(m, m.api.Budgets, func(all broker.Budgets) { m.showHelp("usage of the models", m.budgetText(all)) }), nil
	}
	t := m.current()
	if t == nil {
		return nil, errNoTab("that could use more")
	}
	id := t.session.ID
	raise := func(ctx context.Context) (broker.Budget, error) { return m.api.RaiseBudget(ctx, id, args) }
	return request(m, raise, func(b broker.Budget) {
		m.onBudget(b)
		m.showSuccess("this tab may now use " + allowance(b.Allowance))
	}), nil
}

// onBudget stores what a session has used.
func (m *Model) onBudget(b broker.Budget) {
	if t := m.tabOf(b.Session); t != nil {
		t.budget, m.dirty = b, true
	}
}

// budgetText returns the lines of the budget screen.
func (m *Model) budgetText(all broker.Budgets) []view.Line {
	var out []view.Line
	for _, b := range all.Sessions {
		name := broker.ShortID(b.Session)
		if t := m.tabOf(b.Session); t != nil {
			name = t.name()
		}
		out = append(out, view.Line{Text: name, Head: true})
		out = append(out, usageLines(b.Used)...)
		out = append(out, view.Line{Key: "open for", Text: timespan.String(b.Used.Time.Round(time.Second))})
		out = append(out, view.Line{Key: "may use", Text: allowance(b.Allowance)})
	}
	out = append(out, view.Line{Text: "all sessions there ever were", Head: true})
	out = append(out, usageLines(all.Total)...)
	return append(out, view.Line{Text: ""},
		view.Line{Text: "Costs are estimated by the prices of " + text.Drawable(all.PricesDate) + "; the provider's bill decides."},
		view.Line{Text: "/budget +5 lets this tab use 5 dollars more."})
}

// usageLines returns the lines that describe a usage.
func usageLines(u broker.Usage) []view.Line {
	cost := fmt.Sprintf("$%.4f", u.CostUSD)
	if u.GuessedUSD > 0 {
		cost += fmt.Sprintf(", of which $%.4f for models whose price is not known", u.GuessedUSD)
	}
	return []view.Line{
		{Key: "cost", Text: cost},
		{Key: "tokens", Text: fmt.Sprintf("%s read, %s written; %s from and %s into the cache",
			short(u.In), short(u.Out), short(u.CacheRead), short(u.CacheWrite))},
		{Key: "requests", Text: strconv.FormatInt(u.Requests, 10)},
	}
}

// allowance says what a session may use.
func allowance(a broker.Allowance) string {
	var parts []string
	if a.CostUSD > 0 {
		parts = append(parts, fmt.Sprintf("$%.2f", a.CostUSD))
	}
	if a.Tokens > 0 {
		parts = append(parts, short(a.Tokens)+" tokens")
	}
	if a.Requests > 0 {
		parts = append(parts, fmt.Sprintf("%d requests", a.Requests))
	}
	if a.Time > 0 {
		parts = append(parts, a.Time.String())
	}
	if parts == nil {
		return "any amount"
	}
	return strings.Join(parts, ", ")
}

// spent returns the focused tab's usage for the status line, and its style.
func (m *Model) spent() (string, term.Style) {
	t := m.current()
	if t == nil || t.budget.Used.Tokens() == 0 {
		return "", term.Style{}
	}
	b := t.budget
	style := m.theme.Muted
	if b.Part >= nearlySpent {
		style = m.theme.Attention
	}
	return fmt.Sprintf(" $%.2f · %s tokens ", b.Used.CostUSD, short(b.Used.Tokens())), style
}

// short writes a number of tokens in few columns.
func short(n int64) string {
	switch {
	case n < 10_000:
		return strconv.FormatInt(n, 10)
	case n < 10_000_000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}
