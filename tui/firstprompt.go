package tui

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/here"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// openFirst opens the first tab. In a project it first asks whether to work there.
func (m *Model) openFirst() tea.Cmd {
	if m.o.Resume != "" {
		return m.open(tabRequest{resume: m.o.Resume, prompt: input.Pasted(m.o.Prompt)})
	}
	if m.o.Here != nil {
		m.askHere()
		return nil
	}
	return m.openFirstIn(m.o.Workspace, m.o.Worktree)
}

// openFirstIn opens the first tab in a workspace.
func (m *Model) openFirstIn(workspace string, worktree broker.WorktreeChoice) tea.Cmd {
	// The text of a program's command line may come from anywhere, so it counts as
	// pasted.
	return m.open(tabRequest{
		agent: m.o.Agent, workspace: workspace, worktree: worktree, repo: m.o.Repo, branch: m.o.Branch,
		profile: m.o.Profile, prompt: input.Pasted(m.o.Prompt), first: m.o.Detach && !m.o.Add,
	})
}

// askHere asks whether to work in the project in which the person has started the program.
func (m *Model) askHere() {
	m.here = here.Ask(*m.o.Here)
	m.mode, m.messages, m.dirty = modeHere, view.Messages{}, true
}

// onHereKey answers that question and opens the first tab, unless there are others and the person
// does not want to work in the project.
func (m *Model) onHereKey(name string) tea.Cmd {
	choice := m.here.Answer(m.keys, name, m.now())
	if choice == "" {
		return nil
	}
	project := m.here.Project
	m.here, m.o.Here = here.Question{}, nil
	m.leaveCommand()
	keep := m.do(func(context.Context) tea.Msg {
		if choice == here.Later {
			return nil
		}
		return askedMsg{fault.Wrap("keep the answer", project.Keep(choice), "you will be asked again")}
	})
	workspace, worktree := m.o.Workspace, m.o.Worktree
	switch choice {
	case here.Yes:
		workspace, worktree = project.Dir, broker.WorktreeNo
	case here.Worktree:
		workspace, worktree = project.Dir, broker.WorktreeYes
	case here.No, here.Later:
		if len(m.tabs) > 0 && !m.o.Add {
			m.placed = true
			return keep
		}
	}
	m.placed, m.o.Add = false, m.o.Add || len(m.tabs) > 0
	return join(keep, m.openFirstIn(workspace, worktree))
}

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
