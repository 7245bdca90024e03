package broker

import (
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/session"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
)

// SessionID names a session for as long as its directory exists.
type SessionID = stored.ID

// Session describes one tab's session.
type Session = stored.Session

// StoredSession is a session as its directory tells of it.
type StoredSession = stored.Entry

// Worktree says of which repository, branch and commit a session's worktree is.
type Worktree = stored.Worktree

// SessionState is where a session stands in its life. It comes from what the
// broker itself sees, never from the agent's screen.
type SessionState = stored.State

// The states of a session.
const (
	StateStarting = stored.StateStarting
	StateIdle     = stored.StateIdle
	StateWorking  = stored.StateWorking
	StateWaiting  = stored.StateWaiting
	StateUnknown  = stored.StateUnknown
	StateDead     = stored.StateDead
	StateClosed   = stored.StateClosed
)

// Obeyed is what programs of this machine would run or obey by themselves of a
// workspace, and that was not so when its session began.
type Obeyed = stored.Obeyed

// Danger is one of these.
type Danger = stored.Danger

// LabelSession names the session a container belongs to.
const LabelSession = stored.LabelSession

// OpenRequest says what a new session shall be.
type OpenRequest = session.Request

// WorktreeChoice says whether a session gets a worktree of its workspace.
type WorktreeChoice = session.WorktreeChoice

// The choices of a worktree.
const (
	WorktreeAsConfigured = session.WorktreeAsConfigured
	WorktreeYes          = session.WorktreeYes
	WorktreeNo           = session.WorktreeNo
)

// Progress is a step of starting a session.
type Progress = session.Progress

// StartLog is how a session was started, line by line.
type StartLog = session.StartLog

// StartLine is one line of a StartLog.
type StartLine = session.StartLine

// Terminal is the attachment to an agent's terminal.
type Terminal = session.Terminal

// Turn is a task that an agent carried out without a terminal.
type Turn = session.Turn

// Changes is what changed in a session's workspace since its agent was first started.
type Changes = session.Changes

// Notice is a message for the person.
type Notice = session.Notice

// AutoApproval is a call that was let through because a receipt ordered it.
type AutoApproval = session.AutoApproval

// Usage is what was used of models. Money is an estimate from a price table.
type Usage = session.Usage

// Allowance is what may be used of models.
type Allowance = session.Allowance

// Budget is one session's usage and allowance.
type Budget = session.Budget

// Budgets is the usage of all open sessions.
type Budgets = session.Budgets

// ServerCheck is what a trial start of the tool servers has shown.
type ServerCheck = session.ServerCheck
