package broker

import (
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
