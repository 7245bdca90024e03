// Package logind tells what becomes of a process when its user logs out of a machine with systemd.
package logind

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Fate is what a logout does to a process.
type Fate struct {
	Systemd bool // systemd runs on the machine; otherwise nothing is done
	Lingers bool // the user's own systemd outlives the last logout
	OfUser  bool // the process is part of the user's own systemd, and ends with it
	Killed  bool // it is part of a login session, with which it is killed
}

// FateOf returns what a logout of a user does to the process that a file of /proc tells the groups
// of. root is the root of the file system in which systemd's files are looked for.
func FateOf(root, cgroups, who string) (Fate, error) {
	if _, err := os.Stat(filepath.Join(root, "run/systemd/system")); err != nil {
		return Fate{}, nil //nolint:nilerr // there is no systemd
	}
	f := Fate{Systemd: true}
	text, err := os.ReadFile(cgroups)
	if err != nil {
		return f, err
	}
	_, err = os.Stat(filepath.Join(root, "var/lib/systemd/linger", who))
	f.Lingers = err == nil
	unit := unitOf(string(text))
	f.OfUser = strings.HasPrefix(unit, "user@")
	f.Killed = strings.HasPrefix(unit, "session-") && read(root).kills(who)
	return f, nil
}

// unitOf returns the unit of a process right below the slices, such as session-3.scope or
// user@1000.service; empty: none.
func unitOf(cgroups string) string {
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

// settings are what logind's configuration says of the processes of those who log out.
type settings struct {
	kill, only, except []string // values; the last of kill counts
}

// kills reports whether a logout kills what a user has started.
func (l settings) kills(who string) bool {
	yes := []string{"1", "yes", "y", "true", "t", "on"}
	if len(l.kill) == 0 || !slices.Contains(yes, strings.ToLower(l.kill[len(l.kill)-1])) || slices.Contains(l.except, who) {
		return false
	}
	return len(l.only) == 0 || slices.Contains(l.only, who)
}

// read reads the configuration of logind: of the file with its name the first, then those
// of its .conf.d in the order of their names, where the first of a name counts.
func read(root string) settings {
	l := settings{except: []string{"root"}}
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
	l.add(whole)
	for _, name := range slices.Sorted(maps.Keys(added)) {
		l.add(added[name])
	}
	return l
}

// add adds what a file says, if it can be read.
func (l *settings) add(path string) {
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
