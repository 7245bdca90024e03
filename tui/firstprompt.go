package tui

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// When an agent is taken to be ready for its first prompt.
const (
	// readyQuiet is how long it must have drawn nothing.
	readyQuiet = 700 * time.Millisecond
	// readyPatience is how long it is waited for that an agent asks for pastes
	// to be marked, as every editor of lines does; some programs have none.
	readyPatience = 5 * time.Second
	// toolPatience is how long an agent is waited for that does not ask for its
	// tools: longer than any takes that will, since they give up after 30 seconds.
	toolPatience = time.Minute
	// readyEvery is how often it is looked.
	readyEvery = 100 * time.Millisecond
)

// expectPrompt has a tab's first prompt sent as soon as its agent is ready.
func (m *Model) expectPrompt(t *tab, prompt []input.Piece) tea.Cmd {
	if len(prompt) == 0 {
		return nil
	}
	t.first, m.dirty = prompt, true
	return m.after(readyEvery, readyMsg{t.session.ID})
}

// onReady sends a tab's first prompt when its agent is ready, and otherwise looks
// again in a while.
func (m *Model) onReady(msg readyMsg) tea.Cmd {
	t := m.tabOf(msg.id)
	if t == nil || t.first == nil {
		return nil
	}
	prompt := t.first
	if t.dead() {
		t.first = nil
		where := m.line.PutBack(prompt)
		m.showError(fmt.Errorf("%s ended before its first prompt was sent; the text is kept %s", text.Drawable(t.title()), where))
		return nil
	}
	if !t.readyForPrompt(m.now()) {
		return m.after(readyEvery, msg)
	}
	t.first, m.dirty = nil, true
	m.touched = true // what to try would stand over the answer
	if t.session.State == broker.StateStarting {
		m.showInfo(fmt.Sprintf("tab %d: %s has not asked for its tools within %s; its first prompt is sent all the same",
			t.session.Tab, text.Drawable(t.title()), view.Stopwatch(toolPatience)))
	}
	return m.submit(broker.TrustedInput{Session: t.session.ID, Text: input.TextOf(prompt), Spans: input.SpansOf(prompt)}, prompt)
}

// readyForPrompt reports whether the agent would take typing for a prompt: it has
// its tools, without which some agents would answer at once, and asks for nothing, it
// edits lines, and it has finished drawing.
func (t *tab) readyForPrompt(now time.Time) bool {
	connected := t.session.State == broker.StateIdle ||
		t.session.State == broker.StateStarting && now.Sub(t.attachedAt) >= toolPatience
	if !t.attached || !connected || now.Sub(t.pane.LastOutput()) < readyQuiet {
		return false
	}
	return t.pane.Screen.Modes().BracketedPaste || now.Sub(t.attachedAt) >= readyPatience
}
