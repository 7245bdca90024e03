package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/panel"
)

// againText tells an agent to make a call again that has expired. The words are ours and not the
// person's, so they count as pasted.
const againText = "Nobody was there to decide about your last call that needed approval, and so it was refused. Somebody is here now: make that call again."

// askAgain is /history again: it tells the agent of an expired call to make it again. Without a
// number it is the newest one.
func (m *Model) askAgain(number string) (tea.Cmd, error) {
	n, isNumber := input.Number(strings.TrimPrefix(number, "#"))
	if number != "" && !isNumber {
		return nil, fault.New("/history again 5", "%s is not the number of a call", text.Drawable(number))
	}
	var expired *panel.SettledCall
	for i, s := range m.approvals.Log {
		if s.Outcome == broker.Expired && (number == "" || s.Number == n) {
			expired = &m.approvals.Log[i]
		}
	}
	if expired == nil {
		return nil, fault.New("/history lists what was decided", "no such call has expired while this view was open")
	}
	t := m.tabOf(expired.Session)
	if t == nil || t.dead() {
		return nil, fault.New("/resume continues its session", "the agent of call #%d has ended", expired.Number)
	}
	words := input.Pasted(againText)
	return m.submit(broker.TrustedInput{Session: t.session.ID, Text: input.TextOf(words), Spans: input.SpansOf(words)}, words), nil
}
