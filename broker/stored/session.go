package stored

import (
	"cmp"
	"fmt"
	"path/filepath"
	"time"
)

// ID names a session for as long as its directory exists.
type ID = string

// ShortID returns the first characters of an id, as people read and type it.
func ShortID(id ID) string { return id[:min(8, len(id))] }

// State is the state of a session. The broker derives it from what it sees itself, never
// from the agent's screen.
type State string

// The states of a session.
const (
	StateStarting State = "starting" // image, container and proxies are being made
	StateIdle     State = "idle"     // the agent runs and asks for nothing
	StateWorking  State = "working"  // a model request or a tool call is under way
	StateWaiting  State = "waiting"  // a call waits for a person
	StateUnknown  State = "unknown"  // nothing is asked for, and whether the agent runs cannot be seen
	StateDead     State = "dead"     // the agent has ended; the tab keeps its last screen
	StateClosed   State = "closed"   // everything of it is removed, or will be in a moment
)

// Words is the state as a person reads it, everywhere.
func (s State) Words() string {
	switch s {
	case StateWaiting:
		return "waiting for you"
	case StateUnknown:
		return "out of reach"
	case StateDead:
		return "ended"
	default:
		return string(s)
	}
}

// Session describes one tab's session.
type Session struct {
	ID        ID        `json:"id"`
	Tab       int       `json:"tab,omitempty"` // its place in the bar now, from 1; 0: it has none
	Agent     string    `json:"agent"`
	Name      string    `json:"name,omitempty"` // that a person has given its tab
	State     State     `json:"state"`
	Workspace string    `json:"workspace"`          // on the host
	Origin    string    `json:"origin,omitempty"`   // the person's directory of which the workspace is a copy; or empty
	Worktree  *Worktree `json:"worktree,omitempty"` // of which the workspace is one; or nil
	Policy    string    `json:"policy,omitempty"`   // the directory of the tab's own policy, if it has one
	Profile   Profile   `json:"profile,omitzero"`   // used again when the session is resumed
	CreatedAt time.Time `json:"createdAt"`
	Reason    string    `json:"reason,omitempty"`   // why it is dead
	ExitCode  int       `json:"exitCode,omitempty"` // of the agent, when dead
	// Trouble says why the agent can be neither seen nor reached at present.
	Trouble string `json:"trouble,omitempty"`
	Notice  string `json:"notice,omitempty"` // what the tab must always say: "scripted model"
	// Ports are the ports of its container that are open on this machine, for the status line.
	Ports string `json:"ports,omitempty"`
	// Far says, for the status line, on which other machine its container runs, that its files are
	// copied there, and how long it takes there and back; empty: nothing of that is so.
	Far string `json:"far,omitempty"`
	// Ephemeral means that nothing of the agent is kept, so it cannot be resumed.
	Ephemeral bool `json:"ephemeral,omitempty"`
	// NoTerminal means that the agent gets tasks in place of a terminal, so views have no tab
	// for it.
	NoTerminal bool `json:"noTerminal,omitempty"`
	// Life tells apart what was before a session was resumed, and what is after. No two sessions
	// of a process have the same.
	Life int `json:"-"`
}

// Private reports whether the workspace was made for the session, or for another one that had it
// before: nobody has named it.
func (s Session) Private() bool {
	dir := filepath.Dir(s.Workspace)
	return filepath.Base(s.Workspace) == sandboxName && ValidID(filepath.Base(dir))
}

// Place is the directory that a person knows the workspace by: that of which it is a copy, if it
// is one, else the workspace itself.
func (s Session) Place() string { return cmp.Or(s.Origin, s.Workspace) }

// StateWords is the session's state as a person reads it, everywhere.
func (s Session) StateWords() string {
	if s.Trouble != "" && s.State != StateWaiting && s.State != StateDead && s.State != StateClosed {
		return StateUnknown.Words()
	}
	return s.State.Words()
}

// StateWords is the state of a session that may have been left running.
func (e Entry) StateWords() string {
	switch {
	case e.Detached && e.Waiting > 0:
		return fmt.Sprintf("left running, %d waiting", e.Waiting)
	case e.Detached:
		return "left running"
	}
	return e.Session.StateWords()
}

// Entry is a session as read from its directory.
type Entry struct {
	Session
	LastActivity time.Time `json:"lastActivity"`
	// LastPrompt is the person's last prompt. Unless it was a task without a terminal, it
	// comes from files of the agent and is not to be trusted.
	LastPrompt string `json:"lastPrompt,omitempty"`
	// Begun means that the agent has a conversation that it can continue.
	Begun bool `json:"begun"`
	// Owned means that a process has the session open, so it cannot be resumed.
	Owned bool `json:"owned"`
	// Detached means that the multiplexer was killed and the agent may still run.
	Detached bool `json:"detached"`
	// Unlanded says what of its copy was not landed when it ended: "12 changed files".
	Unlanded string `json:"unlanded,omitempty"`
	// Waiting counts the calls of a detached session that waited for a person.
	Waiting int `json:"waiting,omitempty"`
}

// LabelSession names the session a container belongs to.
const LabelSession = "ironcurtain.session"
