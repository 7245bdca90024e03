package doctor

import (
	"cmp"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/running"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
)

// checkLogout checks that the daemon, or the one that would be started here, outlives the end of
// the person's session at this machine.
func checkLogout(p wiring.Paths) finding {
	who, err := user.Current()
	if err != nil {
		return warn("", "who you are cannot be told: %v", err)
	}
	process := "self"
	if pid := running.Process(p.Home); pid != 0 {
		process = strconv.Itoa(pid)
	}
	return afterLogout("/", filepath.Join("/proc", process, "cgroup"), who.Username)
}

// afterLogout says what a logout of a user does to the process that a file of /proc tells the
// groups of. root is the root of the file system in which systemd's files are looked for.
func afterLogout(root, cgroups, who string) finding {
	if _, err := os.Stat(filepath.Join(root, "run/systemd/system")); err != nil {
		return ok("systemd does not run here, which could end the daemon with your login")
	}
	text, err := os.ReadFile(cgroups)
	if err != nil {
		return ok("whether a logout ends the daemon cannot be told: %v", err)
	}
	_, err = os.Stat(filepath.Join(root, "var/lib/systemd/linger", who))
	lingers := err == nil
	linger := "run 'loginctl enable-linger'"
	switch unit := systemdUnit(string(text)); {
	case strings.HasPrefix(unit, "user@") && !lingers:
		return warn(linger, "your last logout ends the daemon: it is part of your systemd, which ends then; its agents run on until the next daemon takes them back")
	case strings.HasPrefix(unit, "session-") && logindOf(root).kills(who):
		if lingers {
			linger = "end it with 'ironcurtain-mux stop' when its agents are done"
		}
		return warn(linger+" and let systemd run the daemon, as 'ironcurtain-mux serve --help' says",
			"a logout kills the daemon, which was started in a login session (KillUserProcesses of logind is on)")
	}
	return ok("the daemon outlives a logout")
}

// systemdUnit returns the unit of a process right below the slices, such as session-3.scope or
// user@1000.service; empty: none.
func systemdUnit(cgroups string) string {
	for line := range strings.Lines(cgroups) {
		group, found := strings.CutPrefix(line, "0::")
		if !found {
			_, group, found = strings.Cut(line, ":name=systemd:")
		}
		for part := range strings.SplitSeq(strings.TrimSpace(group), "/") {
			if found && part != "" && !strings.HasSuffix(part, ".slice") {
				return part
			}
		}
	}
	return ""
}

// logind is what its configuration says of the processes of those who log out.
type logind struct {
	kill, only, except []string // values; the last of kill counts
}

// kills reports whether a logout kills what a user has started.
func (l logind) kills(who string) bool {
	yes := []string{"1", "yes", "y", "true", "t", "on"}
	if len(l.kill) == 0 || !slices.Contains(yes, strings.ToLower(l.kill[len(l.kill)-1])) || slices.Contains(l.except, who) {
		return false
	}
	return len(l.only) == 0 || slices.Contains(l.only, who)
}

// logindOf reads the configuration of logind: of the file with its name the first, then those
// of its .conf.d in the order of their names, where the first of a name counts.
func logindOf(root string) logind {
	l := logind{except: []string{"root"}}
	var whole string
	added := map[string]string{} // path by name
	for _, dir := range []string{"etc", "run", "usr/local/lib", "usr/lib"} {
		dir = filepath.Join(root, dir, "systemd")
		if _, err := os.Stat(filepath.Join(dir, "logind.conf")); err == nil {
			whole = cmp.Or(whole, filepath.Join(dir, "logind.conf"))
		}
		paths, _ := filepath.Glob(filepath.Join(dir, "logind.conf.d", "*.conf")) // the pattern is right
		for _, path := range paths {
			if name := filepath.Base(path); added[name] == "" {
				added[name] = path
			}
		}
	}
	l.read(whole)
	for _, name := range slices.Sorted(maps.Keys(added)) {
		l.read(added[name])
	}
	return l
}

// read adds what a file says, if it can be read.
func (l *logind) read(path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		return
	}
	section := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = line
		}
		name, value, found := strings.Cut(line, "=")
		into := map[string]*[]string{"KillUserProcesses": &l.kill, "KillOnlyUsers": &l.only, "KillExcludeUsers": &l.except}[strings.TrimSpace(name)]
		if !found || section != "[Login]" || into == nil {
			continue
		}
		words := strings.Fields(value)
		if len(words) == 0 {
			*into = nil
		}
		*into = append(*into, words...)
	}
}
