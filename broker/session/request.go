package session

import (
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
)

// Request says what a new session shall be.
type Request struct {
	Agent     string `json:"agent"`     // empty: the configured default
	Workspace string `json:"workspace"` // empty: a fresh sandbox
	// Worktree says whether it gets a worktree of the workspace instead of the
	// workspace itself.
	Worktree WorktreeChoice `json:"worktree,omitempty"`
	// Resume continues a stored session in its own workspace instead of making
	// a new one; Agent and Workspace are the session's own then.
	Resume stored.ID `json:"resume,omitempty"`
	// Replaces is a session that ends for this one, which the caller sees to with
	// Close. It does not count beside this one, which begins when it has ended.
	Replaces stored.ID `json:"replaces,omitempty"`
	Cols     int       `json:"cols"`
	Rows     int       `json:"rows"`
	// Idle sessions run no agent on a terminal: Turn gives it tasks.
	Idle bool `json:"idle,omitempty"`
}

// WorktreeChoice says whether a session gets a worktree of its workspace.
type WorktreeChoice string

// The choices.
const (
	WorktreeAsConfigured WorktreeChoice = ""    // as config.json says, where the workspace is a repository
	WorktreeYes          WorktreeChoice = "yes" // or the session is refused
	WorktreeNo           WorktreeChoice = "no"
)
