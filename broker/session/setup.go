package session

import (
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
)

// setupScript runs the setup commands $1 and then becomes the agent. The commands run on
// the agent's terminal, as the agent's user and with the agent's rights. If they fail, the
// agent is not started, and their output stays in the tab.
const setupScript = `sh -e -c "$1" sh || { code=$?; echo "the setup of this workspace has failed with code $code"; exit "$code"; }
shift
exec "$@"`

// withSetup returns the agent's command, preceded by the setup commands of its workspace
// if the configuration has some. They run at every start, since every start makes a new
// container; files that they make in the workspace and in the agent's home are kept.
func (s *Session) withSetup(argv []string) []string {
	commands := s.deps.Config.Setup[stored.RealPath(s.origin())]
	if commands == "" {
		return argv
	}
	return append([]string{"sh", "-c", setupScript, "sh", commands}, argv...)
}
