package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// historyLength is how many decisions are shown.
const historyLength = 200

// runHistory is /history: what was decided, by whom, when and how.
func (m *Model) runHistory(string) (tea.Cmd, error) {
	return m.do(func(ctx context.Context) tea.Msg {
		decided, err := m.api.History(ctx, historyLength)
		return historyMsg{decided, err}
	}), nil
}

func (m *Model) onHistory(msg historyMsg) {
	if msg.err != nil {
		m.showError(msg.err)
		return
	}
	var lines []view.Line
	for _, d := range msg.decided {
		lines = append(lines, view.Line{
			Key:  fmt.Sprintf("%s tab %d", d.At.Local().Format(time.TimeOnly), d.Tab),
			Text: decidedText(d),
		})
	}
	for i := len(m.approvals.log) - 1; i >= 0; i-- { // of tabs that are closed by now
		if r := m.approvals.log[i]; m.tabOf(r.Session) == nil {
			lines = append(lines, view.Line{Text: resolutionText(r.Resolution)})
		}
	}
	if len(lines) == 0 {
		lines = []view.Line{{Text: "nothing was decided yet"}}
	}
	m.showHelp("decisions, newest first", lines)
}

// decidedText says how a call was decided: by whom, after how long, by which
// rule, on what ground, and what it was.
func decidedText(d broker.Decided) string {
	var b strings.Builder
	switch d.Decision {
	case "escalated-approved":
		fmt.Fprintf(&b, "approved by %s", deciderName(d.By))
	case "escalated-denied":
		fmt.Fprintf(&b, "denied by %s", deciderName(d.By))
	case "escalated-expired":
		b.WriteString("expired, nobody decided")
	case "escalated-withdrawn":
		b.WriteString("withdrawn")
	case "auto-approved":
		b.WriteString("approved automatically")
	case "granted":
		fmt.Fprintf(&b, "let through by grant %s of %s", detail(d, "grant"), deciderName(d.By))
	default:
		b.WriteString(view.Sanitize(d.Decision))
	}
	if d.Waited > 0 {
		fmt.Fprintf(&b, " after %s", d.Waited.Round(100*time.Millisecond))
	}
	fmt.Fprintf(&b, ": %s/%s %s", view.Sanitize(d.Server), view.Sanitize(d.Tool), view.Sanitize(string(d.Arguments)))
	fmt.Fprintf(&b, " (rule %s)", view.Sanitize(d.Rule))
	if d.Reason != "" && (d.Decision == "escalated-denied" || d.Decision == "escalated-withdrawn") {
		fmt.Fprintf(&b, "; the agent was told: %s", view.Sanitize(d.Reason))
	}
	if d.Detail["askedBeforeRestart"] == true {
		b.WriteString("; asked before the restart")
	}
	for _, ground := range []struct{ name, label string }{{"remembered", "remembered"}, {"receipt", "receipt"}, {"quote", "you wrote"}} {
		if text := detail(d, ground.name); text != "" {
			fmt.Fprintf(&b, "; %s: %s", ground.label, text)
		}
	}
	return b.String()
}

// detail is one thing the audit says a decision rests on, made safe to draw.
func detail(d broker.Decided, name string) string {
	v, ok := d.Detail[name]
	if !ok {
		return ""
	}
	return view.Sanitize(fmt.Sprint(v))
}
