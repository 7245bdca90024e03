package session

import (
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
)

// Request says which session to open.
type Request struct {
	Agent     string `json:"agent"`     // empty: the configured default
	Workspace string `json:"workspace"` // empty: a fresh sandbox
	// Worktree says whether the session gets a worktree of the workspace instead of
	// the workspace itself.
	Worktree WorktreeChoice `json:"worktree,omitempty"`
	// Repo is the URL of a repository that the session gets a clone of instead, and Branch
	// the branch that the clone is at; empty: the one that the remote names as its own.
	Repo   string `json:"repo,omitempty"`
	Branch string `json:"branch,omitempty"`
	// Policy is the directory of a policy that holds for the session beside the
	// multiplexer's and only holds back more; empty: none.
	Policy string `json:"policy,omitempty"`
	// Resume continues a stored session instead of making a new one. Agent,
	// Workspace and Policy are ignored then: the stored session has its own.
	Resume stored.ID `json:"resume,omitempty"`
	// Replaces is a session that this one replaces and that the caller ends with
	// Close. It does not count towards the limit of sessions, and this session starts
	// when it has ended.
	Replaces stored.ID `json:"replaces,omitempty"`
	Cols     int       `json:"cols"`
	Rows     int       `json:"rows"`
	// Idle starts no agent on a terminal: Turn gives the agent tasks.
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
