package doctor

import (
	"os/user"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/running"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/logind"
)

// checkLogout checks that the daemon, or the one that would be started here, outlives the end of
// the person's session at this machine.
func checkLogout(p wiring.Paths) finding {
	who, err := user.Current()
	if err != nil {
		return warn("", "cannot find out who you are: %v", err)
	}
	pid := running.Process(p.Home)
	return afterLogout("/", logind.GroupsFile(pid), who.Username, pid != 0)
}

// afterLogout says what a logout of a user does to the daemon or, if none runs, to one that would be
// started here. root and cgroups are as for logind.FateOf.
func afterLogout(root, cgroups, who string, runs bool) finding {
	f, err := logind.FateOf(root, cgroups, who)
	switch {
	case err != nil:
		return ok("cannot find out whether a logout ends the daemon: %v", err)
	case !f.Systemd:
		return ok("the daemon outlives a logout: systemd, which could end it, does not run here")
	case f.OfUser && !f.Lingers:
		return warn("run 'loginctl enable-linger'", "your last logout ends the daemon, together with your systemd, which it is part of; its agents keep running until the next daemon takes them back")
	case f.Killed && f.Lingers && !runs:
		return ok("the daemon will be started in a scope of your systemd, which outlives a logout")
	case f.Killed:
		remedy := "run 'loginctl enable-linger'"
		if runs {
			remedy += ", and end it with 'ironcurtain-mux stop' when its agents are done"
		}
		return warn(remedy+": the next daemon is then started in a scope of your systemd",
			"a logout kills the daemon, which was started in a login session (KillUserProcesses of logind is on)")
	}
	return ok("the daemon outlives a logout")
}
