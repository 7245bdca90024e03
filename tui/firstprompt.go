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

// These times decide when an agent counts as ready for its first prompt.
const (
	// readyQuiet is how long the agent must have written nothing.
	readyQuiet = 700 * time.Millisecond
	// editorTimeout is how long to wait until the agent asks for bracketed paste, which
	// every line editor does. Programs without a line editor never ask.
	editorTimeout = 5 * time.Second
	// toolTimeout is how long to wait until the agent asks for its tools. Agents that use
	// tools give up after 30 seconds, so after this time the agent will not ask any more.
	toolTimeout = time.Minute
	// readyEvery is the time between two checks.
	readyEvery = 100 * time.Millisecond
)

// expectPrompt sends a tab's first prompt as soon as its agent is ready.
func (m *Model) expectPrompt(t *tab, prompt []input.Piece) tea.Cmd {
	if len(prompt) == 0 {
		return nil
	}
	t.pane.SetFirst(prompt)
	m.dirty = true
	return m.awaitReady(t)
}

// awaitReady checks soon whether a tab's first prompt can be sent, if it has one.
func (m *Model) awaitReady(t *tab) tea.Cmd {
	if t.pane.First() == nil || !m.may() {
		return nil
	}
	return m.after(readyEvery, readyMsg{t.session.ID})
}

// onReady sends a tab's first prompt when its agent is ready, and otherwise checks again
// after readyEvery.
func (m *Model) onReady(msg readyMsg) tea.Cmd {
	t := m.tabOf(msg.id)
	if t == nil || t.pane.First() == nil {
		return nil
	}
	if t.dead() {
		prompt := t.pane.TakeFirst()
		where := m.line.PutBack(prompt)
		m.showError(fmt.Errorf("%s ended before its first prompt was sent; the text is kept %s", text.Drawable(t.title()), where))
		return nil
	}
	if !t.readyForPrompt(m.now()) {
		return m.after(readyEvery, msg)
	}
	prompt := t.pane.TakeFirst()
	if prompt == nil {
		return nil // another view was faster
	}
	m.dirty = true
	m.touched = true // the intro would cover the answer
	if t.session.State == broker.StateStarting {
		m.showInfo(fmt.Sprintf("%s has not asked for its tools within %s; its first prompt is sent all the same",
			t.name(), view.Stopwatch(toolTimeout)))
	}
	return m.submit(broker.TrustedInput{Session: t.session.ID, Text: input.TextOf(prompt), Spans: input.SpansOf(prompt)}, prompt)
}

// readyForPrompt reports whether the agent would take typed text for a prompt. It must be
// idle and have its tools, because some agents answer at once without them; it must have
// asked for bracketed paste, and have stopped drawing. The two timeouts replace the wait for
// tools and for bracketed paste.
func (t *tab) readyForPrompt(now time.Time) bool {
	connected := t.session.State == broker.StateIdle ||
		t.session.State == broker.StateStarting && now.Sub(t.attachedAt) >= toolTimeout
	if !t.attached || !connected || now.Sub(t.pane.LastOutput()) < readyQuiet {
		return false
	}
	return t.pane.Screen.Modes().BracketedPaste || now.Sub(t.attachedAt) >= editorTimeout
}
