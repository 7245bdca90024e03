package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/pane"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/panel"
)

// closeTime bounds how long ending a session may take before the person is
// told so.
const closeTime = 60 * time.Second

// do runs work that may take time outside the event loop, and delivers what it
// returns as a message. The group waits for it at the end.
func (m *Model) do(work func(ctx context.Context) tea.Msg) tea.Cmd {
	ctx, tasks := m.ctx, m.tasks
	return func() (msg tea.Msg) {
		if !tasks.Add() {
			return nil
		}
		defer tasks.Done()
		tasks.Run(func() { msg = work(ctx) })
		return msg
	}
}

// after delivers a message once some time has passed.
func (m *Model) after(d time.Duration, msg tea.Msg) tea.Cmd {
	return m.do(func(ctx context.Context) tea.Msg {
		if !m.pause(ctx, d) {
			return nil
		}
		return msg
	})
}

// fetchAgents asks which agents there are.
func (m *Model) fetchAgents() tea.Cmd {
	return m.do(func(ctx context.Context) tea.Msg {
		agents, err := m.api.Agents(ctx)
		return agentsMsg{agents, err}
	})
}

// tabRequest is a tab that is asked for.
type tabRequest struct {
	agent     string
	workspace string
	worktree  broker.WorktreeChoice
	prompt    []input.Piece    // sent once the agent is ready
	line      []input.Piece    // the command that asked for it
	replace   broker.SessionID // the tab it takes the place of
	resume    broker.SessionID // the stored session to continue, with its own agent and workspace
}

// open asks for a new session, or for a stored one to go on.
func (m *Model) open(o tabRequest) tea.Cmd {
	m.opening++
	r := broker.OpenRequest{
		Agent:     o.agent,
		Workspace: o.workspace,
		Worktree:  o.worktree,
		Resume:    o.resume,
		Replaces:  o.replace,
		Cols:      max(1, m.lay.Viewport.W),
		Rows:      max(1, m.lay.Viewport.H),
	}
	return m.do(func(ctx context.Context) tea.Msg {
		s, err := m.api.Open(ctx, r)
		return openedMsg{tabRequest: o, session: s, err: err}
	})
}

// fetchStored asks which sessions there are on disk.
func (m *Model) fetchStored(prefix string) tea.Cmd {
	return m.do(func(ctx context.Context) tea.Msg {
		sessions, err := m.api.Stored(ctx)
		return storedMsg{prefix, sessions, err}
	})
}

// attach connects a pane to the terminal of its session's agent; it waits
// until the agent runs.
func (m *Model) attach(p *pane.Pane, id broker.SessionID) tea.Cmd {
	return m.do(func(context.Context) tea.Msg {
		return attachedMsg{id, p.Connect(m.api)}
	})
}

// closePane closes the pane of a tab that is gone.
func (m *Model) closePane(p *pane.Pane) tea.Cmd {
	return m.do(func(context.Context) tea.Msg {
		p.Close()
		return nil
	})
}

// endSession asks the broker to end a session.
func (m *Model) endSession(id broker.SessionID) tea.Cmd {
	return m.do(func(ctx context.Context) tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, closeTime)
		defer cancel()
		return closedMsg{id, m.api.Close(ctx, id)}
	})
}

// fetchOffer asks for the sessions on disk once it is known that some of their
// agents were left running; otherwise there are none to offer.
func (m *Model) fetchOffer() tea.Cmd {
	return m.do(func(ctx context.Context) tea.Msg {
		if !m.o.Offer(ctx) {
			return storedMsg{}
		}
		sessions, err := m.api.Stored(ctx)
		return storedMsg{"", sessions, err}
	})
}

// endStored asks the broker to end an agent that was left running, and lists
// the sessions again.
func (m *Model) endStored(id broker.SessionID) tea.Cmd {
	return m.do(func(ctx context.Context) tea.Msg {
		ending, cancel := context.WithTimeout(ctx, closeTime)
		defer cancel()
		if err := m.api.Close(ending, id); err != nil {
			return closedMsg{id, err}
		}
		sessions, err := m.api.Stored(ctx)
		return storedMsg{"", sessions, err}
	})
}

// decide sends a decision.
func (m *Model) decide(e broker.Escalation, what panel.Decision) tea.Cmd {
	d := broker.Decision{
		ID: e.ID, Digest: e.Digest, Effect: e.Fingerprint(), Approve: what.Approve, Reason: what.Reason, By: "tui", Remember: what.Remember,
	}
	return m.do(func(ctx context.Context) tea.Msg {
		r, err := m.api.Decide(ctx, d)
		return decidedMsg{e.ID, e.Number, what.Approve, r, err}
	})
}

// submit records trusted input; the pieces come back with the answer, so that
// nothing typed is lost when it could not be sent.
func (m *Model) submit(in broker.TrustedInput, pieces []input.Piece) tea.Cmd {
	slot := 0
	if t := m.tabOf(in.Session); t != nil {
		slot = t.pane.Queue.Reserve() // what is typed next comes after it
	}
	return m.do(func(ctx context.Context) tea.Msg {
		r, err := m.api.Submit(ctx, in)
		return submittedMsg{in.Session, slot, pieces, r, err}
	})
}
