package tui

import (
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/panel"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// The messages the model is driven by. Each is named for what has happened.
type (
	// inputMsg is one event of the person's terminal.
	inputMsg struct{ event keys.Event }

	// sizeMsg is the size of the person's terminal.
	sizeMsg struct{ cols, rows int }

	// brokerMsg is one event of the broker.
	brokerMsg struct{ event broker.Event }

	// listedMsg is the whole state of the broker, listed when events were
	// first subscribed to, and again after some may have been missed.
	listedMsg struct {
		at       time.Time // when the listing began
		sessions []broker.Session
		pending  []broker.Escalation
	}

	// brokerLostMsg tells that the broker's events cannot be had.
	brokerLostMsg struct{ err error }

	// openedMsg answers a request for a new session.
	openedMsg struct {
		tabRequest
		session broker.Session
		err     error
	}

	// storedMsg lists the sessions on disk, for the picker or, with a prefix,
	// to find the one that is meant.
	storedMsg struct {
		prefix   string
		sessions []broker.StoredSession
		err      error
	}

	// attachedMsg answers an attempt to connect to an agent's terminal.
	attachedMsg struct {
		id  broker.SessionID
		err error
	}

	// beganMsg tells that an agent has something to show.
	beganMsg struct{}

	// endedMsg tells that a pane's terminal has nothing more to say.
	endedMsg struct {
		id  broker.SessionID
		err error
	}

	// closedMsg answers a request to end a session.
	closedMsg struct {
		id  broker.SessionID
		err error
	}

	// readyMsg asks whether a tab is ready for its first prompt.
	readyMsg struct{ id broker.SessionID }

	// decidedMsg answers a decision.
	decidedMsg struct {
		id         string
		number     int
		approve    bool
		resolution broker.Resolution
		err        error
	}

	// scopesMsg is what the approval of a call could be remembered for.
	scopesMsg struct {
		id     string
		scopes []broker.Scope
		err    error
	}

	// grantsMsg lists the grants, to be shown or, with a number or
	// "all", to be ended.
	grantsMsg struct {
		revoke string
		grants []broker.Grant
		err    error
	}

	// revokedMsg answers a request to end grants.
	revokedMsg struct {
		grants []broker.Grant // those that were ended
		err    error
	}

	// undoMsg lists what was approved automatically.
	undoMsg struct {
		list []broker.AutoApproval
		err  error
	}

	// historyMsg lists what was decided.
	historyMsg struct {
		decided []broker.Decided
		err     error
	}

	// forgottenMsg answers a request to drop a receipt.
	forgottenMsg struct{ err error }

	// laidOutMsg is a large call laid out for the panel.
	laidOutMsg struct {
		id   string
		body panel.Body
	}

	// submittedMsg answers a trusted input.
	submittedMsg struct {
		id      broker.SessionID
		slot    int // kept for it in the agent's input
		pieces  []input.Piece
		receipt broker.Receipt
		err     error
	}

	// paintedMsg tells that the scene Seq stands on the person's terminal.
	paintedMsg struct {
		seq uint64
		at  time.Time
	}

	// continuedMsg tells that the program goes on after it was stopped: the screen was
	// somebody else's meanwhile.
	continuedMsg struct{}

	// retitleMsg comes when the title of the window may change again.
	retitleMsg struct{}

	// tickMsg comes once a second while something on screen counts time.
	tickMsg struct{}

	// paneMsg is something a program asked its terminal for besides drawing:
	// a bell, a title, something to copy.
	paneMsg struct {
		id    broker.SessionID
		event term.Event
	}

	// copyMsg comes when a program may copy again.
	copyMsg struct{}

	// finishedMsg asks whether a session still asks for nothing, when its state
	// had changed so many times.
	finishedMsg struct {
		id      broker.SessionID
		changes int
	}

	// notifiedMsg tells that the person's command for notifications failed.
	notifiedMsg struct{ err error }

	// editedMsg tells that the person's editor has ended.
	editedMsg struct{ err error }

	// completedMsg is what a word on the command line may become.
	completedMsg struct {
		before string // the line before the cursor, as it was
		stem   string
		found  []string
	}

	// agentsMsg lists the agents a tab can be opened with, for completion.
	agentsMsg struct {
		agents []broker.Agent
		err    error
	}

	// budgetsMsg is what all sessions have used.
	budgetsMsg struct {
		budgets broker.Budgets
		err     error
	}

	// raisedMsg is the answer to a raise.
	raisedMsg struct {
		budget broker.Budget
		err    error
	}

	// startLogMsg is how a session was started.
	startLogMsg struct {
		id  broker.SessionID
		log broker.StartLog
		err error
	}

	// changesMsg is what has changed in a session's workspace.
	changesMsg struct {
		title string
		lines []view.Line
		err   error
	}
)
