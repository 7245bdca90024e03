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

// State is the state of a session. The broker never derives it from the agent's screen.
type State string

// The states of a session.
const (
	StateStarting State = "starting" // image, container and proxies are being made
	StateIdle     State = "idle"     // the agent runs, and no request or call is under way
	StateWorking  State = "working"  // a model request or a tool call is under way
	StateWaiting  State = "waiting"  // a call waits for a person
	StateUnknown  State = "unknown"  // no request or call is under way, and nobody can see whether the agent runs
	StateDead     State = "dead"     // the agent has ended; the tab keeps its last screen
	StateClosed   State = "closed"   // the session was taken down, or is being taken down
)

// Words returns the state as people see it.
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
	Tab       int       `json:"tab,omitempty"` // the present place in the bar, from 1; 0 if it has none
	Agent     string    `json:"agent"`
	Name      string    `json:"name,omitempty"` // that a person has given its tab
	State     State     `json:"state"`
	Workspace string    `json:"workspace"`          // on the host
	Origin    string    `json:"origin,omitempty"`   // the person's directory of which the workspace is a copy, or ""
	Worktree  *Worktree `json:"worktree,omitempty"` // describes the workspace if that is a worktree, or nil
	Policy    string    `json:"policy,omitempty"`   // the directory of the tab's own policy, if it has one
	Profile   Profile   `json:"profile,omitzero"`   // used again when the session is resumed
	CreatedAt time.Time `json:"createdAt"`
	Reason    string    `json:"reason,omitempty"`   // why it is dead
	ExitCode  int       `json:"exitCode,omitempty"` // of the agent, when dead
	// Trouble says why the agent cannot be reached at present.
	Trouble string `json:"trouble,omitempty"`
	Notice  string `json:"notice,omitempty"` // what the tab must always say: "scripted model"
	// Ports are the ports of its container that are open on this machine, for the status line.
	Ports string `json:"ports,omitempty"`
	// Far is about a container on another machine, for the status line: which machine, whether files
	// are copied there, and the round trip time. It is "" if nothing of that applies.
	Far string `json:"far,omitempty"`
	// Ephemeral means that nothing of the agent is kept, so that the session cannot be resumed.
	Ephemeral bool `json:"ephemeral,omitempty"`
	// NoTerminal means that the agent gets tasks in place of a terminal, so that views have no tab
	// for it.
	NoTerminal bool `json:"noTerminal,omitempty"`
	// Life numbers the lives of sessions in this process: a resumed session has another one than
	// before.
	Life int `json:"-"`
}

// Private reports whether the workspace was made for this session, or for a former one: no person
// has named it.
func (s Session) Private() bool {
	dir := filepath.Dir(s.Workspace)
	return filepath.Base(s.Workspace) == sandboxName && ValidID(filepath.Base(dir))
}

// Place returns the directory by which a person knows the workspace: the one that it is a copy of,
// or else the workspace itself.
func (s Session) Place() string { return cmp.Or(s.Origin, s.Workspace) }

// StateWords returns the session's state as people see it.
func (s Session) StateWords() string {
	if s.Trouble != "" && s.State != StateWaiting && s.State != StateDead && s.State != StateClosed {
		return StateUnknown.Words()
	}
	return s.State.Words()
}

// StateWords returns the state of a session that may have been left running.
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
	// LastPrompt is the person's last prompt. Unless it was a task, it comes from files of the agent
	// and must not be trusted.
	LastPrompt string `json:"lastPrompt,omitempty"`
	// Begun means that the agent has a conversation that it can continue.
	Begun bool `json:"begun"`
	// Owned means that a process has the session open, so that it cannot be resumed.
	Owned bool `json:"owned"`
	// Detached means that the multiplexer was killed and the agent may still run.
	Detached bool `json:"detached"`
	// Unlanded says what in its copy was not landed when it ended: "12 changed files".
	Unlanded string `json:"unlanded,omitempty"`
	// Waiting counts the calls of a detached session that waited for a person.
	Waiting int `json:"waiting,omitempty"`
}

// LabelSession is the label with the session that a container or a volume belongs to.
const LabelSession = "ironcurtain.session"
