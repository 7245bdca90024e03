package tui

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/pane"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/panel"
)

// closeTime bounds how long ending a session may take before that is an error.
const closeTime = 60 * time.Second

// do returns a command that runs work outside of the event loop and delivers its result as
// a message. Tasks.Wait waits for the work.
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

// request asks for something outside of the event loop, and shows the answer or the error.
func request[T any](m *Model, ask func(ctx context.Context) (T, error), show func(T)) tea.Cmd {
	return m.do(func(ctx context.Context) tea.Msg {
		answer, err := ask(ctx)
		return answerMsg(func() {
			if err != nil {
				m.showError(err)
				return
			}
			show(answer)
		})
	})
}

// carryOut does something outside of the event loop, and shows the error or, unless it is empty, what was
// done.
func (m *Model) carryOut(done string, out func(ctx context.Context) error) tea.Cmd {
	work := func(ctx context.Context) (string, error) { return done, out(ctx) }
	return request(m, work, func(done string) {
		if done != "" {
			m.showSuccess(done)
		}
	})
}

// after delivers a message after a time.
func (m *Model) after(d time.Duration, msg tea.Msg) tea.Cmd {
	return m.do(func(ctx context.Context) tea.Msg {
		if !m.pause(ctx, d) {
			return nil
		}
		return msg
	})
}

// fetchAgents asks which agents there are, for completion.
func (m *Model) fetchAgents() tea.Cmd {
	return m.do(func(ctx context.Context) tea.Msg {
		agents, err := m.api.Agents(ctx)
		return answerMsg(func() {
			if err == nil {
				m.agents = agents
			}
		})
	})
}

// tabRequest is a request for a tab.
type tabRequest struct {
	agent     string
	workspace string
	worktree  broker.WorktreeChoice
	repo      string // the URL of a repository to clone instead
	branch    string // of that repository
	policy    string // the directory of the tab's own policy
	profile   broker.Profile
	prompt    []input.Piece    // sent once the agent is ready
	line      []input.Piece    // the command line that made the request
	replace   broker.SessionID // the session whose tab the new one replaces
	resume    broker.SessionID // the stored session to resume, with its own agent and workspace
	back      bool             // the session is one of those that are taken back together
	first     bool             // only if there is no tab, or none with the profile
	beside    half             // where the tab is shown
}

// open asks the broker for a new session, or to resume a stored one.
func (m *Model) open(o tabRequest) tea.Cmd {
	m.opening++
	cols, rows := m.firstSize(m.room(o.beside))
	r := broker.OpenRequest{
		Agent:     o.agent,
		Workspace: o.workspace,
		Worktree:  o.worktree,
		Repo:      o.repo,
		Branch:    o.branch,
		Policy:    o.policy,
		Profile:   o.profile,
		Resume:    o.resume,
		Replaces:  o.replace,
		First:     o.first,
		Opener:    m.o.Opener,
		Cols:      cols,
		Rows:      rows,
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

// attach waits until a session's agent runs and connects the pane to its terminal.
func (m *Model) attach(p *pane.View, id broker.SessionID) tea.Cmd {
	return m.do(func(ctx context.Context) tea.Msg {
		return attachedMsg{id, p.Connect(ctx, m.api)}
	})
}

// closePane closes the pane of a tab that is gone.
func (m *Model) closePane(t *tab) tea.Cmd {
	view, session := t.pane, t.session
	return m.do(func(context.Context) tea.Msg {
		view.Leave()
		m.mux.Remove(session)
		return nil
	})
}

// endSession asks the broker to end a session.
func (m *Model) endSession(id broker.SessionID) tea.Cmd {
	return m.carryOut("", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, closeTime)
		defer cancel()
		return fault.Wrap("close", m.api.Close(ctx, id), "")
	})
}

// fetchOffer asks whether agents were left running and, if so, lists the sessions on disk.
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
			return answerMsg(func() { m.showError(fmt.Errorf("close: %w", err)) })
		}
		sessions, err := m.api.Stored(ctx)
		return storedMsg{"", sessions, err}
	})
}

// decide sends a decision to the broker.
func (m *Model) decide(e broker.Escalation, what panel.Decision) tea.Cmd {
	d := broker.Decision{
		ID: e.ID, Digest: e.Digest, Effect: e.Fingerprint(), Approve: what.Approve, Reason: what.Reason, By: broker.ByLine, Client: m.o.Client, Remember: what.Remember,
	}
	if what.Key {
		d.By = broker.ByKey
	}
	return m.do(func(ctx context.Context) tea.Msg {
		r, err := m.api.Decide(ctx, d)
		return decidedMsg{e.ID, e.Number, what.Approve, r, err}
	})
}

// submit sends trusted input to the broker, which records it. The answer contains the pieces, so
// that they can be put back on the line after an error.
func (m *Model) submit(in broker.TrustedInput, pieces []input.Piece) tea.Cmd {
	slot := 0
	if t := m.tabOf(in.Session); t != nil {
		slot = t.pane.Reserve() // keys that are typed meanwhile come after it
	}
	return m.do(func(ctx context.Context) tea.Msg {
		in.Client = m.o.Client
		r, err := m.api.Submit(ctx, in)
		return submittedMsg{in.Session, slot, pieces, r, err}
	})
}
