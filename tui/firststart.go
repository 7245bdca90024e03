package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/here"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/layout"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/tour"
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
	// The prompt on a program's command line may come from anywhere, so it counts as pasted.
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

// onHereKey handles a key for the question about the project. It opens the first tab, unless the person
// does not want to work in the project and other tabs are open.
func (m *Model) onHereKey(name string) tea.Cmd {
	choice := m.here.Answer(m.keys, name, m.now())
	if choice == "" {
		return nil
	}
	project := m.here.Project
	m.here, m.o.Here, m.answered = here.Question{}, nil, m.pressedKey
	m.leaveCommand()
	keep := m.carryOut("", func(context.Context) error {
		if !project.Keeps(choice) {
			return nil
		}
		return fault.Wrap("store the answer", project.Keep(choice), "you will be asked again")
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

// The first start also shows a tour in the status line, asks once about a prefix key, and explains the
// phrase in the panel.

// shownFor is how long an explanation or a question must have been on the screen to count as seen.
const shownFor = time.Second

// introduces reports whether this view shows what a first start explains and asks.
func (m *Model) introduces() bool { return m.o.KeepSeen != nil && m.mayOperate() && !m.o.Safe }

// tourStep returns the step of the tour that the person is at.
func (m *Model) tourStep() (step tour.Step, n int, ok bool) {
	if !m.introduces() {
		return tour.Step{}, 0, false
	}
	return m.o.Seen.Step(input.DisplayKey(m.keys.CommandKey))
}

// did notes something that the person has done, for the tour.
func (m *Model) did(d tour.Did) {
	if m.introduces() && m.o.Seen.Note(d) {
		m.keepSeen()
	}
}

// endTour ends the tour.
func (m *Model) endTour() {
	if _, _, ok := m.tourStep(); ok {
		m.o.Seen.End()
		m.keepSeen()
	}
}

// keepSeen stores what the person has seen.
func (m *Model) keepSeen() {
	m.dirty = true
	keep, seen := m.o.KeepSeen, m.o.Seen
	m.later = join(m.later, m.carryOut("", func(context.Context) error { return keep(seen) }))
}

// leftLine notes that the person has left the command line, and which question or note they have seen
// above it.
func (m *Model) leftLine() {
	long := func(since time.Time) bool { return !since.IsZero() && m.now().Sub(since) >= shownFor }
	seen := m.o.Seen
	seen.Prefix = seen.Prefix || long(m.prefixAsked)
	seen.Phrase = seen.Phrase || long(m.phraseShown)
	m.prefixAsked, m.phraseShown = time.Time{}, time.Time{}
	if m.o.KeepSeen != nil && seen != m.o.Seen {
		m.o.Seen = seen
		m.keepSeen()
	}
	if m.begunStep == m.o.Seen.Steps { // one visit ends one step
		m.did(tour.Left)
	}
}

// offeredPrefix is the prefix key that the first start offers, because people who use tmux know it.
const offeredPrefix = "ctrl+b"

// asksPrefix reports whether the question about a prefix key is to be shown now.
func (m *Model) asksPrefix() bool {
	return m.mode == modeCommand && m.question == nil && m.line.Empty() && m.approvals.Current() == nil &&
		m.introduces() && !m.o.Seen.Prefix && m.keys.Prefix == "" && m.keys.CommandKey != offeredPrefix
}

// prefixQuestion returns the rows of the question about a prefix key.
func (m *Model) prefixQuestion() []string {
	if !m.asksPrefix() {
		return nil
	}
	choice := m.o.choice()
	choice.Prefix = offeredPrefix
	with, err := input.Bind(choice)
	key := m.keys.KeyFor(input.PlaceEmpty, input.ActTakePrefix)
	if err != nil || key == "" {
		return nil // the person has bound keys that exclude this prefix key
	}
	width := max(1, m.lay.Viewport.W-4)
	rows := view.WrapWords(fmt.Sprintf("Do you know tmux? Press %s now, and %s becomes a prefix key as in tmux, beside %s. These keys then follow it:", key, input.DisplayKey(offeredPrefix), input.DisplayKey(m.keys.CommandKey)), width)
	rows = append(rows, view.WrapHints(prefixHints(with)[1:], width)...)
	return append(rows, view.WrapWords("Any other key means no. You are asked once; /prefix changes it later.", width)...)
}

// takePrefix answers the question about a prefix key with yes.
func (m *Model) takePrefix() tea.Cmd {
	if !m.asksPrefix() || m.prefixAsked.IsZero() { // zero: there was no room for the question
		return nil
	}
	m.o.Seen.Prefix = true
	m.keepSeen()
	cmd, err := m.runPrefix(offeredPrefix)
	if err != nil {
		m.showError(err)
		return nil
	}
	m.leaveCommand() // the new key works outside of the command line
	return cmd
}

// runPrefix is /prefix [KEY|none].
func (m *Model) runPrefix(args string) (tea.Cmd, error) {
	if args == "" && m.keys.Prefix == "" {
		return nil, fault.New("/prefix ctrl+b sets the one of tmux", "there is no prefix key")
	} else if args == "" {
		m.showInfo(strings.Join(prefixHints(m.keys), " · "))
		return nil, nil
	}
	choice := m.o.choice()
	if choice.Prefix = args; args == "none" {
		choice.Prefix = ""
	}
	bound, err := input.Bind(choice)
	if err != nil {
		var wrong *input.KeyError
		if errors.As(err, &wrong) && wrong.Member == "prefix" {
			err = wrong.Err
		}
		return nil, fmt.Errorf("/prefix: %w", err)
	}
	m.keys, m.o.Prefix = bound, bound.Prefix
	done := "there is no longer a prefix key"
	if bound.Prefix != "" {
		done = fmt.Sprintf("%s is now the prefix key; press it to see which keys can follow", input.DisplayKey(bound.Prefix))
	}
	keep, key := m.o.KeepPrefix, bound.Prefix
	if keep == nil {
		m.showInfo(done)
		return nil, nil
	}
	return m.carryOut(done, func(context.Context) error {
		return fault.Wrap("store the prefix key", keep(key), "this terminal uses the key until you leave")
	}), nil
}

// prefixHints lists the keys that can follow the prefix key, the most used ones first.
func prefixHints(k *input.Keys) []string {
	hints := []string{"after " + input.DisplayKey(k.Prefix)}
	for _, h := range []struct {
		action input.Action
		does   string
	}{
		{"help", "all keys"},
		{"new", "new tab"},
		{"next", "next"},
		{"prev", "previous"},
		{"last", "last"},
		{"split right", "beside"},
		{"split down", "below"},
		{"focus", "next pane"},
		{"zoom", "zoom"},
		{"layout", "layout"},
		{"copy", "copy mode"},
		{input.ActPaste, "paste"},
		{"begin rename", "name"},
		{"begin tab", "tabs"},
		{"resume", "sessions"},
		{input.ActCommand, "command line"},
		{"close", "close"},
		{"detach", "leave"},
		{input.ActTab, "tab 1"},
	} {
		hints = append(hints, k.Hint(input.PlacePrefix, h.action, h.does))
	}
	sides := ""
	for _, side := range layout.Sides {
		sides += k.KeyFor(input.PlacePrefix, input.Action("focus "+side))
	}
	if sides != "" {
		hints = append(hints, sides+" pane there")
	}
	return input.NonEmpty(hints...)
}

// These times decide when an agent counts as ready for its first prompt.
const (
	// readyQuiet is how long the agent must have written nothing.
	readyQuiet = 700 * time.Millisecond
	// editorTimeout is how long to wait until the agent asks for bracketed paste, which
	// every line editor does. Programs without a line editor never ask.
	editorTimeout = 5 * time.Second
	// toolTimeout is how long to wait until the agent asks for its tools. Agents that use tools
	// give up after 30 seconds, so after this time the agent will never ask.
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
	if t.pane.First() == nil || !m.mayOperate() {
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
		m.showError(fmt.Errorf("%s ended before its first prompt was sent; the text is kept %s", t.title(), where))
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
		m.showInfo(fmt.Sprintf("%s has not asked for its tools within %s; its first prompt was sent anyway",
			t.name(), view.Stopwatch(toolTimeout)))
	}
	return m.submit(broker.TrustedInput{Session: t.session.ID, Text: input.TextOf(prompt), Spans: input.SpansOf(prompt)}, prompt)
}

// readyForPrompt reports whether the agent would read typed text as a prompt. It must be idle and have
// its tools, because some agents otherwise answer at once without them; it must have asked for
// bracketed paste, and have stopped drawing. toolTimeout and editorTimeout bound the wait for tools
// and for bracketed paste.
func (t *tab) readyForPrompt(now time.Time) bool {
	connected := t.session.State == broker.StateIdle ||
		t.session.State == broker.StateStarting && now.Sub(t.attachedAt) >= toolTimeout
	if !t.attached || !connected || now.Sub(t.pane.LastOutput()) < readyQuiet {
		return false
	}
	return t.pane.Screen.Modes().BracketedPaste || now.Sub(t.attachedAt) >= editorTimeout
}
