package tui

import (
	"fmt"

	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/panel"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/tour"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// hints returns the hints for the status line: whether only a part of a tab, or one pane of a group, is
// shown, and then what the person can do in the present mode, the most useful first.
func (m *Model) hints() []string {
	if t := m.current(); t != nil && m.mode == modeTerminal {
		return append(input.NonEmpty(m.shownInPart(t), m.noRoom(t), m.zoomed(t)), m.modeHints()...)
	}
	return m.modeHints()
}

// modeHints returns what the person can do in the present mode.
func (m *Model) modeHints() []string {
	command := input.DisplayKey(m.keys.CommandKey)
	t := m.current()
	switch m.mode {
	case modeCommand:
		return m.commandHints()
	case modeCopy:
		return m.copying.Hints(m.keys)
	case modePicker:
		return m.pickerHints()
	case modeHere:
		return m.here.Hints(m.keys)
	case modeHelp:
		return m.listHints()
	}
	switch {
	case m.prefixed:
		return []string{"after " + input.DisplayKey(m.keys.Prefix) + " press one of these"}
	case m.o.Safe:
		return m.safeHints()
	case t == nil:
		return []string{command + " then /new opens a tab", "/quit leaves"}
	case m.strip.H > 0:
		return []string{command + " to decide"}
	case len(m.approvals.Items) > 0:
		return []string{command + " shows what waits for you"}
	case t.scrolled:
		return []string{view.Counted(t.linesBack(m.focusedRect()), "line") + " back", "scroll down or type to return"}
	case t.crop.Panned:
		return []string{"panned", "type to follow the cursor again"}
	case !t.attached && t.hasLog() && t.running():
		return input.NonEmpty(m.keys.Hint(input.PlaceStarting, input.ActLog, "shows the log"), command+" command line", t.stateWords())
	case !t.attached && t.hasLog():
		return input.NonEmpty(m.keys.Hint(input.PlaceStarting, input.ActLog, "log"), command+" then /restart or /close")
	case t.dead():
		if t.session.Ephemeral {
			return []string{command + " then /restart or /close"}
		}
		return []string{command + " then /restart, /resume or /close"}
	}
	first := command + " command line"
	if step, n, ok := m.tourStep(); ok {
		first = fmt.Sprintf("%d/%d %s", n, len(tour.Steps("")), step.Line)
	}
	return input.NonEmpty(first, t.stateWords(), m.mutedWords(t))
}

// commandHints returns what the person can do on the command line.
func (m *Model) commandHints() []string {
	if m.line.Searching() {
		return m.keys.SearchHints()
	}
	back := m.keys.Hint(input.PlaceCommand, input.ActLeave, "back")
	entries, chosen := m.menu()
	if chosen >= 0 {
		does := "puts it on the line"
		if m.beganWith("/tab ") {
			does = "shows it"
		}
		return input.NonEmpty(m.keys.Hint(input.PlaceCommand, input.ActEnter, does), back)
	}
	if len(m.approvals.Items) > 0 {
		return m.panelHints(back)
	}
	if m.line.Empty() {
		tabs := ""
		if prev, next := m.keys.KeyFor(input.PlaceEmpty, input.ActPrevTab), m.keys.KeyFor(input.PlaceEmpty, input.ActNextTab); prev != "" && next != "" {
			tabs = prev + next + " tabs"
		}
		pans := ""
		if t := m.current(); t != nil && t.cropped(m.focusedRect()) {
			pans = m.keys.Hint(input.PlaceEmpty, input.ActPanRight, "pans")
		}
		if _, _, on := m.tourStep(); on {
			return input.NonEmpty("/ commands", m.keys.Hint(input.PlaceEmpty, input.ActEndTour, "ends the tour"), back)
		}
		return input.NonEmpty(pans, "text goes to the agent", "/ commands", tabs, m.keys.Hint(input.PlaceEmpty, input.ActKeys, "keys"), back)
	}
	if len(entries) > 0 {
		return input.NonEmpty(m.keys.Hint(input.PlaceMenu, input.ActMenuDown, "chooses"), m.keys.Hint(input.PlaceCommand, input.ActComplete, "completes"), m.keys.Hint(input.PlaceCommand, input.ActEnter, "runs it"), back)
	}
	enter := "sends"
	if m.line.IsCommand() {
		enter = "runs it"
	}
	return input.NonEmpty(m.keys.Hint(input.PlaceCommand, input.ActEnter, enter), m.keys.Hint(input.PlaceCommand, input.ActLeave, "back, keeps the text"))
}

// panelHints returns what the person can do on the command line while a call waits. back says how to
// leave it.
func (m *Model) panelHints(back string) []string {
	more, next := "", ""
	if m.panelHasMore() {
		more = m.keys.Hint(input.PlacePanel, input.ActPanelPage, "more")
	}
	if m.approvals.Focused() {
		if len(m.approvals.Items) > 1 {
			next = m.keys.Hint(input.PlacePanel, input.ActPanelNext, "next")
		}
		chosen := ""
		if c := m.approvals.Choice(); c != panel.ChooseNothing {
			chosen = m.keys.Hint(input.PlaceDecide, input.ActDecide, map[panel.Choice]string{panel.ChooseApprove: "approves", panel.ChooseDeny: "denies"}[c])
		}
		return input.NonEmpty(chosen, more, m.keys.Hint(input.PlaceDecide, input.ActApprove, "approves"), m.keys.Hint(input.PlaceDecide, input.ActDeny, "denies"), next, back)
	}
	if m.line.Empty() {
		next = m.keys.Hint(input.PlacePanel, input.ActPanelNext, "y/n")
	}
	return input.NonEmpty("/approve", "/deny [reason]", more, next, back)
}

// mutedWords returns the hint that the tab, or every tab, is muted.
func (m *Model) mutedWords(t *tab) string {
	switch {
	case m.muted:
		return "all muted"
	case t.muted:
		return "muted"
	}
	return ""
}
