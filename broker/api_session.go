package broker

import (
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/copies"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/mcpproxy"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/packages"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/session"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
)

// SessionID names a session for as long as its directory exists.
type SessionID = stored.ID

// ShortID returns the first characters of an id, as people read and type it.
func ShortID(id SessionID) string { return stored.ShortID(id) }

// Session describes one tab's session.
type Session = stored.Session

// StoredSession is a session as its directory describes it.
type StoredSession = stored.Entry

// Worktree names the repository, branch and commit of a session's worktree.
type Worktree = stored.Worktree

// SessionState says what a session is doing. The broker derives it from what it sees
// itself, never from the agent's screen.
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

// Obeyed lists what programs of this machine would run or obey by themselves in a
// workspace, and would not have when its session began.
type Obeyed = stored.Obeyed

// Danger is one entry of Obeyed.
type Danger = stored.Danger

// LabelSession names the session a container belongs to.
const LabelSession = stored.LabelSession

// OpenRequest says which session to open.
type OpenRequest = session.Request

// Profile is what a session has in place of the configuration.
type Profile = stored.Profile

// Opener is what a session has from the terminal in which it was opened.
type Opener = session.Opener

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

// StartLog is the log of a session's start.
type StartLog = session.StartLog

// StartLine is one line of a StartLog.
type StartLine = session.StartLine

// Terminal is an attachment to an agent's terminal.
type Terminal = session.Terminal

// Task is a text for an agent that has no terminal.
type Task = session.Task

// Turn is a task that an agent carried out without a terminal.
type Turn = session.Turn

// FileChange is a file of the workspace that changed during a turn.
type FileChange = session.FileChange

// TurnEnd says how a turn ended.
type TurnEnd = session.TurnEnd

// The ends of a turn.
const (
	TurnAnswered   = session.TurnAnswered
	TurnFailed     = session.TurnFailed
	TurnTimedOut   = session.TurnTimedOut
	TurnOverBudget = session.TurnOverBudget
)

// Changes is what changed in a session's workspace since its agent was first started.
type Changes = session.Changes

// Landing is what an agent has changed in its copy of the person's directory.
type Landing = session.Landing

// Landed says what was landed.
type Landed = copies.Landed

// LandingLine is one line of a Landing.
type LandingLine = copies.Line

// Which says which changes of a copy are landed.
type Which = session.Which

// Notice is a message for the person.
type Notice = session.Notice

// AutoApproval is a call that was let through because a receipt ordered it.
type AutoApproval = session.AutoApproval

// Usage says how much of models was used. The cost is an estimate from a price table.
type Usage = session.Usage

// Allowance says how much of models may be used.
type Allowance = session.Allowance

// Budget is one session's usage and allowance.
type Budget = session.Budget

// Moving is what comes in of one session's packages.
type Moving = session.Moving

// PackageCounts are the counts of Moving.
type PackageCounts = packages.Counts

// Registries is what came of a session's way to package registries.
type Registries = packages.Overview

// ServerStatus is the state of a tool server of a session.
type ServerStatus = mcpproxy.ServerStatus

// The states of a tool server.
const (
	ServerRunning  = mcpproxy.ServerRunning
	ServerStarting = mcpproxy.ServerStarting
	ServerStopped  = mcpproxy.ServerStopped
	ServerBroken   = mcpproxy.ServerBroken
	ServerOff      = mcpproxy.ServerOff
)

// Port is a port of a session's container that programs of this machine can connect to.
type Port = session.Port

// SaveRequest asks for a copy of a file that an agent can write to.
type SaveRequest = session.SaveRequest

// Budgets is the usage of all open sessions.
type Budgets = session.Budgets

// ServerCheck is the result of a trial start of the tool servers.
type ServerCheck = session.ServerCheck
