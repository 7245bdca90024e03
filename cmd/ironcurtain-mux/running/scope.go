package running

import (
	"os/exec"
	"os/user"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/logind"
)

// scoped returns a command line that runs argv in a scope of the user's own systemd. It returns nil
// if a logout would not kill the process here, or would kill it in the scope, too. The process id
// stays the same.
func scoped(root, cgroups string, argv []string) []string {
	who, err := user.Current()
	if err != nil {
		return nil
	}
	fate, err := logind.FateOf(root, cgroups, who.Username)
	if err != nil || !fate.Killed || !fate.Lingers {
		return nil
	}
	run, err := exec.LookPath("systemd-run")
	if err != nil {
		return nil
	}
	return append([]string{run, "--user", "--scope", "--collect", "--quiet", "--description=ironcurtain-mux", "--"}, argv...)
}
