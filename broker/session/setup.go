package session

import (
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
)

// setupScript runs the setup commands $1 before it becomes the agent. They run on
// the agent's terminal, as the agent and without more rights than it has; when
// they fail the agent is not started, and what they said stays in the tab.
const setupScript = `sh -e -c "$1" sh || { code=$?; echo "the setup of this workspace has failed with code $code"; exit "$code"; }
shift
exec "$@"`

// withSetup is the agent's command behind the setup commands of its workspace, if
// the configuration has some. A container is new each time, so they run each time;
// what they leave in the workspace and in the agent's home is kept.
func (s *Session) withSetup(argv []string) []string {
	workspace := s.fixed.Workspace
	if s.fixed.Worktree != nil {
		workspace = s.fixed.Worktree.Repository
	}
	commands := s.deps.Config.Setup[stored.RealPath(workspace)]
	if commands == "" {
		return argv
	}
	return append([]string{"sh", "-c", setupScript, "sh", commands}, argv...)
}
